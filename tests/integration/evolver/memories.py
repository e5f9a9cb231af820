"""Memories inserted directly into a real database, and receptions of them."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.envelope import Envelope
from schemas.events import FeedbackRecorded
from services.evolver.rounds import keep_now
from services.evolver.upkeep import UpkeepChange
from shared import clock
from shared.bus.delivery import Delivered
from shared.domain.memories import Memory
from shared.domain.statements import candidate_id, sense_of
from shared.domain.subjects import Subject
from shared.language.normalise import detect
from shared.runtime import Runtime, open_runtime
from shared.store import chunks, memory
from shared.store.chunks import chunk_of
from tests.system.databases import rows, state
from tests.system.running import settings_for

LIN = Subject("t", "lin")
BEGAN = datetime.fromisoformat("2026-11-01T08:00:00+00:00")
FIRST = UUID("019a0000-0000-7000-8000-000000000000")
ROW = "SELECT * FROM memory_items WHERE memory_id = %(id)s"


@asynccontextmanager
async def evolver(dsn: str) -> AsyncGenerator[Runtime]:
    """The runtime of an evolver on this database, without a broker."""
    async with open_runtime(settings_for(dsn, "127.0.0.1:9"), "evolver") as rt:
        yield rt


def version(text: str, number: int = 0, **given: Any) -> Memory:
    """A memory with this text; the same number gives the same memory."""
    memory_id = candidate_id(UUID(int=FIRST.int + (number << 80)), text)
    key = given.get("key")
    usual: dict[str, Any] = {
        "memory_id": memory_id,
        "root_id": memory_id,
        "version": 1,
        "type": "note",
        "key": key,
        "value": {"text": text},
        "content_text": text,
        "content_hash": sense_of(key, {}, text, 1),
        "language": detect(text),
        "polarity": 1,
        "status": "active",
        "confidence": 0.5,
        "provenance_class": "observation",
        "provenance": {"detector": "test"},
        "assertion": "declared",
        "epistemic_type": "preference",
        "flags": (),
        "supersedes": (),
        "superseded_by": None,
        "valid_at": BEGAN + timedelta(minutes=number),
        "invalid_at": None,
        "valid_until": None,
        "last_validated_at": clock.now(),
        "source_sessions": (f"s{number}",),
        "source_turn_id": memory_id,
        "source_turns": (memory_id,),
    }
    return Memory(**{**usual, **given})


async def stand(rt: Runtime, *versions: Memory, subject: Subject = LIN) -> list[UUID]:
    """Inserts the memories and their search rows."""
    async with rt.db.transaction(subject) as conn:
        for each in versions:
            await memory.insert(conn, subject, each)
        await chunks.put(conn, subject, [chunk_of(each) for each in versions])
    return [each.memory_id for each in versions]


def row(dsn: str, memory_id: UUID) -> dict[str, Any]:
    """The memory as it is stored."""
    (found,) = rows(dsn, ROW, id=memory_id)
    return found


def figure(dsn: str, memory_id: UUID, figures: str) -> None:
    """Sets these columns of the memory."""
    rows(dsn, f"UPDATE memory_items SET {figures} WHERE memory_id = %(id)s", id=memory_id)  # noqa: S608 # constant text


def found_by_words(dsn: str, memory_id: UUID) -> bool:
    """Whether search can find the memory."""
    statement = (
        "SELECT count(*) AS n FROM memory_chunks c JOIN postings p USING (tenant_id, user_id, chunk_id)"
        " WHERE c.memory_id = %(id)s AND c.active"
    )
    return rows(dsn, statement, id=memory_id)[0]["n"] > 0


def told(dsn: str) -> list[tuple[str, str]]:
    """The events of memory.changed so far, in order."""
    statement = "SELECT payload -> 'payload' AS p FROM event_outbox WHERE type = 'memory.changed' ORDER BY position"
    return [(each["p"]["change"], each["p"]["memory_id"]) for each in rows(dsn, statement)]


def jobs(dsn: str) -> list[str]:
    """The rows of the journal, in order."""
    return [each["job"] for each in rows(dsn, "SELECT job FROM upkeep ORDER BY at")]


def known(dsn: str) -> dict[str, list[str]]:
    """All memories and related rows, without the times of upkeep."""
    return {name: found for name, found in state(dsn).items() if name != "upkeep_rounds"}


async def round_of(rt: Runtime, subject: Subject = LIN) -> list[UpkeepChange]:
    """The results of a round that starts now."""
    changes = await keep_now(rt, subject, forced=True)
    assert changes is not None
    return changes


def reception(ids: Sequence[UUID], **given: Any) -> Delivered:
    """An event about the reception of these memories: rejected by default."""
    usual: dict[str, Any] = {"memory_ids": tuple(ids), "judged_by": "message", "utilized": True, "signal": "negative"}
    payload = FeedbackRecorded(**{**usual, **given})
    envelope = Envelope(
        event_id=clock.uuid7(),
        event_type=payload.event_type,
        idempotency_key=str(clock.uuid7()),
        trace_id="t",
        tenant_id=LIN.tenant_id,
        user_id=LIN.user_id,
        occurred_at=clock.now(),
        policy_version="p",
        payload=payload.model_dump(mode="json"),
    )
    return Delivered(envelope, payload, None)  # pyright: ignore[reportArgumentType] # no record
