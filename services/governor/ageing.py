"""Erases expired data, by the retention of user, tenant or policy, as if its user had asked."""

import hashlib
from collections.abc import Sequence

from schemas.erasure import MOST, ErasureRequest
from schemas.vocabulary import ErasureScope
from shared import clock
from shared.domain.subjects import Subject
from shared.domain.user_settings import hold_settings
from shared.erasure.request import request
from shared.runtime import Runtime
from shared.store import aged
from shared.telemetry import logger

REQUESTED_BY = "retention"
"""`requested_by` of an erasure by age."""
LIMIT = 500


async def erase_aged(rt: Runtime) -> int:
    """The number of users for whom an erasure of expired sessions, then memories, was requested."""
    async with rt.db.system() as conn:
        found = await aged.find_owners(conn, rt.policy.retention.user_days, LIMIT)
    count = 0
    for row in found:
        held = hold_settings(rt.policy, row["tenant"], row["user_"])
        days = held.policy.retention.user_days
        owner = Subject(row["tenant_id"], row["user_id"])
        if days is not None and await _erase_of(rt, owner, days):
            count += 1
    if count:
        logger().info("aged_erased", users=count)
    return count


async def _erase_of(rt: Runtime, owner: Subject, days: int) -> bool:
    async with rt.db.system() as conn:
        sessions = await aged.list_sessions(conn, owner, days, MOST)
    if sessions:
        await _request(rt, owner, "session", sessions, days)
    async with rt.db.system() as conn:
        memories = [str(each) for each in await aged.list_memories(conn, owner, days, MOST)]
    if memories:
        await _request(rt, owner, "items", memories, days)
    return bool(sessions or memories)


async def _request(rt: Runtime, owner: Subject, scope: ErasureScope, ids: Sequence[str], days: int) -> None:
    """Requests the erasure; two governors on one day create only one."""
    named = hashlib.sha256("\0".join(sorted(ids)).encode()).hexdigest()[:32]
    body = {
        "tenant_id": owner.tenant_id,
        "user_id": owner.user_id,
        "scope": scope,
        "session_ids" if scope == "session" else "memory_ids": ids,
        "requested_by": REQUESTED_BY,
        "reason": f"kept for {days} days",
        "idempotency_key": f"{REQUESTED_BY}:{scope}:{clock.now():%Y-%m-%d}:{named}",
    }
    await request(rt.db, rt.policy, ErasureRequest.model_validate(body))
