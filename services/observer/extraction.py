"""What reading one turn came to: frozen values without behaviour."""

from dataclasses import dataclass

from shared.reading import Observed
from shared.spent import NOTHING_SPENT, Spent


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that did not fit even when asked again: its words, secrets blanked, and what was wrong with them."""

    prompt: str
    prompt_version: str
    model: str
    problem: str
    raw: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a turn says, notes on how it was found out, what that cost, and the answer that nobody could read."""

    observed: Observed
    notes: tuple[str, ...] = ()
    spent: Spent = NOTHING_SPENT
    prompt_version: str | None = None
    unreadable: Unreadable | None = None
