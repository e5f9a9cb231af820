"""Redelivery of any event, at once or much later, changes nothing."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiokafka.errors import KafkaError

from schemas.topics import AHEAD, TURN_COMMIT
from tests.ollama.server import ScriptedOllama
from tests.system.databases import Databases
from tests.system.erasures import completed, erase
from tests.system.kafka import GROUPS, Stored, caught_up, publish, read
from tests.system.person import Person
from tests.system.rest import at_rest, find_changes
from tests.system.running import WORKERS, System, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka

STORY = (
    "我叫林晓，我喜欢喝咖啡。",
    "I prefer dark mode.",
    "不对，我喜欢喝茶，不是咖啡。",
    "我们决定用 PostgreSQL 做主存储。",
    "Remember that my locker is number 42.",
    "你好！",
    "I live in Hangzhou and Marta lives in Oslo.",
)
ASKED = "Do I prefer dark mode or light mode?"


def says_it_again(body: dict[str, Any]) -> str:
    """A goal in the words of each user message; for a summary, no change."""
    data = orjson.loads(body["messages"][1]["content"].split("<data>")[1].split("</data>")[0])
    said = [message["text"] for message in data.get("turn", ()) if message["role"] == "user"]
    told = {"class": "shown", "type": "goal", "truth": "fact", "confidence": 0.6}
    return orjson.dumps({"items": [{**told, "quote": text, "content": text} for text in said]}).decode()


@pytest.fixture
async def system(databases: Databases, kafka: str, ollama: ScriptedOllama, tmp_path: Path) -> AsyncGenerator[System]:
    """Every service without redrive and upkeep, so that only broker deliveries count."""
    ollama.reset()
    ollama.answer = says_it_again
    policy = policy_file(tmp_path, delivery={"redrive_after_s": 3600}, evolution={"every_s": 3600})
    models = {"ollama_url": ollama.url, "embedding_dimension": 64}
    async with running(settings_for(databases.fresh(), kafka, policy=policy, **models)) as all_services:
        yield all_services


async def tell(system: System, people: int = 4) -> list[Person]:
    """These users have told their story, half of them over the topic, and everything is derived."""
    told = [Person(system) for _ in range(people)]
    for n, text in enumerate(STORY):
        await asyncio.gather(*(person.commit(text) for person in told[::2]))
        over_topic = [{**p.turn(text), "idempotency_key": f"{p.user_id}-{n}"} for p in told[1::2]]
        records = [
            Stored(TURN_COMMIT.name, key=f"{b['tenant_id']}:{b['user_id']}".encode(), value=orjson.dumps(b))
            for b in over_topic
        ]
        await publish(system.bootstrap, records)
    await caught_up(system.bootstrap)
    await system.settled()  # the relay may still hold events for the evolver
    for person in told:
        package = await person.compose(ASKED, session="s2")
        await system.settled()  # an answer is judged by the rows of its package, which are written shortly after it
        answer = {"role": "assistant", "content": "You prefer dark mode, so try a dark theme."}
        body = {**person.turn(ASKED, session="s2"), "context_id": package.context_id}
        await person.post("/v1/turns", {**body, "messages": [*body["messages"], answer]})
    await caught_up(system.bootstrap)
    assert await system.settled() == people * (len(STORY) + 1)
    await govern(told[0], Person(system))
    await say_by_hand(told[0])
    await told[0].say("I used to like milk.", session="gone")
    await completed(told[0], await erase(told[0], "session", session_ids=["gone"]))
    return told


async def govern(person: Person, other: Person) -> None:
    """The user has pinned one memory and merged two, and another user has imported everything."""
    one, two, three = [each["memory_id"] for each in await person.memories()][:3]
    http, whose = person.system.http, person.whose
    done = [
        await http.put(f"/v1/memories/{one}/pin", params=whose),
        await http.post("/v1/memories/merge", params=whose, json={"keep": two, "others": [three]}),
    ]
    for answer in done:
        await person.outcome(answer.json()["turn_id"])
    await at_rest(person.system)
    document = (await person.get("/v1/export")).json()
    taken = await http.post("/v1/import", params=other.whose, json=document)
    await other.outcome(taken.json()["turn_id"])
    known = sorted(await person.contents())

    async def all_are_there() -> bool:
        return sorted(await other.contents()) == known

    await wait_for(all_are_there, "what was taken in is known")


async def say_by_hand(person: Person) -> None:
    """One fact is forgotten by number, one is useless, one suppressed; one session is not remembered."""
    listed = (await person.commit("/memory"))["reply"]["items"]
    tea, city, store = (
        next(each for each in listed if word in each["text"]) for word in ("喝茶", "Hangzhou", "Postgre")
    )
    await person.say(f"/forget {store['kind']} {store['number']}")
    for named, verdict in ((tea, "not_useful"), (city, "never_again"), (city, "right"), (city, "never_again")):
        said = {**person.whose, "memory_id": named["memory_id"], "verdict": verdict}
        await person.outcome((await person.post("/v1/feedback", said)).json()["turn_id"])
    quiet = {"messages": [], "session_remembered": False}
    await person.say(session="quiet", **quiet)
    await person.say("I like milk.", session="quiet")


async def test_every_redelivered_event_changes_nothing(system: System) -> None:
    keys = {f"{person.tenant_id}:{person.user_id}".encode() for person in await tell(system)}
    before = await at_rest(system)
    assert before["memory_items"]
    everything = [record for record in await read(system.bootstrap, *GROUPS) if record.key in keys]
    ahead = {topic.name for topic in AHEAD.values()}  # no flood protection
    assert {record.topic for record in everything} == set(GROUPS) - ahead
    await publish(system.bootstrap, [again for record in everything for again in (record, record)])
    await publish(system.bootstrap, reversed(everything))
    assert find_changes(before, await at_rest(system)) == {}


def commits_fail(system: System, *names: str) -> None:
    """The workers' effects are durable and their acknowledgements lost, as after a kill between the two."""

    async def refuse(*_: Any, **__: Any) -> None:
        raise KafkaError("the worker died here")

    for name in names:
        for _, _, subscriber in system[name].rt.bus._subscribers:
            subscriber.consumer.commit = refuse


async def test_a_worker_killed_before_its_acknowledgement_has_done_everything_once(system: System) -> None:
    await caught_up(system.bootstrap)
    commits_fail(system, *WORKERS)
    people = [Person(system) for _ in range(3)]
    for text in STORY:
        receipts = await asyncio.gather(*(person.commit(text) for person in people))
        await asyncio.gather(*(p.thought(r["turn_id"]) for p, r in zip(people, receipts, strict=True)))
    assert await system.settled() == len(people) * len(STORY)
    await say_by_hand(people[0])
    await system.settled()
    before = await at_rest(system, acknowledged=False)
    await system.stop(*WORKERS)
    await system.start(*WORKERS)
    assert find_changes(before, await at_rest(system)) == {}


async def test_a_turn_committed_again_after_a_lost_response_is_one_turn(system: System) -> None:
    person = Person(system)
    body = person.turn("I prefer oolong tea.", idempotency_key="once")
    answers = await asyncio.gather(*(person.post("/v1/turns", body) for _ in range(20)))
    assert sorted(a.status_code for a in answers) == [200] * 19 + [201]
    assert len({a.text for a in answers}) == 1
    assert await system.settled() == 1
    assert len(await person.memories()) == 1
