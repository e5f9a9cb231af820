"""Texts that are not found by their own words, as they are or where the same was said elsewhere."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shared.runtime import Runtime
from tests.bench import store
from tests.bench.dialogues import Line
from tests.bench.dialogues import read as read_talk
from tests.bench.store import Committed

WITHIN = 20
MOST_CHARS = 4000
"""The maximum length of a query in a plan."""
_SAID_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Lost:
    """The number of texts that were searched, and those not found."""

    asked: int
    lines: tuple[Line, ...]

    @property
    def share(self) -> float:
        """The share that was not found."""
        return round(len(self.lines) / self.asked, 4) if self.asked else 0.0


def read(path: Path, sample: int, dialogues: Sequence[str] | None = None) -> tuple[list[Line], list[Line]]:
    """The lines to commit, and a uniform sample of them to search; a .jsonl file has single lines."""
    if path.suffix == ".jsonl" and "text" in (rows := [json.loads(line) for line in path.read_text().splitlines()])[0]:
        lines = [_line(path.stem, row) for row in _evenly(rows, sample)]
        return lines, lines
    lines = list(read_talk(path).part(dialogues).lines)
    return lines, _evenly(lines, sample)


def _evenly(many: Sequence[Any], sample: int) -> list[Any]:
    return [many[n * len(many) // sample] for n in range(sample)] if sample < len(many) else list(many)


def _line(name: str, row: dict[str, Any]) -> Line:
    return Line(
        f"{name} {row['source']}"[:128], row["session"][:128], row["id"], "", row["text"], _SAID_AT, row["role"]
    )


def _strip_text(text: str) -> str:
    return "".join(each for each in text.casefold() if each.isalnum()) or text


async def look(rt: Runtime, lines: Sequence[Line], sought: Sequence[Line]) -> Lost:
    """Commits the lines, and searches each sampled one by its own words."""
    committed, texts = Committed(), {(line.dialogue, line.id): _strip_text(line.text) for line in lines}
    await store.commit(rt, lines, committed)
    await store.embed_all(rt)

    async def lost(line: Line) -> bool:
        pack = await store.search(rt, line.dialogue, line.text[:MOST_CHARS], top_k=WITHIN)
        came = {(line.dialogue, committed.line_of(each.ref) or "") for each in pack.evidences}
        return _strip_text(line.text) not in {texts.get(each) for each in came}

    gone = await store.each_of(sought, lost)
    return Lost(len(sought), tuple(line for line, away in zip(sought, gone, strict=True) if away))
