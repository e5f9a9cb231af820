"""How likely it is that a statement puts an end to a memory: fitted by `tests/training/superseding.py`. Pure."""

from collections.abc import Sequence

from shared.classifiers.judges import load_trees, to_share
from shared.classifiers.pair_reader import load_pair_reader
from shared.domain.statements import ActiveMemory, Statement
from shared.resolution import related
from shared.resolution.pair_signs import SIGNS, count_signs, fills_anew, find_slots_filled
from shared.resolution.plain_endings import find_plain_endings
from shared.resolution.related import SentenceRelation, about

PARALLEL, ANOTHER_ROLE, CHANCE = map(SIGNS.index, ("parallel", "another_role", "by_chance"))
CORRECTS, OF_OLD, ONE_SORT, ONE_TYPE = map(SIGNS.index, ("corrects", "of_old", "one_sort", "one_type"))
WORTH_OF_READING = 0.6
"""What the two texts read together count beside the signs, which know what they say, too."""
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
    signs = count_signs(near, new, quote, relations)
    told = estimate([old.text for old in near], quote, signs)
    shares = [min(share, _find_most(old, new, quote, of)) for old, share, of in zip(near, told, signs, strict=True)]
    slots, plain = find_slots_filled(quote), find_plain_endings(near, quote, shares, took_place)
    return [
        max(share, OTHER_IN_SLOT) if plainly or fills_anew(old, slots) else share
        for old, share, plainly in zip(near, shares, plain, strict=True)
    ]


def estimate(earlier: Sequence[str], quote: str, signs: Sequence[Sequence[float]]) -> list[float]:
    """How likely the sentence is to end each of the earlier texts: by what both say, and by their signs."""
    if not earlier:
        return []
    read, added = load_pair_reader("pairs").score(earlier, quote), load_trees("superseding").score(signs).tolist()
    return [to_share(WORTH_OF_READING * odds + more) for odds, more in zip(read, added, strict=True)]


def _find_most(old: ActiveMemory, new: Statement, quote: str, signs: Sequence[float]) -> float:
    """How likely the memory may end by its signs: not at all by what speaks of something else, hardly by chance.

    It speaks of something else where both are one sentence of two things, or of two roles and share no word; and
    hardly of this where it corrects something, has no word of it and names nothing of the sort in a memory of its type.
    """
    if new.assertion != "correction" and signs[PARALLEL]:
        return 0.0
    if signs[ANOTHER_ROLE] and about(quote).terms.isdisjoint(about(old.text).terms):
        return 0.0
    corrects_another = signs[CORRECTS] and not signs[OF_OLD] and not (signs[ONE_SORT] and signs[ONE_TYPE])
    return BY_CHANCE if signs[CHANCE] or corrects_another else 1.0


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
    return estimate([old.text], new.text, signs)[0] >= MAY_HAVE_TAKEN
