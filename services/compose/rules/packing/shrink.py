"""What stays when a package's JSON, with the fields around each text, would exceed the limit before the texts do."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from schemas.base import Contract
from schemas.context_package import ContextPackage, RecentMessage
from services.compose.rules.packing.budget import COMPRESSIBLE, Slot, SlotBounds
from services.compose.rules.packing.fit import SlotCandidates
from services.compose.rules.packing.render import MESSAGE_OVERHEAD
from services.compose.rules.packing.slots import SEPARATOR, PreparedEvidence, PreparedMemory
from shared.language import tokens

Counts = tuple[int, int, int]
"""Pinned memories, pieces of evidence and turns, the first of each."""
LIGHTEN: tuple[Counts, ...] = ((6, 6, 8), (3, 3, 6), (1, 1, 4), (0, 0, 2), (0, 0, 0))
"""How many pinned memories, pieces of evidence and turns stay while something else can give way."""
GIVEN_BACK = (1, 0, 2)
"""The order in which what gave way comes back where there is room after all: evidence, pinned memory, turns."""
ENOUGH = 0.91
"""Share of the room for messages that is left to fill when nothing more gives way."""
A_FIELD = 8
"""Tokens at most of a field's name, its quotes and what stands between it and the next."""
SHOWN_WHOLE = 1200
"""Characters up to which a message is likely to be shown whole, and all that JSON escapes in it."""
NAMES = 48
"""Tokens of the fields around the line of names."""
A_PIECE = 64
"""Tokens of a slot below which no piece with its fields is kept for them."""
A_MESSAGE = 10
"""Tokens of a message's fields beside its content."""


def escapes(text: str) -> int:
    """How many tokens more the text costs inside JSON."""
    return text.count('"') + text.count("\\") + text.count("\n") + text.count("\t")


def count_frame_tokens(part: Contract, texts: set[str] | Mapping[str, Any]) -> int:
    """The tokens of a part's JSON without its texts."""
    return tokens.count_fresh(part.model_dump_json(exclude=texts, exclude_none=True))


def thinner(material: SlotCandidates, room: int, wire_room: int, limits: SlotBounds) -> tuple[SlotCandidates, int]:
    """As many pieces as leave the JSON room for their texts, and the tokens that are then left to these.

    Pinned memory gives way first, then evidence, then the older turns, whose fields are few; only where more can be
    said for it, and what then still fits comes back. A slot keeps pieces for its least while the JSON has room for it.
    """
    turns = [messages for _, messages in material.turns]
    extras = (_extras_of_core(material.core), _extras_of_evidence(material.evidence), _extras_of_turns(turns))
    named = NAMES if material.entities else 0

    def count_left(counts: Counts) -> int:
        return wire_room - named - sum(sum(extra[:count]) for extra, count in zip(extras, counts, strict=True))

    @cache
    def count_said(counts: Counts) -> int:
        return min(room, count_left(counts), sum(take_first(material, counts).wants().values()))

    wanted = material.wants()
    kept: list[Slot] = [slot for slot in COMPRESSIBLE if limits.least[slot] >= A_PIECE]
    least: dict[Slot, int] = {slot: min(wanted[slot], limits.least[slot]) for slot in kept}

    def gives_way(counts: Counts, fewer: Counts) -> bool:
        if count_said(counts) >= ENOUGH * room or count_said(fewer) <= count_said(counts):
            return False
        wants = take_first(material, fewer).wants()
        return count_left(counts) < sum(least.values()) or all(wants[slot] >= size for slot, size in least.items())

    every = counts = (len(material.core), len(material.evidence), len(turns))
    for keeps in LIGHTEN:
        for at, keep in enumerate(keeps):
            while counts[at] > keep and gives_way(counts, _with(counts, at, -1)):
                counts = _with(counts, at, -1)
    for at in GIVEN_BACK:
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
    return [fields + A_FIELD + escapes(each.block.text) - SEPARATOR for each in core]


def _extras_of_evidence(evidence: Sequence[PreparedEvidence]) -> list[int]:
    fields: dict[str, int] = {}
    extras: list[int] = []
    for each in evidence:
        kind, item = each.ranked.candidate.kind, each.item
        if kind not in fields:
            fields[kind] = count_frame_tokens(item, {"snippet", "title"})
        texts = tokens.count(item.snippet) + tokens.count(item.title) + 2 * A_FIELD + escapes(item.snippet)
        extras.append(fields[kind] + texts - each.cost)
    return extras


def _extras_of_turns(turns: Sequence[Sequence[RecentMessage]]) -> list[int]:
    field = A_MESSAGE + A_FIELD - MESSAGE_OVERHEAD
    shown = [[each.content for each in messages] for messages in turns]
    return [sum(field + (escapes(text) if len(text) <= SHOWN_WHOLE else 0) for text in texts) for texts in shown]


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
    """The tokens of the package as JSON, for consumers that hand it on as it is; a few more than they are, never fewer.

    What it costs without its texts, and each text, most of which were counted before.
    """
    texts = [package.user_message.content, package.working_summary]
    texts += [each.text for each in (*package.system_blocks, *package.developer_blocks)]
    texts += [text for each in package.evidence for text in (each.snippet, each.title)]
    texts += [each.content for each in package.recent_turns]
    return count_frame_tokens(package, _TEXTS) + sum(tokens.count(text) + escapes(text) + A_FIELD for text in texts)
