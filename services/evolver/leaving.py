"""The rest of a memory of which a part ends: a separate memory with the provenance of the whole."""

from dataclasses import replace

from services.evolver import chosen
from services.evolver.changes import MemoryChanges, tell, to_changed
from shared.domain.memories import Memory
from shared.domain.observations import ObservationRow
from shared.domain.statements import ActiveMemory, is_twin
from shared.extraction.edited import Content
from shared.indexing import chunk_of
from shared.resolution.from_rows import known_of, left_id, statement_of, with_content
from shared.resolution.resolve import Write
from shared.store import memory
from shared.store.history import AMENDED
from shared.store.memory import FORGOTTEN


async def leave_rest(changes: MemoryChanges, seen: ObservationRow, write: Write) -> None:
    """What the memory that the version replaces says beside what has ended stays, where the version does not say it."""
    if write.left is not None and write.left is not write.content:
        await leave_part(changes, seen, write.ends[0], write.left)


async def leave_part(changes: MemoryChanges, seen: ObservationRow, ended: ActiveMemory, part: Content) -> None:
    """This part of a memory that has ended stays, unless something active says it or has its key.

    Nothing is stored of a fused memory.
    """
    if ended.memory_id in changes.fused:
        return
    row = with_content(seen, part)
    statement = replace(statement_of(row), quote="", old_key=None, related=None)
    active = await memory.load_concerned(changes.subject, [statement]).on(changes.conn)
    if any(is_twin(known_of(each), statement) for each in active):
        return
    (old,) = await memory.by_ids(changes.conn, changes.subject, [ended.memory_id])
    fresh = _to_rest(old, row, statement.sense)
    await memory.insert(changes.conn, changes.subject, fresh)
    if old.memory_id in changes.silenced:
        await chosen.suppress_version(changes.conn, changes.subject, fresh.memory_id, seen.said_at)
        changes.silenced |= {fresh.memory_id}
        changes.hidden.append(fresh.memory_id)
    changes.known[fresh.memory_id] = known_of(fresh)
    changes.chunks.append(chunk_of(fresh))
    tell(changes, seen, to_changed(known_of(fresh), "created", "active", after=fresh.confidence), fresh.memory_id)


def _to_rest(old: Memory, row: ObservationRow, sense: str) -> Memory:
    """A new line with the text and turns of the old memory."""
    its_id = left_id(row.observation_id, old.memory_id)
    origin = {name: value for name, value in old.provenance.items() if name != FORGOTTEN}
    return replace(
        old,
        memory_id=its_id,
        root_id=its_id,
        version=1,
        type=row.kind,
        key=row.key,
        value=row.value,
        content_text=row.text,
        content_hash=sense,
        language=row.language,
        polarity=row.polarity,
        status="active",
        provenance={**origin, AMENDED: str(old.memory_id)},
        flags=row.flags,
        supersedes=(),
        superseded_by=None,
        valid_at=row.said_at,
        invalid_at=None,
        valid_until=row.valid_until,
        created_at=None,
    )
