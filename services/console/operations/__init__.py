"""The area for operators."""

from services.console.operations import figures, letters, standing
from services.console.page import Area, PageEntry

AREA = Area(
    "operations",
    "/operations",
    "operate",
    pages=(
        PageEntry("/operations", standing.show_standing),
        PageEntry("/operations/flow", standing.show_flow),
        PageEntry("/operations/speed", figures.show_speed),
        PageEntry("/operations/letters", letters.show_letters),
        PageEntry("/operations/letters/{letter_id}", letters.show_letter),
        PageEntry("/operations/letters/{letter_id}", letters.act_on_letter, "POST"),
        PageEntry("/operations/quarantine/{quarantine_id}", letters.show_given_up),
        PageEntry("/operations/quarantine/{quarantine_id}", letters.act_on_given_up, "POST"),
        PageEntry("/operations/erasures", figures.show_erasures),
        PageEntry("/operations/erasures/{tombstone_id}", figures.requeue_erasure, "POST"),
        PageEntry("/operations/models", figures.show_models),
        PageEntry("/operations/users", figures.show_users),
        PageEntry("/operations/turn", figures.show_turn),
    ),
    tabs=(
        ("operations.now", "/operations"),
        ("operations.letters", "/operations/letters"),
        ("operations.speed", "/operations/speed"),
        ("operations.erasures", "/operations/erasures"),
        ("operations.turn", "/operations/turn"),
        ("operations.models", "/operations/models"),
        ("operations.users", "/operations/users"),
    ),
    of_one_user=False,
)
