"""Workers join and leave during a stream of turns: order is preserved, nothing is lost or done twice."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from services.observer import handler as observer
from shared.errors import TransientError
from shared.runtime import Runtime
from tests.system.databases import Databases
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

ROUNDS = 10


@pytest.fixture
async def system(databases: Databases, kafka: str, tmp_path: Path) -> AsyncGenerator[System]:
    """Every service without redrive from state, so that only broker deliveries count."""
    policy = policy_file(tmp_path, delivery={"redrive_after_s": 3600, "retry_delays_ms": [20, 20]})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


def tone(person: Person, value: int) -> dict[str, Any]:
    """A turn that sets one preference to this value."""
    items = [{"type": "preference", "key": "pref:writing:tone", "value": f"tone-{value}"}]
    return {**person.whose, "session_id": "s1", "items": items}


async def commit_rounds(people: list[Person], rounds: range) -> None:
    """Each user has set the preference once a round, in order."""
    for n in rounds:
        answers = await asyncio.gather(*(person.post("/v1/turns", tone(person, n)) for person in people))
        assert {a.status_code for a in answers} == {201}


async def assert_told_once_and_in_order(people: list[Person]) -> None:
    """Each user's memory is one chain of all values in commit order."""
    for person in people:
        found = await person.memories(status="all")
        chain = [(m["version"], m["value"]["value"]) for m in sorted(found, key=lambda m: m["version"])]
        assert chain == [(n + 1, f"tone-{n}") for n in range(ROUNDS)]


async def test_two_alternating_observers_lose_and_duplicate_nothing(system: System) -> None:
    people = [Person(system) for _ in range(30)]
    flow = asyncio.create_task(commit_rounds(people, range(ROUNDS)))
    first = system["observer"]
    await system.start("observer")
    system.running.remove(first)
    await first.stop()
    await flow
    assert await system.settled() == len(people) * ROUNDS
    await assert_told_once_and_in_order(people)


async def test_a_batch_that_fails_during_a_rebalance_is_redelivered(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [Person(system) for _ in range(24)]
    await system.stop("observer")
    await commit_rounds(people, range(1))
    await wait_for(lambda: not system.number("SELECT count(*) FROM event_outbox"), "every turn is in the topic")
    failing, moved = asyncio.Event(), asyncio.Event()
    read_all, attempts = observer._read_all, iter(range(8))

    async def fail_at_first(rt: Runtime, *given: Any) -> Any:
        failing.set()
        await moved.wait()
        if rt is not system["observer"].rt and next(attempts, None) is not None:
            raise TransientError("not yet")
        return await read_all(rt, *given)

    monkeypatch.setattr(observer, "_read_all", fail_at_first)
    await system.start("observer")
    await failing.wait()
    twin = asyncio.create_task(system.start("observer"))
    await wait_for(lambda: both_assigned(system), "both observers have partitions")
    moved.set()
    await twin
    await commit_rounds(people, range(1, ROUNDS))
    assert await system.settled() == len(people) * ROUNDS
    await assert_told_once_and_in_order(people)


def both_assigned(system: System) -> bool:
    """Two observers share the partitions."""
    shares = [each.rt.bus._subscribers[0][2].consumer for each in system.running if each.name == "observer"]
    return len(shares) == 2 and all(consumer and 0 < len(consumer.assignment()) < 12 for consumer in shares)
