"""Several evolvers on one user, with all faults of Kafka and the network, give the result of one in order."""

import asyncio
import os
import random
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from shared.domain.subjects import Subject
from shared.runtime import Runtime
from tests.integration.evolver.delivery import Delivery, Flaky, one_by_one, runtime
from tests.integration.evolver.scenes import scene
from tests.long import often
from tests.system import invariants
from tests.system.databases import Databases, rows

INTERLEAVINGS = int(os.environ.get("SMARTBRAIN_TEST_INTERLEAVINGS") or often(200, short=24))
"""The number of stories; SMARTBRAIN_TEST_INTERLEAVINGS=5000 for a long run."""
AT_ONCE = 8
Rows = list[dict[str, Any]]

_MEMORIES = "SELECT * FROM memory_items ORDER BY memory_id"
_SETTLED = "SELECT user_id, observation_id, state, reason, related_memory_id FROM observations ORDER BY observation_id"
_TOLD = """
SELECT split_part(aggregateid, ':', 2) AS user_id, coalesce(payload #>> '{payload,change}', type) AS change,
    coalesce(payload #>> '{payload,memory_id}', payload #>> '{payload,turn_id}') AS about, count(*) AS n
FROM event_outbox WHERE type IN ('memory.changed', 'turn.outcome') GROUP BY 1, 2, 3 ORDER BY 2, 3"""
_TIMES = ("created_at", "updated_at")
_RECEIVED = (
    "confidence",
    "last_validated_at",
    "injection_count",
    "positive_count",
    "correction_count",
    "miss_count",
    "fused_at",
)
"""Columns changed by receptions, which may come before or after the end of a memory."""


@pytest.fixture(scope="module")
async def workers(databases: Databases) -> AsyncGenerator[tuple[Runtime, ...]]:
    """Three workers with separate pools on one database."""
    dsn = databases.fresh()
    flaky = [Flaky(dsn, size=4) for _ in range(3)]
    Flaky.dice = {}
    for db in flaky:
        await db.open()
    yield tuple(runtime(db) for db in flaky)
    for db in flaky:
        await db.close()


async def told_twice(workers: tuple[Runtime, ...], seed: int) -> Delivery:
    """One story, delivered to one worker in order for one user, and to several with faults for another."""
    dice = random.Random(seed)
    story = scene(f"story {seed}", dice.choice((3, 4, 6)))
    await one_by_one(workers[0], Subject("t", f"plain-{seed}"), story)
    busy = Subject("t", f"busy-{seed}")
    delivery = Delivery(busy, workers, dice)
    Flaky.dice[busy] = dice
    await delivery.run(story, with_feedback=seed % 3 == 0)
    return delivery


def by_user(dsn: str, statement: str, *aside: str) -> dict[str, Rows]:
    """The rows of each user, without these columns and those for owner and time."""
    found: dict[str, Rows] = defaultdict(list)
    for row in rows(dsn, statement):
        kept = {name: value for name, value in row.items() if name not in ("user_id", *_TIMES, *aside)}
        found[row["user_id"]].append(kept)
    return found


Counts = dict[str, tuple[int, int]]


def active_counts(memories: Rows) -> Counts:
    """The counts of injections and confirmations of each active memory."""
    active = [row for row in memories if row["status"] == "active"]
    found = {str(row["memory_id"]): (row["injection_count"], row["positive_count"]) for row in active}
    return {memory_id: counts for memory_id, counts in found.items() if any(counts)}


def expected_counts(delivery: Delivery, memories: Rows) -> Counts:
    """The expected counts of each active memory: one for each reception that names it and says so.

    Corrections are counted too, but a repeated statement resets them, whenever they came.
    """
    active = {str(row["memory_id"]) for row in memories if row["status"] == "active"}
    injected, praised = Counter[str](), Counter[str]()
    for told in delivery.told:
        named = [str(memory_id) for memory_id in told.memory_ids if str(memory_id) in active]
        if told.judged_by == "reply":
            injected.update(named)
        elif told.signal == "positive_confirm":
            praised.update(named)
    return {memory_id: (injected[memory_id], praised[memory_id]) for memory_id in {*injected, *praised}}


async def test_any_delivery_gives_the_same_memories_as_in_order(workers: tuple[Runtime, ...]) -> None:
    waiting = iter(range(INTERLEAVINGS))
    done: dict[int, Delivery] = {}

    async def some() -> None:
        for seed in waiting:
            done[seed] = await told_twice(workers, seed)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(some())
    dsn = workers[0].db.dsn
    whole, structure = by_user(dsn, _MEMORIES), by_user(dsn, _MEMORIES, *_RECEIVED)
    settled, told = by_user(dsn, _SETTLED), by_user(dsn, _TOLD)
    for seed, delivery in done.items():
        plain, busy = f"plain-{seed}", f"busy-{seed}"
        memories = structure if delivery.told else whole
        assert memories[busy] == memories[plain], busy
        assert settled[busy] == settled[plain], busy
        assert active_counts(whole[busy]) == expected_counts(delivery, whole[busy]), busy
        if not delivery.told:
            assert told[busy] == told[plain], busy
    assert {what: many for what, many in invariants.broken(dsn).items() if many} == {}
    found = Counter(row["status"] for of_one in structure.values() for row in of_one)
    assert min(found["active"], found["superseded"], found["retracted"]) > INTERLEAVINGS / 2
    assert sum(len(delivery.told) for delivery in done.values()) > INTERLEAVINGS / 6
    assert sum(delivery.lost for delivery in done.values()) > INTERLEAVINGS / 4
