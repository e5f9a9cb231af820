"""Many turns of several users with an evolver killed among them: memory is sound, and no correction is lost."""

import asyncio
import os
from collections.abc import AsyncGenerator
from itertools import islice

import pytest

from services.cli.supervisor import Supervisor
from shared.settings import Settings
from tests.long import often
from tests.system import conversation, invariants
from tests.system.conversation import Story
from tests.system.load import SOON
from tests.system.person import Person
from tests.system.processes import Machine, supervised
from tests.system.running import policy_file
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

USERS = 3
TURNS = often(600, short=180)


@pytest.fixture
async def machine(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[tuple[Supervisor, Machine]]:
    """A system of processes, killed and started again at will."""
    folder = tmp_path_factory.mktemp("machine")
    monkeypatch.setenv("SMARTBRAIN_POLICY", str(policy_file(folder, delivery=SOON)))
    settings = Settings(data=folder / "data", http_port=0, kafka_bootstrap=os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP"))
    async with supervised(settings) as running:
        yield running


async def told(machine: Machine, user_id: str, turns: int) -> Story:
    """The story of the user, told turn by turn."""
    script = list(islice(conversation.turns(user_id), turns))
    for n, (said, _) in enumerate(script):
        messages = [{"role": "user", "content": said.text}]
        body = {"user_id": user_id, "session_id": f"s{n // 25}", "messages": messages, "idempotency_key": f"{n}"}
        answer = await machine.http.post("/v1/turns", json=body)
        assert answer.status_code == 201, answer.text
    return script[-1][1]


async def test_memory_is_sound_after_evolvers_were_killed_among_corrections(
    machine: tuple[Supervisor, Machine],
) -> None:
    supervisor, running = machine
    users = [f"story-{n}" for n in range(USERS)]
    async with asyncio.timeout(400), asyncio.TaskGroup() as telling:
        stories = [telling.create_task(told(running, user, TURNS // USERS)) for user in users]
        for share in (0.25, 0.5, 0.75):
            goal = share * TURNS
            await wait_for(lambda goal=goal: running.number("SELECT count(*) FROM turns") >= goal, f"{goal} turns")
            supervisor.processes["evolver"].child.kill()
            supervisor.launch("evolver")
    accepted = await running.settled()
    assert len(accepted) == TURNS
    assert {what: many for what, many in invariants.broken(running.dsn).items() if many} == {}
    for user, story in zip(users, stories, strict=True):
        assert len(story.result().expected) > TURNS // USERS // 5
        assert not all(story.result().expected.values()), "nothing was corrected"
        assert invariants.lost(running.dsn, user, story.result().expected) == []


@pytest.mark.parametrize(
    ("said", "corrects", "stays", "ends"),
    [
        (
            ("The sales review is on Tuesday.", "The hiring sync is on Tuesday."),
            "The sales review is on Friday, not Tuesday.",
            ("hiring sync is on Tuesday", "sales review is on Friday"),
            "sales review is on Tuesday",
        ),
        (
            ("产品周会是周三下午三点。", "销售例会是周三下午三点。"),
            "产品周会不是周三下午三点，是周五下午四点。",
            ("销售例会：周三下午三点", "产品周会：周五下午四点"),
            "产品周会：周三下午三点",
        ),
        (
            ("I like folk music.", "I like folk music festivals."),
            "I no longer like folk music.",
            ("likes folk music festivals",),
            "likes folk music",
        ),
        (("我喜欢喝绿茶。", "我喜欢喝绿茶拿铁。"), "我不再喜欢喝绿茶了。", ("喜欢喝绿茶拿铁",), "喜欢喝绿茶"),
    ],
)
async def test_a_correction_leaves_what_merely_has_the_same_words(
    person: Person, said: tuple[str, ...], corrects: str, stays: tuple[str, ...], ends: str
) -> None:
    for text in (*said, corrects):
        await person.say(text)
    known = await person.contents()
    assert set(stays) <= set(known)
    assert ends not in known
