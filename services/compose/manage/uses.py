"""The packages in which a memory was used."""

from uuid import UUID

from schemas.uses import MemoryUses
from services.compose.manage.memories import refuse_missing
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from shared.store import uses, versions


async def list_uses(rt: Runtime, subject: Subject, memory_id: UUID, limit: int, offset: int) -> MemoryUses:
    """When the memory, in any version, was used, for which message, and its reception; newest first. RefusedError 404:
    the user has no such memory."""
    async with rt.db.transaction(subject) as conn:
        line = await versions.line(conn, subject, memory_id)
        if not line:
            raise refuse_missing("memory_id")
        ids = [each.memory_id for each in line]
        return MemoryUses(uses=tuple(await uses.load_uses(conn, subject, ids, limit, offset)))
