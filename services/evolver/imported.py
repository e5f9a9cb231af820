"""Imported versions of memories: they keep their data, and existing memories stay unchanged."""

from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from services.evolver.changes import MemoryChanges, end, find_twins, report_created
from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.statements import RANK, sense_of
from shared.extraction.turn_texts import IMPORT, IMPORTED
from shared.resolution.from_rows import known_of
from shared.resolution.operations import Reject
from shared.store import keeping, memory
from shared.store.chunks import chunk_of
from shared.store.erasure import tombstones

AS_IT_WAS = "as_it_was"
COUNTS = ("injection_count", "positive_count", "correction_count", "miss_count", "epistemic_prev")
_MEMORY = TypeAdapter(Memory)


async def take_in(changes: MemoryChanges, seen: ObservationRow) -> Reject | None:
    """Stores the version unchanged; or the reason if it is not stored: it exists already, or was erased here."""
    given = seen.value[IMPORTED]
    fresh = to_memory(seen, given)
    conn, subject = changes.conn, changes.subject
    if await memory.by_ids(conn, subject, [fresh.memory_id]):
        return Reject("skip", "known_already")
    gone = await tombstones.find_erased(conn, subject, [fresh.memory_id])
    if gone or await tombstones.find_hashes(conn, subject, [fresh.content_hash]):
        return Reject("skip", "erased")
    if fresh.status == "active":
        fresh = await _find_place(changes, seen, fresh)
    fresh = replace(fresh, version=await keeping.find_free_version(conn, subject, fresh.root_id, fresh.version))
    await memory.insert(conn, subject, fresh)
    changes.mark(seen, f"{IMPORT}:{AS_IT_WAS}", fresh.memory_id)
    if fresh.status != "active":
        return None
    await _keep_figures(changes, fresh, given)
    if fresh.fused_at is None:
        changes.chunks.append(chunk_of(fresh))
        changes.known[fresh.memory_id] = known_of(fresh)
    report_created(changes, seen, fresh)
    return None


def to_memory(seen: ObservationRow, given: dict[str, Any]) -> Memory:
    """The version with the text of its item."""
    names = Memory.__dataclass_fields__.keys()
    told = {name: value for name, value in given.items() if name in names}
    told |= {"content_text": seen.text, "content_hash": "", "created_at": None}
    read = _MEMORY.validate_python(told)
    sense = sense_of(read.key, read.value, read.content_text, read.polarity)
    return replace(read, content_hash=sense, provenance={**read.provenance, IMPORT: str(seen.turn_id)})


async def _find_place(changes: MemoryChanges, seen: ObservationRow, fresh: Memory) -> Memory:
    """The version besides a conflicting active memory: the stronger one holds, and of two equal ones the newer."""
    twins = await find_twins(changes, seen, fresh)
    weight = (RANK[fresh.provenance_class], fresh.valid_at)
    stronger = next((each for each in twins if (RANK[each.provenance], each.valid_at) >= weight), None)
    if stronger:
        ended = max(fresh.valid_at, stronger.valid_at)
        return replace(fresh, status="superseded", superseded_by=stronger.memory_id, invalid_at=ended)
    await end(changes, seen, twins, "superseded", fresh.memory_id, fresh.valid_at)
    return replace(fresh, supersedes=tuple(dict.fromkeys((*fresh.supersedes, *(each.memory_id for each in twins)))))


async def _keep_figures(changes: MemoryChanges, fresh: Memory, given: dict[str, Any]) -> None:
    """Its usage statistics continue here."""
    (stats,) = await keeping.active(changes.conn, changes.subject, [fresh.memory_id])
    counted = {name: given[name] for name in COUNTS if given.get(name) is not None}
    told = replace(stats, **counted, fused_at=fresh.fused_at, fused_from=fresh.fused_from)
    await keeping.save(changes.conn, changes.subject, [told])
