"""Processes die in every way: each acknowledged turn survives and is derived once, and memory is consistent."""

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncGenerator
from itertools import count, islice

import httpx
import pytest

from services.cli.supervisor import STOP_S, Supervisor
from shared.settings import Settings
from tests.long import often
from tests.system import conversation, invariants
from tests.system.conversation import Story
from tests.system.load import SOON, Load, assert_everything_once
from tests.system.processes import Machine, supervised
from tests.system.running import policy_file
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka
KEPT = re.compile(r"^smartbrain_texts_kept (\S+)$", re.MULTILINE)
USERS = 3
TURNS = often(600, short=120)


@pytest.fixture(scope="module")
async def machine(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[tuple[Supervisor, Machine]]:
    """The system of processes that the tests of this module share; each test restarts what it kills."""
    folder = tmp_path_factory.mktemp("machine")
    patch = pytest.MonkeyPatch()
    watchful = {**SOON, "restart_after_s": 1.0, "silent_after_s": 2.0}
    policy = policy_file(folder, delivery=watchful)
    patch.setenv("SMARTBRAIN_POLICY", str(policy))
    kafka = os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP")
    settings = Settings(data=folder / "data", http_port=0, kafka_bootstrap=kafka, policy=policy)
    async with supervised(settings) as running:
        yield running
    patch.undo()


@pytest.mark.parametrize("names", [("observer", "analyzer", "evolver"), ("relay",)])
async def test_a_killed_worker_has_done_everything_once_after_its_restart(
    machine: tuple[Supervisor, Machine], names: tuple[str, ...]
) -> None:
    supervisor, running = machine
    load = Load(running.http)
    await load.reach(30)
    for name in names:
        supervisor.processes[name].child.kill()
    await load.reach(30)
    for name in names:
        supervisor.launch(name)
    await load.reach(30)
    await load.stop()
    await assert_everything_once(running, load)


async def test_a_terminated_worker_ends_in_time_and_loses_nothing(
    machine: tuple[Supervisor, Machine],
) -> None:
    supervisor, running = machine
    load = Load(running.http)
    await load.reach(30)
    for name in ("observer", "analyzer", "evolver", "relay"):
        child = supervisor.processes[name].child
        began = time.monotonic()
        child.terminate()
        assert await asyncio.to_thread(child.wait, STOP_S) in (0, -signal.SIGTERM)
        assert time.monotonic() - began < STOP_S
        supervisor.launch(name)
    await load.reach(30)
    await load.stop()
    await assert_everything_once(running, load)


async def list_problems(running: Machine) -> dict[str, list[str]]:
    """By service, the fault that compose reports."""
    answer = await running.http.get("/ready")
    assert answer.status_code == 200, answer.text
    return answer.json()["whole"]["services"]


async def test_a_hanging_worker_is_detected_and_restarted(machine: tuple[Supervisor, Machine]) -> None:
    supervisor, running = machine

    async def well() -> bool:
        return not any((await list_problems(running)).values())

    async def seen_live() -> bool:
        await asyncio.to_thread(supervisor.mend)
        return supervisor.processes["evolver"].was_live

    await wait_for(well, "every service is seen")
    await wait_for(seen_live, "who watches has seen that it lives: one that starts has more time")
    stopped = supervisor.processes["evolver"]
    os.kill(stopped.child.pid, signal.SIGSTOP)
    load = Load(running.http, users=2)
    await load.reach(4)
    await load.stop()

    async def silent() -> bool:
        return (await list_problems(running))["evolver"] == ["silent"]

    await wait_for(silent, "nothing is heard of it")
    assert (await running.http.get("/ready", params={"whole": "true"})).status_code == 503
    mended: list[str] = []

    async def started_again() -> bool:
        mended.extend(await asyncio.to_thread(supervisor.mend))
        return "evolver" in mended

    await wait_for(started_again, "it is started again")
    assert mended == ["evolver"]
    assert stopped.child.poll() == -signal.SIGKILL
    await wait_for(well, "every service is seen")
    await assert_everything_once(running, load)


async def test_the_live_probe_names_a_stalled_consumer(machine: tuple[Supervisor, Machine]) -> None:
    supervisor, _ = machine
    async with httpx.AsyncClient() as http:
        answers = [await http.get(f"{each.url}/live") for each in supervisor.processes.values()]
    assert {(each.status_code, each.json()["live"], tuple(each.json()["stalled"])) for each in answers} == {
        (200, True, ())
    }


async def test_an_erasure_clears_the_cached_texts_of_every_process(machine: tuple[Supervisor, Machine]) -> None:
    supervisor, running = machine

    async def kept() -> dict[str, float]:
        async with httpx.AsyncClient() as http:
            pages = {name: (await http.get(f"{each.url}/metrics")).text for name, each in supervisor.processes.items()}
        return {name: sum(map(float, KEPT.findall(page))) for name, page in pages.items()}

    whose = {"user_id": "forgets", "session_id": "s1"}
    told = count()

    async def read() -> bool:
        """Commits and asks each time, because an earlier erasure may clear what a process caches."""
        n = next(told)
        for text in (f"My therapist is called Brunhilde {n}.", f"不对，我的心理医生叫布伦希尔德{n}。"):
            turn = {**whose, "messages": [{"role": "user", "content": text}], "idempotency_key": f"{n}-{text}"}
            assert (await running.http.post("/v1/turns", json=turn)).status_code == 201
        await running.settled()
        asked = {**whose, "user_message": "我的医生是谁？"}
        assert (await running.http.post("/v1/context", json=asked)).status_code == 200
        many = await kept()
        return all(many[name] for name in ("compose", "observer", "analyzer", "evolver"))

    await wait_for(read, "each process that reads says so")
    asked = {"user_id": "forgets", "tenant_id": "default", "scope": "all"}
    assert (await running.http.post("/v1/erasures", json=asked)).status_code == 202

    async def forgotten() -> bool:
        return not any((await kept()).values())

    await wait_for(forgotten, "no process keeps any")


async def tell(machine: Machine, user_id: str, turns: int) -> Story:
    """The story of the user, told turn by turn."""
    script = list(islice(conversation.turns(user_id), turns))
    for n, (said, _) in enumerate(script):
        messages = [{"role": "user", "content": said.text}]
        body = {"user_id": user_id, "session_id": f"s{n // 25}", "messages": messages, "idempotency_key": f"{n}"}
        answer = await machine.http.post("/v1/turns", json=body)
        assert answer.status_code == 201, answer.text
    return script[-1][1]


async def test_memory_is_consistent_after_evolvers_were_killed_during_corrections(
    machine: tuple[Supervisor, Machine],
) -> None:
    supervisor, running = machine
    of_stories = "SELECT count(*) FROM turns WHERE user_id LIKE 'story-%%'"
    users = [f"story-{n}" for n in range(USERS)]
    async with asyncio.timeout(400), asyncio.TaskGroup() as telling:
        stories = [telling.create_task(tell(running, user, TURNS // USERS)) for user in users]
        for share in (0.25, 0.5, 0.75):
            goal = share * TURNS
            await wait_for(lambda goal=goal: running.number(of_stories) >= goal, f"{goal} turns")
            supervisor.processes["evolver"].child.kill()
            supervisor.launch("evolver")
    await running.settled()
    assert running.number(of_stories) == TURNS
    assert {what: many for what, many in invariants.broken(running.dsn).items() if many} == {}
    for user, story in zip(users, stories, strict=True):
        assert len(story.result().expected) > TURNS // USERS // 5
        assert not all(story.result().expected.values()), "nothing was corrected"
        assert invariants.lost(running.dsn, user, story.result().expected) == []
