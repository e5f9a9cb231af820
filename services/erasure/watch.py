"""Deadlines: a timer that measures the open erasures and escalates those that are overdue."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from services.erasure import handler
from shared.domain.subjects import Subject
from shared.erasure import rules
from shared.errors import TransientError
from shared.metrics.erasure import ERASURE_SLA_REMAINING, ERASURES, ERASURES_DUE
from shared.runtime import Runtime
from shared.store.erasure import tombstones
from shared.telemetry import logger

OPEN = ("requested", "verified", "tombstoned", "queued", "processing", "failed", "retry_pending", "escalated")


async def watch_forever(rt: Runtime) -> None:
    """Runs until cancelled."""
    while True:
        try:
            await watch(rt)
        except TransientError as error:
            logger().warning("erasure_watch_waits", error=type(error).__name__)
        await asyncio.sleep(rt.policy.erasure.check_every_s)


async def watch(rt: Runtime) -> int:
    """Escalates overdue erasures and updates the gauges; the number of escalated ones."""
    async with rt.db.system() as conn:
        open_rows = await tombstones.open_ones(conn)
        now = await tombstones.load_now(conn)
    policy = rt.policy.erasure
    levels: Counter[str] = Counter()
    least, escalated = 1.0, 0
    for row in open_rows:
        profile = policy.profiles.get(row["profile"]) or policy.profiles[policy.profile]
        left = rules.share_remaining(row["requested_at"], row["deadline_at"], now)
        level = rules.level(left, profile)
        levels[level] += 1
        least = min(least, left)
        if level == "overdue":
            escalated += await escalate_once(rt, row)
        elif level != "none":
            logger().warning("erasure_due", tombstone_id=str(row["tombstone_id"]), level=level, left=round(left, 3))
    states = Counter(row["status"] for row in open_rows)
    for status in OPEN:
        ERASURES.labels(status).set(states[status])
    for level in ("warn", "critical", "overdue"):
        ERASURES_DUE.labels(level).set(levels[level])
    ERASURE_SLA_REMAINING.set(least)
    return escalated


async def escalate_once(rt: Runtime, row: Mapping[str, Any]) -> bool:
    """Whether it was escalated now; only once per deadline: after an operator requeued it, only its attempts count."""
    if row["escalated_at"] and row["escalated_at"] >= row["deadline_at"]:
        return False
    try:
        return await handler.escalate(rt, Subject(row["tenant_id"], row["user_id"]), row["tombstone_id"])
    except TransientError as error:
        # somebody writes of this user just now; the others do not wait for that
        logger().warning("erasure_watch_waits", error=type(error).__name__)
        return False
