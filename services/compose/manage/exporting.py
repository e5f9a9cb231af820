"""Exports a user's data page by page: neither the document nor a connection is held while it is written."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from typing import Any
from uuid import UUID

import orjson

from schemas.exporting import EXPORT_FORMAT, EXPORT_VERSION, ExportedMemory
from services.compose.manage.history import to_conflict, to_evidence
from shared import clock
from shared.db import Connection, epoch_of
from shared.domain.memories import Memory
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.runtime import Runtime
from shared.store import exporting, history, memory, user_settings, versions
from shared.store.exporting import FIRST, PAGE, Row
from shared.store.history import MemorySource

Page = Sequence[Row]
LoadPage = Callable[[Connection, Subject, Any], Coroutine[Any, Any, tuple[Page, Any]]]
"""Loads a page of one kind from a position, and returns the next position; None at the end."""


class PagedReader:
    """Reads a user's rows a page at a time. TransientError if something was erased since the first page."""

    def __init__(self, rt: Runtime, subject: Subject) -> None:
        self._rt = rt
        self._subject = subject
        self._epoch: int | None = None

    async def read_pages(self, load: LoadPage, first: Any) -> AsyncGenerator[Page, None]:
        """All pages of one kind, each in its own transaction."""
        after = first
        while after is not None:
            async with self._rt.db.transaction(self._subject) as conn:
                epoch = await epoch_of(conn)
                if self._epoch not in (None, epoch):
                    raise TransientError("something was erased while the export went out: ask again")
                self._epoch = epoch
                page, after = await load(conn, self._subject, after)
            if page:
                yield page


async def write_json(rt: Runtime, subject: Subject) -> AsyncGenerator[bytes, None]:
    """The document in pieces; without `counts` at its end it is incomplete."""
    reader, counts = PagedReader(rt, subject), dict[str, int]()
    (chosen,) = await rt.db.read(subject, user_settings.load(subject))
    head = {
        "format": EXPORT_FORMAT,
        "version": EXPORT_VERSION,
        "exported_at": clock.now(),
        "exported_from": {"tenant_id": subject.tenant_id, "user_id": subject.user_id},
        "settings": chosen.user or None,
    }
    yield orjson.dumps(head)[:-1]
    kinds: tuple[tuple[str, LoadPage, Any], ...] = (
        ("sessions", load_sessions, ""),
        ("turns", load_turns, FIRST),
        ("memories", load_memories, FIRST),
        ("conflicts", load_conflicts, 0),
        ("feedback", load_feedback, FIRST),
    )
    for name, load, first in kinds:
        counts[name] = 0
        yield f',"{name}":['.encode()
        async for page in reader.read_pages(load, first):
            lead = "," if counts[name] else ""
            counts[name] += len(page)
            yield lead.encode() + b",".join(orjson.dumps(each) for each in page)
        yield b"]"
    yield b',"counts":' + orjson.dumps(counts) + b"}"


async def load_sessions(conn: Connection, subject: Subject, after: str) -> tuple[Page, str | None]:
    """The next sessions with their summaries."""
    rows = await exporting.load_sessions(conn, subject, after)
    return rows, _place_behind(rows, "session_id")


async def load_turns(conn: Connection, subject: Subject, after: UUID) -> tuple[Page, UUID | None]:
    """The next turns with their events."""
    rows = await exporting.load_turns(conn, subject, after)
    return rows, _place_behind(rows, "turn_id")


async def load_memories(conn: Connection, subject: Subject, after: UUID) -> tuple[Page, UUID | None]:
    """The next versions of memories with their evidence."""
    rows = await exporting.load_figures(conn, subject, after)
    by_id = {each.memory_id: each for each in await memory.by_ids(conn, subject, [row["memory_id"] for row in rows])}
    restored = [
        UUID(each.provenance[versions.RESTORED]) for each in by_id.values() if versions.RESTORED in each.provenance
    ]
    sources = await history.sources(conn, subject, by_id.values(), restored)
    page = [
        {**_figures(row), **_to_memory(known), "evidence": _to_evidence(known, sources)}
        for row in rows
        if (known := by_id.get(row["memory_id"]))
    ]
    return page, _place_behind(rows, "memory_id")


def _to_evidence(known: Memory, sources: Sequence[MemorySource]) -> list[dict[str, Any]]:
    return [each.model_dump(mode="json") for each in to_evidence(known, sources)]


def _figures(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("memory_id", "pinned")}


def _to_memory(known: Memory) -> dict[str, Any]:
    given = {name: value for name, value in vars(known).items() if name in ExportedMemory.model_fields}
    return {**given, "content": known.content_text}


async def load_conflicts(conn: Connection, subject: Subject, after: int) -> tuple[Page, int | None]:
    """The next conflicts, open and settled."""
    found = await history.disputes(conn, subject, state=None, limit=PAGE, offset=after)
    return [to_conflict(each).model_dump(mode="json") for each in found], after + PAGE if len(found) == PAGE else None


async def load_feedback(conn: Connection, subject: Subject, after: UUID) -> tuple[Page, UUID | None]:
    """The next packages with their reception."""
    rows = await exporting.load_feedback(conn, subject, after)
    return rows, _place_behind(rows, "context_id")


def _place_behind(rows: Sequence[Row], name: str) -> Any:
    return rows[-1][name] if len(rows) == PAGE else None
