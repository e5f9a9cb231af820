"""Which core memories a package carries although nobody asked: how to address and answer, what is dangerous, orders.

Everything else that is known of the user competes as evidence, unless the message asks what is known.
"""

from collections.abc import Callable, Iterable
from typing import Literal

from schemas.memory_types import MEMORY_TYPES
from schemas.vocabulary import Intent
from services.compose.rules.candidates import CoreMemory
from shared.extraction.keys import scope_of
from shared.extraction.relatives import names_limit_of_health
from shared.language.segment import query_terms, stem

Need = Literal["address", "answers", "safety", "care", "order"]
KEYS: dict[str, Need] = {"profile:user:name": "address", "profile:user:call_me": "address"}
PREFIXES: dict[str, Need] = {
    "constraint:reply:call-": "address",
    "pref:writing:": "answers",
    "constraint:allergy:": "safety",
    "constraint:diet:": "safety",
}
ORDER: tuple[Need, ...] = ("address", "answers", "safety", "care", "order")
"""In which a package holds them."""
ADVICE: frozenset[Intent] = frozenset({"recommend", "task"})
"""What is asked for has to be good for the user: their state of health counts, whether or not it forbids anything."""
CONCERNS = 0.5
"""How near an order is to the message that it concerns, on the scale where paraphrases are at 1, other things at 0."""
_OF_MEMORY = frozenset(
    stem(word)
    for words in (
        "remember memory know learn tell say keep mind far everything preference profile like fact information note",
        "了解 记得 记住 记忆 知道 偏好 喜好 资料 信息 情况 我些 有些 所有 全部 介绍 核对",
    )
    for word in words.split()
)
"""Words of a question about all that is known, and none of what it might be about."""


def need_of(memory: CoreMemory) -> Need | None:
    """Why the memory may stand in a package unasked, by its key and type; None where it has to be asked for.

    What the user's health forbids is a matter of safety, their health itself of care. A constraint that is none of
    these, and a wish to which the rules gave no key, are standing orders; those about how to answer hold for every
    answer.
    """
    key = memory.category
    if key in KEYS:
        return KEYS[key]
    for start, need in PREFIXES.items():
        if key.startswith(start):
            return need
    if memory.type in ("constraint", "profile") and names_limit_of_health(memory.text):
        return "safety" if memory.type == "constraint" else "care"
    if memory.type == "constraint" or (memory.type == "preference" and key == memory.type):
        return "answers" if scope_of(memory.text) == "writing" else "order"
    return None


def asks_for_all(message: str, intent: Intent) -> bool:
    """Whether the message asks what is known of the user, and of nothing in particular."""
    return intent == "preference_check" and _OF_MEMORY.issuperset(query_terms(message))


def select_needed(core: Iterable[CoreMemory], intent: Intent, nearness: Callable[[str], float]) -> list[CoreMemory]:
    """The memories that a package carries unasked, in the order of `ORDER`; `nearness` is of a text to the message."""

    def counts(need: Need, memory: CoreMemory) -> bool:
        match need:
            case "care":
                return intent in ADVICE
            case "order":
                return nearness(memory.text) >= CONCERNS
            case _:
                return True

    kept = [(need, memory) for memory in core if (need := need_of(memory)) and counts(need, memory)]
    return [memory for _, memory in sorted(kept, key=lambda each: (ORDER.index(each[0]), place_of(each[1])))]


def place_of(memory: CoreMemory) -> tuple[int, float, float, str]:
    """The most identifying and most certain first."""
    place = MEMORY_TYPES[memory.type].core_order
    return (9 if place is None else place, -memory.confidence, -memory.updated_at.timestamp(), memory.memory_id)
