"""How likely it is that a statement puts an end to a memory: fitted by `tests/training/superseding.py`. Pure."""

from collections.abc import Sequence

from shared.classifiers.trees import load_trees
from shared.domain.statements import ActiveMemory, Statement
from shared.resolution import related
from shared.resolution.pair_signs import count_signs, fills_anew, find_slots_filled, meet_by_chance
from shared.resolution.parallel import is_parallel
from shared.resolution.plain_endings import find_plain_endings
from shared.resolution.related import SentenceRelation, about
from shared.resolution.roles import refills_another_role

OTHER_IN_SLOT = 0.97
"""How likely a memory ends that a sentence plainly ends, as under the memory's key it says another value: who moved to
Oslo lives in Leeds no longer."""
BY_CHANCE = 0.3
"""How likely a memory ends at most by a statement with which it shares no more than a place, a day or a number."""
MAY_HAVE_TAKEN = 0.4
"""How likely it must be that one memory has taken the place of another, for a return to the other to end it."""


def estimate_superseding(
    near: Sequence[ActiveMemory], new: Statement, quote: str, relations: Sequence[SentenceRelation]
) -> list[float]:
    """How likely the statement, read in the sentence `quote`, is to end each of the memories that it was read beside.

    One sentence of two things, such as two reminders, ends nothing unless it is put as a correction.
    """
    told = load_trees("superseding").estimate(count_signs(near, new, quote, relations))
    shares = [min(share, _find_most(old, new, quote)) for old, share in zip(near, told, strict=True)]
    slots, plain = find_slots_filled(quote), find_plain_endings(near, quote, shares, took_place)
    return [
        max(share, OTHER_IN_SLOT) if plainly or fills_anew(old, slots) else share
        for old, share, plainly in zip(near, shares, plain, strict=True)
    ]


def _find_most(old: ActiveMemory, new: Statement, quote: str) -> float:
    """How likely the memory may end by its signs: not at all by what speaks of something else, hardly by chance."""
    if _are_apart(old, new, quote):
        return 0.0
    return BY_CHANCE if meet_by_chance(old, new, quote) else 1.0


def _are_apart(old: ActiveMemory, new: Statement, quote: str) -> bool:
    """Whether both are one sentence of two things, or speak of two roles and have no word in common."""
    if new.assertion != "correction" and is_parallel(old.text, new.text):
        return True
    return refills_another_role(quote, old.text) and about(quote).terms.isdisjoint(about(old.text).terms)


def took_place(new: ActiveMemory, old: ActiveMemory) -> bool:
    """Whether one memory, said after the other, is not unlikely to have taken its place."""
    statement = Statement(
        type=new.type,
        key=new.key,
        sense=new.sense,
        assertion=new.assertion,
        flags=new.flags,
        confidence=new.confidence,
        retracts=False,
        said_at=new.valid_at,
        session_id="",
        text=new.text,
    )
    signs = count_signs([old], statement, new.text, related.relations([old.told], new.text))
    return load_trees("superseding").estimate(signs)[0] >= MAY_HAVE_TAKEN
