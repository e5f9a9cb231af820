"""Rounds of upkeep: a timer finds users who are due, and runs one round for each."""

import asyncio
import random
import time
from collections.abc import Sequence
from datetime import datetime, timedelta

from schemas.memory_types import types_with
from services.evolver.rules import due, merge
from services.evolver.upkeep import UpkeepChange, make_envelope, perform, to_candidate
from shared.db import Connection
from shared.domain.decay import Due, MemoryStats
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.metrics.memory import UPKEEP_FAILED, UPKEEP_SECONDS, UPKEEP_WAITING
from shared.policy import Policy
from shared.runtime import Runtime
from shared.store import chunks, keeping, memory, observations
from shared.store import upkeep as journal
from shared.store.operator_acts import Operator, note_act
from shared.telemetry import frames, logger

LONGEST = timedelta(days=1)
"""The interval of rounds for users without changes, whose memories age too."""
CONSIDERED = 300
"""The number of a user's latest memories that are compared with each other in one round."""
NOT_MERGED = types_with("unmerged")


async def keep_forever(rt: Runtime) -> None:
    """Runs until cancelled; the interval varies, so that evolvers do not all begin at once."""
    while True:
        await asyncio.sleep(rt.policy.evolution.every_s * random.uniform(0.75, 1.25))  # noqa: S311 # jitter
        try:
            await keep_all(rt)
        except TransientError as error:
            logger().warning("upkeep_waits", error=type(error).__name__)


async def keep_all(rt: Runtime) -> int:
    """Runs a round for all users due at its start; their number. Other evolvers may run concurrently."""
    async with rt.db.system() as conn:
        waiting = await journal.load_waiting(conn, await journal.load_now(conn), LONGEST)
    random.shuffle(waiting)
    done = 0
    for n, each in enumerate(waiting):
        UPKEEP_WAITING.set(len(waiting) - n)
        done += await _one(rt, each)
    UPKEEP_WAITING.set(0)
    return done


async def _one(rt: Runtime, each: journal.Waiting) -> bool:
    try:
        return await keep(rt, each.subject, each.seen) is not None
    except TransientError:
        raise
    except Exception as error:  # noqa: BLE001 # one user's failure must not delay all others
        UPKEEP_FAILED.inc()
        logger().error("upkeep_failed", **frames(error))
        async with rt.db.transaction(each.subject) as conn:
            return await journal.claim(conn, each.subject, each.seen)


async def keep(rt: Runtime, subject: Subject, seen: datetime | None) -> list[UpkeepChange] | None:
    """One round for the user, completely or not at all; None if another was run since `seen`."""
    async with rt.db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        return await _round(conn, rt, subject) if await journal.claim(conn, subject, seen) else None


async def _round(conn: Connection, rt: Runtime, subject: Subject) -> list[UpkeepChange]:
    began = time.perf_counter()
    cause = make_envelope(subject, await journal.load_now(conn), rt.policy.version)
    wanted, left = _each(await keeping.active(conn, subject), cause.occurred_at, rt.policy)
    changes = await perform(conn, subject, [(wish, cause) for wish in wanted], rt.policy)
    together = await find_mergeable(conn, subject, left, rt.policy)
    changes += await perform(conn, subject, [(wish, cause) for wish in together], rt.policy)
    UPKEEP_SECONDS.observe(time.perf_counter() - began)
    return changes


def _each(active: Sequence[MemoryStats], now: datetime, policy: Policy) -> tuple[list[Due], list[MemoryStats]]:
    """The changes to single memories, one after the other, and the visible memories after them."""
    wanted: list[Due] = []
    left: list[MemoryStats] = []
    for each in active:
        stats = each
        while stats.status == "active" and (wish := due.decide_due(stats, now, policy)) is not None:
            wanted.append(wish)
            stats = due.apply_job(stats, wish.job, wish.detail, now, policy)
        if stats.shown:
            left.append(stats)
    return wanted, left


async def find_mergeable(conn: Connection, subject: Subject, shown: Sequence[MemoryStats], policy: Policy) -> list[Due]:
    """The groups of these memories to merge."""
    disputed = await observations.load_disputed(conn, subject)
    fitting = [
        each
        for each in shown
        if each.memory_id not in disputed
        and not each.pinned
        and each.type not in NOT_MERGED
        and each.valid_until is None
        and each.epistemic_type != "outdated"
        and "self_benefit" not in each.flags
    ][-CONSIDERED:]
    if len(fitting) < policy.evolution.consolidate_least:
        return []
    ids = {each.memory_id for each in fitting}
    models = await keeping.load_embedded_by(conn, subject, ids) if await chunks.keep_vectors(conn) else {}
    near: frozenset[merge.Pair] = frozenset()
    if models:
        near = await keeping.find_near(conn, subject, set(models), policy.evolution.consolidate_similarity)
    rows = {row.memory_id: row for row in await memory.by_ids(conn, subject, ids)}
    candidates = [to_candidate(rows[each.memory_id], models.get(each.memory_id)) for each in fitting]
    groups = await asyncio.to_thread(merge.groups, candidates, near, policy.evolution)
    return [Due("consolidation", group, {"by": "vectors" if models else "words"}) for group in groups]


async def keep_now(
    rt: Runtime, subject: Subject, *, forced: bool, by: Operator | None = None
) -> list[UpkeepChange] | None:
    """Runs a round for this user at once; None if the last one was less than an interval ago, unless it is forced.

    A round requested by an operator is audited.
    """
    pause = timedelta(seconds=rt.policy.evolution.every_s)
    async with rt.db.transaction(subject) as conn:
        await memory.lock(conn, subject)
        seen = await journal.last_round(conn, subject)
        if not forced and seen is not None and await journal.load_now(conn) - seen < pause:
            return None
        await journal.claim(conn, subject, seen)
        if by is not None:
            await note_act(conn, subject, "upkeep", "upkeep.run", by)
        return await _round(conn, rt, subject)
