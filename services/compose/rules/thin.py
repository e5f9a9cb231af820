"""What stays when a package's JSON, with the fields around each text, would exceed the limit before the texts do."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemas.base import Contract
from schemas.context_package import RecentMessage
from services.compose.rules.fit import Material
from services.compose.rules.render import MESSAGE_OVERHEAD
from services.compose.rules.slots import SEPARATOR, Prepared, PreparedCore
from shared.text import tokens

LIGHTEN = ((6, 6, 8), (3, 3, 6), (1, 1, 4), (0, 0, 2), (0, 0, 0))
"""How many pinned memories, pieces of evidence and turns stay while something else can give way."""
ENOUGH = 0.91
"""Share of the room for messages that is left to fill when nothing more gives way."""
A_FIELD = 8
"""Tokens at most of a field's name, its quotes and what stands between it and the next."""
TAG_MARKS = 14
"""Tokens by which the marks of a memory's tag cost more inside JSON."""
A_MESSAGE = 10
"""Tokens of a message's fields beside its content."""


def escapes(text: str) -> int:
    """How many tokens more the text costs inside JSON."""
    return text.count('"') + text.count("\\") + text.count("\n") + text.count("\t")


def bare(part: Contract, texts: set[str] | Mapping[str, Any]) -> int:
    """The tokens of a part's JSON without its texts."""
    return tokens.fresh(part.model_dump_json(exclude=texts, exclude_none=True))


def thinner(material: Material, room: int, wire_room: int) -> tuple[Material, int]:
    """As many pieces as leave the JSON room for their texts, and the room of messages that is left then.

    Pinned memory gives way first, then evidence, then the older turns, whose fields are few; and only where more can
    be said for it.
    """
    core, found, turns = list(material.core), list(material.evidence), list(material.turns)
    extras = (_extras_of_core(core), _extras_of_evidence(found), _extras_of_turns([each for _, each in turns]))
    kept, left = material, wire_room - sum(map(sum, extras))
    said = min(left, sum(kept.wants().values()))
    for keeps in LIGHTEN:
        for pieces, extra, keep in zip((core, found, turns), extras, keeps, strict=True):
            while len(pieces) > keep and said < ENOUGH * room:
                last = pieces.pop()
                fewer = replace(material, core=[*core], evidence=[*found], turns=[*turns])
                more = min(left + extra[-1], sum(fewer.wants().values()))
                if more <= said:
                    pieces.append(last)  # pyright: ignore[reportArgumentType] # it was in this list
                    break
                kept, left, said = fewer, left + extra.pop(), more
    return kept, max(0, min(room, left))


def _extras_of_core(core: Sequence[PreparedCore]) -> list[int]:
    fields = bare(core[0].block, {"text"}) if core else 0
    return [fields + A_FIELD + TAG_MARKS - SEPARATOR for _ in core]


def _extras_of_evidence(found: Sequence[Prepared]) -> list[int]:
    fields: dict[str, int] = {}
    made: list[int] = []
    for each in found:
        kind, item = each.ranked.candidate.kind, each.item
        if kind not in fields:
            fields[kind] = bare(item, {"snippet", "title"})
        texts = tokens.count(item.snippet) + tokens.count(item.title) + 2 * A_FIELD + TAG_MARKS
        made.append(fields[kind] + texts - each.cost)
    return made


def _extras_of_turns(turns: Sequence[Sequence[RecentMessage]]) -> list[int]:
    field = A_MESSAGE + A_FIELD - MESSAGE_OVERHEAD
    return [field * len(messages) for messages in turns]
