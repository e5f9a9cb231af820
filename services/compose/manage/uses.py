"""In which packages a memory was, when, for which message, and how that was received."""

from uuid import UUID

from schemas.uses import MemoryUse, MemoryUses
from services.compose.manage.memories import refuse_missing
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from shared.store import uses, versions


async def list_uses(rt: Runtime, subject: Subject, memory_id: UUID, limit: int, offset: int) -> MemoryUses:
    """The uses of the memory in all of its versions, newest first. RefusedError 404: the user has no such memory."""
    async with rt.db.transaction(subject) as conn:
        line = await versions.line(conn, subject, memory_id)
        if not line:
            raise refuse_missing("memory_id")
        each_use = await uses.load_uses(conn, subject, [each.memory_id for each in line], limit, offset)
    return MemoryUses(
        uses=tuple(
            MemoryUse(
                context_id=use.context_id,
                session_id=use.session_id,
                created_at=use.created_at,
                memory_id=use.memory_id,
                slot="core" if use.core else "evidence",
                turn_id=use.turn_id,
                message=use.message,
                used=use.used,
                utilization_signal=use.utilization_signal,  # pyright: ignore[reportArgumentType] # the vocabulary's
                verdict=use.verdict,  # pyright: ignore[reportArgumentType] # the vocabulary's
                user_feedback_signal=use.feedback_signal if use.used else None,  # pyright: ignore[reportArgumentType] # the vocabulary's
            )
            for use in each_use
        )
    )
