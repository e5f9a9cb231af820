"""The same conversation, told ten times at different speeds and with interrupted workers, leaves the same memories."""

import asyncio
import random
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from uuid import UUID

import orjson
import pytest

from schemas.topics import TURN_COMMIT
from tests.long import often
from tests.system import conversation
from tests.system.conversation import Part
from tests.system.databases import Databases
from tests.system.kafka import Stored, caught_up, publish
from tests.system.person import Json, Person
from tests.system.running import WORKERS, System, policy_file, running, settings_for

SHARES: tuple[tuple[Part, float], ...] = (
    ("new", 0.4),
    ("again", 0.2),
    ("corrects", 0.2),
    ("denies", 0.1),
    ("chatter", 0.1),
)
FREE = (
    "I drive an old Volvo, and Marta lives in Oslo.",
    "我家的狗叫豆豆，王强下周来看它。",
    "Marta called about the Helios project again.",
    "王强说豆豆长大了。",
    "I drive an old Volvo.",
    "我每周三晚上去游泳。",
)
"""Memories without a key, and names that are stored after the second mention."""
TURNS = often(60, short=34)
BEGAN = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)


@pytest.fixture
async def system(databases: Databases, kafka: str, tmp_path: Path) -> AsyncGenerator[System]:
    """Every service, on its own database."""
    policy = policy_file(tmp_path, delivery={"redrive_after_s": 2.0, "redrive_every_s": 0.5})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


def script(seed: str) -> list[str]:
    """The conversation, in two sessions with half the turns each."""
    told = [said.text for said, _ in islice(conversation.turns(seed, SHARES), TURNS - len(FREE))]
    for n, text in enumerate(FREE):
        told.insert(4 + 5 * n, text)
    return told


def bodies(person: Person, texts: list[str]) -> list[Json]:
    """The turns of one user, with the same times for each user."""
    return [
        person.turn(
            text,
            session="first" if n < TURNS // 2 else "second",
            created_at=(BEGAN + timedelta(minutes=n)).isoformat(),
            idempotency_key=f"{person.user_id}-{n}",
        )
        for n, text in enumerate(texts)
    ]


async def tell(person: Person, texts: list[str], pace: int) -> None:
    """The user commits everything: 0 waits for every outcome, 1 for none, 2 uses Kafka, the others wait at random."""
    dice = random.Random(pace)
    if pace == 2:
        key = f"{person.tenant_id}:{person.user_id}".encode()
        records = [Stored(TURN_COMMIT.name, key=key, value=orjson.dumps(body)) for body in bodies(person, texts)]
        await publish(person.system.bootstrap, records)
        return
    for body in bodies(person, texts):
        answer = await person.post("/v1/turns", body)
        assert answer.status_code == 201, answer.text
        if pace == 0 or (pace > 2 and dice.random() < 0.1):
            await person.outcome(answer.json()["turn_id"])
        elif pace > 2:
            await asyncio.sleep(dice.random() / 20)


def list_versions(person: Person) -> list[Json]:
    """All versions of all memories, with positions in the conversation in place of ids."""
    whose = {"t": person.tenant_id, "u": person.user_id}
    found = person.system.rows("SELECT turn_id, session_id, seq FROM turns WHERE user_id = %(u)s", **whose)
    turns = {row["turn_id"]: f"{row['session_id']}/{row['seq']}" for row in found}
    memories = person.system.rows(
        "SELECT * FROM memory_items WHERE tenant_id = %(t)s AND user_id = %(u)s ORDER BY memory_id", **whose
    )
    places = {
        row["memory_id"]: f"{turns[row['source_turn_id']]} {row['provenance'].get('ordinal')}"
        f" {row['provenance'].get('span')} {row['type']} {row['key']} {row['content_text']}"
        for row in memories
    }
    assert len(set(places.values())) == len(places)
    return sorted((_strip_ids(row, turns, places) for row in memories), key=lambda row: row["memory_id"])


_OWN = {"tenant_id", "user_id", "created_at", "updated_at"}


def _strip_ids(row: Json, turns: Json, places: Json) -> Json:
    plain = {name: value for name, value in row.items() if name not in _OWN}
    for name in ("memory_id", "root_id", "superseded_by"):
        plain[name] = places.get(row[name])
    plain["supersedes"] = [places[old] for old in row["supersedes"]]
    plain["source_turn_id"] = turns[row["source_turn_id"]]
    plain["source_turns"] = [turns[each] for each in row["source_turns"]]
    origin = {name: value for name, value in row["provenance"].items() if name not in {"observation_id", "turn_id"}}
    if "amended" in origin:
        origin["amended"] = places[UUID(origin["amended"])]
    return {**plain, "provenance": origin}


@pytest.mark.parametrize("seed", ["first", "二"])
async def test_ten_users_with_the_same_conversation_have_the_same_memories(system: System, seed: str) -> None:
    people = [Person(system) for _ in range(often(10, short=4))]
    texts = script(seed)
    async with asyncio.timeout(400), asyncio.TaskGroup() as telling:
        for pace, person in enumerate(people):
            telling.create_task(tell(person, texts, pace))
        for names in (WORKERS, ("evolver",), ("observer", "evolver"), ("analyzer",)):
            await asyncio.sleep(0.4)
            await system.stop(*names)
            await asyncio.sleep(0.2)
            await system.start(*names)
    await caught_up(system.bootstrap)
    assert await system.settled() == TURNS * len(people)
    first, *others = [list_versions(person) for person in people]
    # the seed decides whether a denial ends all of a memory or part of it
    assert {row["status"] for row in first} >= {"active", "superseded"}
    for other in others:
        assert other == first
