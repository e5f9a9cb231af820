"""Fills each slot to its size. Unused tokens go to slots that want more.

If the JSON of a package has no room for its fields, pieces are dropped before texts are shortened.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from schemas.base import Contract
from schemas.context_package import ContextPackage, RecentMessage
from services.compose.rules.packing import slots
from services.compose.rules.packing.draft import COMPRESSIBLE, Order, PackageDraft, Slot
from services.compose.rules.packing.slots import SEPARATOR, PreparedEvidence, PreparedMemory
from services.compose.rules.packing.texts import MESSAGE_OVERHEAD
from shared.language import tokens

NAME_JOINT = "; "
LEAST_TEXT = 24
"""The least tokens of a piece of evidence; shorter ones are dropped."""
BEST_PIECES = 4
"""How many of the best pieces are cut half as short as the others."""
PINNED_SHARE = 0.4
"""The share of the personal slot that pinned memory may take before evidence."""
WORTH_MORE = 16
"""The least number of unused tokens for which slots are filled again."""


@dataclass(frozen=True, slots=True)
class SlotCandidates:
    """The candidates of all slots; turns are newest first, each with its cost."""

    evidence: list[PreparedEvidence]
    core: list[PreparedMemory]
    turns: list[tuple[int, list[RecentMessage]]]
    summary: str
    entities: str
    personal_most: int
    snippet_chars: int

    def wants(self) -> dict[Slot, int]:
        """What each slot would take without a limit; personal memory at most what the intent allows."""
        personal = sum(each.cost for each in self.evidence if not each.is_resource)
        return {
            "knowledge": sum(each.cost for each in self.evidence if each.is_resource),
            "summary": slots.count_cost(self.summary),
            "entities": slots.count_cost(self.entities),
            "window": sum(price for price, _ in self.turns),
            "personal": min(personal + sum(each.cost for each in self.core), self.personal_most),
        }


_ORDERS: dict[Order, tuple[Slot, ...]] = {
    "fixed_priority": COMPRESSIBLE,
    "evidence_first": ("entities", "window", "summary", "knowledge", "personal"),
}


def truncate(
    slots: Mapping[Slot, int],
    available: int,
    minimums: Mapping[Slot, int] | None = None,
    order: Order = "fixed_priority",
    *,
    least: Mapping[Slot, int] | None = None,
) -> dict[Slot, int]:
    """The slots in their order, cut to `available`: to their minimums, then their least, then to nothing."""
    sizes = dict(slots)
    for floors in (minimums or {}, least or {}, {}):
        for slot in _ORDERS[order]:
            over = sum(sizes.values()) - available
            if over <= 0:
                return sizes
            if slot in sizes:
                sizes[slot] -= min(over, max(0, sizes[slot] - floors.get(slot, 0)))
    return sizes


def fit_draft(
    material: SlotCandidates, draft: PackageDraft, wants: Mapping[Slot, int], sizes: Mapping[Slot, int], room: int
) -> tuple[dict[Slot, int], dict[Slot, int]]:
    """Fills the draft; returns the grant and the use of each slot, together at most `room`."""
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
            draft.summary = _cut_summary(material.summary, size)
            return slots.count_cost(draft.summary)
        case "entities":
            draft.entities = _fit_names(material.entities, size)
            return slots.count_cost(draft.entities)
        case "window":
            draft.turns = _fit_window(material.turns, size)
            return sum(map(slots.count_turn_cost, draft.turns))
        case "knowledge":
            found = [each for each in material.evidence if each.is_resource]
            draft.knowledge = fit_evidence(found, size, material.snippet_chars)
            return sum(each.cost for each in draft.knowledge)
        case _:
            return _fit_personal(size, material, draft)


def _fit_personal(size: int, material: SlotCandidates, draft: PackageDraft) -> int:
    """Fills evidence with the longest snippets that fit besides pinned memory's share, then pinned memory, then
    evidence again."""
    reserved = min(sum(each.cost for each in material.core), int(size * PINNED_SHARE))
    personal = [each for each in material.evidence if not each.is_resource]
    draft.memories = fit_evidence(personal, size - reserved, material.snippet_chars)
    left = size - sum(each.cost for each in draft.memories)
    draft.core = []
    for each in material.core:
        if each.cost <= left:
            left -= each.cost
            draft.core.append(each)
    if left >= WORTH_MORE:
        draft.memories = fit_evidence(personal, size - sum(each.cost for each in draft.core), material.snippet_chars)
    return sum(each.cost for each in (*draft.core, *draft.memories))


def fit_evidence(prepared: Sequence[PreparedEvidence], size: int, snippet_chars: int) -> list[PreparedEvidence]:
    """As many pieces as fit at their shortest, best first, each as long as there is room."""
    if sum(each.cost for each in prepared) <= size:
        return list(prepared)
    wanted: list[tuple[PreparedEvidence, int]] = []
    left = size
    for each in prepared:
        shortest = min(each.cost, slots.count_frame(each) + LEAST_TEXT)
        if shortest <= left:
            left -= shortest
            wanted.append((each, shortest))
    fitted: list[PreparedEvidence] = []
    spare = 0
    for (each, _), most in zip(wanted, _choose_levels(wanted, size), strict=True):
        short = each if each.cost <= most + spare else slots.shorten_evidence(each, most + spare, snippet_chars)
        spare += most - (short.cost if short else 0)
        fitted += [short] if short else []
    return fitted


def _choose_levels(wanted: Sequence[tuple[PreparedEvidence, int]], size: int) -> list[int]:
    """The most tokens of each piece: one level for all, twice that for the best, none below its shortest."""
    low, high = 0, max((each.cost for each, _ in wanted), default=0)
    while low < high:
        level = (low + high + 1) // 2
        low, high = (level, high) if sum(_at(wanted, level)) <= size else (low, level - 1)
    return _at(wanted, low)


def _at(kept: Sequence[tuple[PreparedEvidence, int]], level: int) -> list[int]:
    return [
        min(each.cost, max(shortest, 2 * level if place < BEST_PIECES else level))
        for place, (each, shortest) in enumerate(kept)
    ]


def _fit_window(turns: Sequence[tuple[int, list[RecentMessage]]], size: int) -> list[list[RecentMessage]]:
    """Turns from the newest back; the first that does not fit is shortened, and older ones are left out."""
    shown: list[list[RecentMessage]] = []
    for price, messages in turns:
        if price > size:
            cut = slots.shorten_messages(messages, size)
            return [*shown, cut] if cut else shown
        size -= price
        shown.append(messages)
    return shown


def _fit_names(names: str, size: int) -> str:
    """As many names as fit, from the first."""
    while names and slots.count_cost(names) > size:
        names = names.rpartition(NAME_JOINT)[0]
    return names


def _cut_summary(text: str, size: int) -> str:
    """The beginning of the summary that fits, cut at a line end if one is near."""
    if slots.count_cost(text) <= size:
        return text
    short = tokens.head(text, size - slots.SEPARATOR - 1)
    end = short.rfind("\n", len(short) * 9 // 10)
    return short[:end] if end > 0 else short


Counts = tuple[int, int, int]
"""How many pinned memories, pieces of evidence and turns are kept, the first of each."""
LIGHTEN: tuple[Counts, ...] = ((6, 6, 8), (3, 3, 6), (1, 1, 4), (0, 0, 2), (0, 0, 0))
"""How many of each are kept while others can be dropped."""
RESTORE_ORDER = (1, 0, 2)
"""The order in which dropped pieces are restored if there is room: evidence, pinned memory, turns."""
ENOUGH_ROOM = 0.91
"""The share of the room for messages to keep when pieces are dropped."""
FIELD_TOKENS = 8
"""The most tokens of a field's name, its quotes and separators."""
SHOWN_WHOLE = 1200
"""Up to how many characters a message is probably shown whole."""
NAMES_FRAME = 48
"""Tokens of the fields around the line of names."""
PIECE_TOKENS = 64
"""A slot with fewer tokens than this keeps no piece for its minimum."""
MESSAGE_TOKENS = 10
"""Tokens of a message's fields besides its content."""


def count_escapes(text: str) -> int:
    """The additional tokens of the text inside JSON."""
    return text.count('"') + text.count("\\") + text.count("\n") + text.count("\t")


def count_frame_tokens(part: Contract, texts: set[str] | Mapping[str, Any]) -> int:
    """The tokens of a part's JSON without its texts."""
    return tokens.count_fresh(part.model_dump_json(exclude=texts, exclude_none=True))


def drop_pieces(
    material: SlotCandidates, room: int, wire_room: int, minima: Mapping[Slot, int]
) -> tuple[SlotCandidates, int]:
    """Drops pieces until the JSON has room for the texts of the rest; also returns the tokens left for these.

    Pinned memory is dropped first, then evidence, then older turns, but only as far as the texts gain; what still fits
    then is restored. A slot keeps pieces for its minimum while the JSON has room.
    """
    turns = [messages for _, messages in material.turns]
    extras = (_extras_of_core(material.core), _extras_of_evidence(material.evidence), _extras_of_turns(turns))
    named = NAMES_FRAME if material.entities else 0

    def count_left(counts: Counts) -> int:
        return wire_room - named - sum(sum(extra[:count]) for extra, count in zip(extras, counts, strict=True))

    @cache
    def count_said(counts: Counts) -> int:
        return min(room, count_left(counts), sum(take_first(material, counts).wants().values()))

    wanted = material.wants()
    kept: list[Slot] = [slot for slot in COMPRESSIBLE if minima[slot] >= PIECE_TOKENS]
    least: dict[Slot, int] = {slot: min(wanted[slot], minima[slot]) for slot in kept}

    def gives_way(counts: Counts, fewer: Counts) -> bool:
        if count_said(counts) >= ENOUGH_ROOM * room or count_said(fewer) <= count_said(counts):
            return False
        wants = take_first(material, fewer).wants()
        return count_left(counts) < sum(least.values()) or all(wants[slot] >= size for slot, size in least.items())

    every = counts = (len(material.core), len(material.evidence), len(turns))
    for keeps in LIGHTEN:
        for at, keep in enumerate(keeps):
            while counts[at] > keep and gives_way(counts, _with(counts, at, -1)):
                counts = _with(counts, at, -1)
    for at in RESTORE_ORDER:
        while counts[at] < every[at] and count_said(_with(counts, at, 1)) > count_said(counts):
            counts = _with(counts, at, 1)
    return take_first(material, counts), max(0, count_left(counts))


def _with(counts: Counts, at: int, more: int) -> Counts:
    core, found, turns = (count + more * (place == at) for place, count in enumerate(counts))
    return core, found, turns


def take_first(material: SlotCandidates, counts: Counts) -> SlotCandidates:
    core, found, turns = counts
    return replace(
        material, core=material.core[:core], evidence=material.evidence[:found], turns=material.turns[:turns]
    )


def _extras_of_core(core: Sequence[PreparedMemory]) -> list[int]:
    fields = count_frame_tokens(core[0].block, {"text"}) if core else 0
    return [fields + FIELD_TOKENS + count_escapes(each.block.text) - SEPARATOR for each in core]


def _extras_of_evidence(evidence: Sequence[PreparedEvidence]) -> list[int]:
    fields: dict[str, int] = {}
    extras: list[int] = []
    for each in evidence:
        kind, item = each.ranked.candidate.kind, each.item
        if kind not in fields:
            fields[kind] = count_frame_tokens(item, {"snippet", "title"})
        texts = tokens.count(item.snippet) + tokens.count(item.title) + 2 * FIELD_TOKENS + count_escapes(item.snippet)
        extras.append(fields[kind] + texts - each.cost)
    return extras


def _extras_of_turns(turns: Sequence[Sequence[RecentMessage]]) -> list[int]:
    field = MESSAGE_TOKENS + FIELD_TOKENS - MESSAGE_OVERHEAD
    shown = [[each.content for each in messages] for messages in turns]
    return [sum(field + (count_escapes(text) if len(text) <= SHOWN_WHOLE else 0) for text in texts) for texts in shown]


_TEXTS: dict[str, Any] = {
    "debug": True,
    "evidence": {"__all__": {"snippet", "title"}},
    "system_blocks": {"__all__": {"text"}},
    "developer_blocks": {"__all__": {"text"}},
    "recent_turns": {"__all__": {"content"}},
    "user_message": {"content"},
    "working_summary": True,
}


def count_wire_tokens(package: ContextPackage) -> int:
    """The tokens of the package as JSON, never fewer than there are.

    The sum of the frame and each text, most of which were counted before.
    """
    texts = [package.user_message.content, package.working_summary]
    texts += [each.text for each in (*package.system_blocks, *package.developer_blocks)]
    texts += [text for each in package.evidence for text in (each.snippet, each.title)]
    texts += [each.content for each in package.recent_turns]
    return count_frame_tokens(package, _TEXTS) + sum(
        tokens.count(text) + count_escapes(text) + FIELD_TOKENS for text in texts
    )
