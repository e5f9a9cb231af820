"""The erasure worker is killed inside each of its steps; another worker continues, and every effect occurs once."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest
from aiokafka.partitioner import DefaultPartitioner

from schemas.topics import ERASURE_REQUESTED, ERASURE_STATE
from services.cli.supervisor import Supervisor
from services.erasure.app import BATCH
from services.erasure.steps import STEPS
from tests.system.databases import OPTIONS, Databases
from tests.system.erasures import completed, erase, mine, view
from tests.system.kafka import caught_up, of_tenant
from tests.system.person import Json, Person, somebody
from tests.system.running import policy_file, running, settings_for
from tests.system.wait import wait_for

POINTS = ("begun", *STEPS, "completed")
WAITING = """
SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND application_name = 'smartbrain:smartbrain_erasure' AND cardinality(pg_blocking_pids(pid)) > 0
"""
HELD = {
    "begun": "SELECT FROM tombstones WHERE tombstone_id = %(id)s FOR UPDATE",
    "completed": """
        INSERT INTO audit_events (tenant_id, user_id, audit_id, kind, tombstone_id, item_count, details)
        VALUES (%(tenant)s, %(user)s, gen_random_uuid(), 'held', %(id)s, 0, '{}')""",
}
NOTED = """
INSERT INTO erasure_steps (tenant_id, user_id, tombstone_id, step) VALUES (%(tenant)s, %(user)s, %(id)s, %(step)s)
"""
PASSED = ["requested", "verified", "tombstoned", "queued", "processing", "completed"]


@contextmanager
def pause_at(person: Person, receipt: Json, point: str) -> Generator[None]:
    """The worker of the erasure pauses at this point, with its effects made but not committed."""
    told = {"tenant": person.tenant_id, "user": person.user_id, "id": receipt["tombstone_id"], "step": point}
    with psycopg.connect(person.system.dsn, options=OPTIONS) as conn:
        conn.execute(HELD.get(point, NOTED), told)  # pyright: ignore[reportArgumentType] # of this module
        try:
            yield
        finally:
            conn.rollback()


@dataclass
class Killed:
    """The state of an erasure whose worker was killed at a point."""

    person: Person
    receipt: Json
    status: str = ""
    before: dict[str, Any] = field(default_factory=dict[str, Any])
    """The completion time of each step that was completed then."""
    told: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def neighbours(tenant_id: str) -> Generator[str]:
    """Users in one partition, whose events reach the worker together."""
    everywhere = list(range(ERASURE_REQUESTED.partitions))
    while True:
        name = somebody()
        if DefaultPartitioner()(f"{tenant_id}:{name}".encode(), everywhere, everywhere) == 0:
            yield name


@pytest.fixture(scope="module")
async def killed(
    databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[dict[str, Killed]]:
    """Each point with its erasure: one worker was killed during all of them, and a second one completed them."""
    folder: Path = tmp_path_factory.mktemp("killed")
    # the worker must be in the middle of all of them at once
    policy = policy_file(folder, delivery={"handler_concurrency": BATCH})
    settings = settings_for(databases.fresh(), kafka, data=folder / "data")
    tenant = somebody()
    assert len(POINTS) <= BATCH
    async with running(settings) as system:
        names = neighbours(tenant)
        found = {point: Killed(Person(system, next(names), tenant), {}) for point in POINTS}
        for each in found.values():
            await each.person.commit("I prefer green tea. I live in Oslo.")
        await system.settled()
        for each in found.values():
            await each.person.compose("What do I drink?", deadline_ms=20_000)
        await caught_up(kafka)
        await system.stop("erasure")
        for each in found.values():
            each.receipt = await erase(each.person, "all")
        await system.settled()
        patch = pytest.MonkeyPatch()
        patch.setenv("SMARTBRAIN_POLICY", str(policy))
        try:
            with Supervisor(settings, services=("erasure",)) as supervisor:
                with ExitStack() as locks:
                    for point, each in found.items():
                        locks.enter_context(pause_at(each.person, each.receipt, point))
                    await asyncio.to_thread(supervisor.start)
                    await wait_for(lambda: system.number(WAITING) == len(POINTS), "the worker is in every step")
                    supervisor.processes["erasure"].child.kill()
                    await asyncio.to_thread(supervisor.processes["erasure"].child.wait)
                    for each in found.values():
                        seen = await view(each.person, each.receipt)
                        each.status = seen["status"]
                        each.before = {s["step"]: s["done_at"] for s in seen["steps"] if s["done_at"]}
                supervisor.launch("erasure")
                await asyncio.gather(*(completed(each.person, each.receipt) for each in found.values()))
        finally:
            patch.undo()
        await system.settled()
        for stored in await of_tenant(kafka, tenant, ERASURE_STATE.name):
            payload = stored.envelope.payload
            owner = next(e for e in found.values() if e.receipt["tombstone_id"] == payload["tombstone_id"])
            owner.told.append((payload["from"], payload["to"]))
        yield found


@pytest.mark.parametrize("point", POINTS)
async def test_another_worker_continues_after_a_kill_inside_a_step(killed: dict[str, Killed], point: str) -> None:
    case = killed[point]
    names = list(STEPS)
    earlier = [] if point == "begun" else names if point == "completed" else names[: names.index(point)]
    assert case.status == ("queued" if point == "begun" else "processing")
    assert sorted(case.before) == sorted(earlier)
    done = await view(case.person, case.receipt)
    after = {step["step"]: step["done_at"] for step in done["steps"]}
    assert sorted(after) == sorted(names)
    assert {name: after[name] for name in earlier} == case.before
    assert [step["to"] for step in done["history"]] == PASSED
    assert case.told == list(pairwise(PASSED))
    assert [row["kind"] for row in mine(case.person, "audit_events")] == ["erasure.completed"]
    assert done["proof"]["residue"]["rows_left"] == 0
    assert done["proof"]["stores"]["memory_items"] == 2
    assert done["proof"]["stores"]["receipts"] == 2
    for table in ("memory_items", "memory_chunks", "postings", "observations", "injections"):
        assert mine(case.person, table) == [], table
