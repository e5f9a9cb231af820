"""Each slot filled to its size; what one cannot use goes to those that want more (seed 004 section 4.2.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.context_package import RecentMessage
from services.compose.rules.packing import slots
from services.compose.rules.packing.budget import COMPRESSIBLE, Slot
from services.compose.rules.packing.draft import PackageDraft
from services.compose.rules.packing.slots import PreparedEvidence, PreparedMemory
from shared.language import tokens

NAME_JOINT = "; "
LEAST_TEXT = 24
"""Tokens of a piece of evidence below which it is left out rather than shortened further."""
BEST = 4
"""So many pieces of evidence are cut half as short as the rest."""
PINNED_SHARE = 0.4
"""What pinned memory may take of the personal slot before evidence."""
WORTH_MORE = 16
"""Tokens left over that are worth filling a slot again."""


@dataclass(frozen=True, slots=True)
class SlotCandidates:
    """All that there is to say; turns are newest first, each with its cost."""

    evidence: list[PreparedEvidence]
    core: list[PreparedMemory]
    turns: list[tuple[int, list[RecentMessage]]]
    summary: str
    entities: str
    personal_most: int
    snippet_chars: int

    def wants(self) -> dict[Slot, int]:
        """What each slot would take if there were room; personal memory no more than the intent allows (X23)."""
        personal = sum(each.cost for each in self.evidence if not each.is_resource)
        return {
            "knowledge": sum(each.cost for each in self.evidence if each.is_resource),
            "summary": slots.cost(self.summary),
            "entities": slots.cost(self.entities),
            "window": sum(price for price, _ in self.turns),
            "personal": min(personal + sum(each.cost for each in self.core), self.personal_most),
        }


def fit_draft(
    material: SlotCandidates, draft: PackageDraft, wants: Mapping[Slot, int], sizes: Mapping[Slot, int], room: int
) -> tuple[dict[Slot, int], dict[Slot, int]]:
    """The draft filled; what each slot was granted in the end and what it uses, together at most `room`."""
    granted = dict(sizes)
    used: dict[Slot, int] = {slot: _fill(slot, granted[slot], material, draft) for slot in COMPRESSIBLE}
    for slot in reversed(COMPRESSIBLE):
        left = room - sum(used.values())
        if left >= WORTH_MORE and wants[slot] > used[slot]:
            granted[slot] = min(wants[slot], used[slot] + left)
            used[slot] = _fill(slot, granted[slot], material, draft)
    return granted, used


def _fill(slot: Slot, size: int, material: SlotCandidates, draft: PackageDraft) -> int:
    """The tokens that the slot uses of `size`."""
    match slot:
        case "summary":
            draft.summary = _cut(material.summary, size)
            return slots.cost(draft.summary)
        case "entities":
            draft.entities = _names(material.entities, size)
            return slots.cost(draft.entities)
        case "window":
            draft.turns = _window(material.turns, size)
            return sum(map(slots.turn_cost, draft.turns))
        case "knowledge":
            found = [each for each in material.evidence if each.is_resource]
            draft.knowledge = evidence(found, size, material.snippet_chars)
            return sum(each.cost for each in draft.knowledge)
        case _:
            return _personal(size, material, draft)


def _personal(size: int, material: SlotCandidates, draft: PackageDraft) -> int:
    """Evidence at the longest snippets that fit beside the pinned memories' share; then these; then evidence again."""
    reserved = min(sum(each.cost for each in material.core), int(size * PINNED_SHARE))
    personal = [each for each in material.evidence if not each.is_resource]
    draft.memories = evidence(personal, size - reserved, material.snippet_chars)
    left = size - sum(each.cost for each in draft.memories)
    draft.core = []
    for each in material.core:
        if each.cost <= left:
            left -= each.cost
            draft.core.append(each)
    if left >= WORTH_MORE:
        draft.memories = evidence(personal, size - sum(each.cost for each in draft.core), material.snippet_chars)
    return sum(each.cost for each in (*draft.core, *draft.memories))


def evidence(prepared: Sequence[PreparedEvidence], size: int, snippet_chars: int) -> list[PreparedEvidence]:
    """As many pieces as fit at their shortest, best first, and each as long as there is room for."""
    if sum(each.cost for each in prepared) <= size:
        return list(prepared)
    wanted: list[tuple[PreparedEvidence, int]] = []
    left = size
    for each in prepared:
        shortest = min(each.cost, slots.frame(each) + LEAST_TEXT)
        if shortest <= left:
            left -= shortest
            wanted.append((each, shortest))
    fitted: list[PreparedEvidence] = []
    spare = 0
    for (each, _), most in zip(wanted, _levels(wanted, size), strict=True):
        short = each if each.cost <= most + spare else slots.shorter(each, most + spare, snippet_chars)
        spare += most - (short.cost if short else 0)
        fitted += [short] if short else []
    return fitted


def _levels(wanted: Sequence[tuple[PreparedEvidence, int]], size: int) -> list[int]:
    """The most tokens of each piece: one level for all, twice that for the best, none under its shortest."""
    low, high = 0, max((each.cost for each, _ in wanted), default=0)
    while low < high:
        level = (low + high + 1) // 2
        low, high = (level, high) if sum(_at(wanted, level)) <= size else (low, level - 1)
    return _at(wanted, low)


def _at(kept: Sequence[tuple[PreparedEvidence, int]], level: int) -> list[int]:
    return [
        min(each.cost, max(shortest, 2 * level if place < BEST else level))
        for place, (each, shortest) in enumerate(kept)
    ]


def _window(turns: Sequence[tuple[int, list[RecentMessage]]], size: int) -> list[list[RecentMessage]]:
    """Turns from the newest back; the first that does not fit is shortened, and nothing older follows it."""
    shown: list[list[RecentMessage]] = []
    for price, messages in turns:
        if price > size:
            cut = slots.shorten_messages(messages, size)
            return [*shown, cut] if cut else shown
        size -= price
        shown.append(messages)
    return shown


def _names(names: str, size: int) -> str:
    """As many of the names, from the first, as fit; nothing where not one does."""
    while names and slots.cost(names) > size:
        names = names.rpartition(NAME_JOINT)[0]
    return names


def _cut(text: str, size: int) -> str:
    """The beginning of the summary that fits, to the end of a line where one is near."""
    if slots.cost(text) <= size:
        return text
    short = tokens.head(text, size - slots.SEPARATOR - 1)
    end = short.rfind("\n", len(short) * 9 // 10)
    return short[:end] if end > 0 else short
