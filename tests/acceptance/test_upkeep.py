"""The effects of time and use on memories, through the whole system and in both languages."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from schemas.context_package import ContextPackage
from schemas.topics import MEMORY_CHANGED
from tests.system.databases import Databases
from tests.system.feedback import TALKS, Talk, answered, composed, counts, events, learnt
from tests.system.kafka import of_tenant
from tests.system.person import Person, shown
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

LANGUAGES = pytest.mark.parametrize("talk", TALKS, ids=["zh", "en"])
SOON = 0.3
"""Seconds between two rounds; the tests observe the evolver's timer."""
WALKS = [
    (("我周末喜欢去西湖边散步", "周末我喜欢去西湖边散步", "我很喜欢周末去西湖边散步"), "周末去哪里散步？", "西湖边"),
    (
        (
            "I like walking along the river at dawn",
            "At dawn I like walking along the river",
            "I really love walking along the river at dawn",
        ),
        "Where do I like walking at dawn?",
        "along the river",
    ),
]


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, with continuous upkeep."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), evolution={"every_s": SOON})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


async def note(person: Person, text: str, session: str, **more: Any) -> None:
    """The user's client knows this."""
    await person.say(session=session, items=[{"type": "note", "text": text, **more}])


async def states(person: Person) -> list[str]:
    """The status of the user's memories, as the API shows them."""
    return sorted(m["status"] for m in await person.memories(status="all"))


def lines(package: ContextPackage, word: str) -> list[str]:
    """The memories of a package that contain this."""
    parts = [*(block.text for block in package.system_blocks), *(e.snippet for e in package.evidence)]
    return [line for part in parts for line in part.splitlines() if word in line]


def core(package: ContextPackage) -> str:
    """The text about them in every package of the user."""
    return "\n".join(block.text for block in package.system_blocks if block.type != "policies")


async def changes(person: Person) -> list[str]:
    """The events of memory.changed about the user's memories, in order."""
    await person.system.settled()
    found = await of_tenant(person.system.bootstrap, person.tenant_id, MEMORY_CHANGED.name)
    return [change for each in found if (change := each.envelope.payload.get("change"))]


@pytest.mark.parametrize(("texts", "asked", "word"), WALKS, ids=["zh", "en"])
async def test_repeated_statements_become_one_memory_and_one_is_shown(
    person: Person, texts: tuple[str, ...], asked: str, word: str
) -> None:
    for n, text in enumerate(texts):
        await note(person, text, f"s{n}")

    async def merged() -> bool:
        return await states(person) == ["active", "merged", "merged", "merged"]

    await wait_for(merged, "three become one")
    (one,) = await person.memories()
    assert one["provenance"]["class"] == "analysis"
    assert one["source_sessions"] == ["s0", "s1", "s2"]
    assert len(one["supersedes"]) == 3
    package = await person.compose(asked, session="later")
    assert len(lines(package, word)) == 1
    assert sorted(await changes(person))[-3:] == ["merged"] * 3


@LANGUAGES
@pytest.mark.parametrize("way", ["said again", "restored"])
async def test_three_rejections_suspend_a_memory_and_a_confirmation_restores_it(
    person: Person, talk: Talk, way: str
) -> None:
    memory_id = await learnt(person, talk)
    for n in range(3):
        package = await composed(person, talk, session=f"talk{n}")
        await answered(person, talk, talk.uses, session=f"talk{n}", context_id=package.context_id)
        await person.say(talk.rejects, session=f"talk{n}")
        await events(person)
    assert counts(person, memory_id)[2] == 3
    silent = await person.compose(talk.asked, session="fresh")
    assert talk.learnt not in shown(silent)
    assert memory_id not in {e.ref.memory_item_id for e in silent.evidence}
    (fused,) = [m for m in await person.memories() if m["memory_id"] == memory_id]
    assert fused["confidence"] <= 0.1
    assert fused["fused_at"]
    assert "fused" in await changes(person)
    if way == "restored":
        answer = await person.system.http.post(f"/v1/memories/{memory_id}/restore", params=person.whose)
        assert answer.status_code == 202, answer.text
        await person.outcome(answer.json()["turn_id"])
    else:
        await person.say(session="again", items=[{"type": "note", "text": talk.learnt, "confirmed": True}])
    back = await person.compose(talk.asked, session="fresh")
    assert talk.learnt in shown(back)
    (lifted,) = [m for m in await person.memories() if m["memory_id"] == memory_id]
    assert lifted["confidence"] >= 0.8
    assert lifted["fused_at"] is None
    assert counts(person, memory_id)[2] == 0


@LANGUAGES
async def test_a_memory_with_an_end_date_ends_after_that_day(person: Person, talk: Talk) -> None:
    memory_id = await learnt(person, talk)
    await person.system.change(
        "UPDATE memory_items SET valid_until = now() + interval '1 second' WHERE memory_id = %(id)s", id=memory_id
    )

    async def expired() -> bool:
        return await states(person) == ["expired"]

    await wait_for(expired, "the memory expires")
    seen = (await person.get(f"/v1/memories/{memory_id}")).json()
    assert seen["invalid_at"] == seen["valid_until"]
    assert talk.word not in shown(await person.compose(talk.asked, session="fresh"))


@pytest.mark.parametrize(
    ("said", "asked", "word"),
    [
        ("我喜欢简短的回答。", "帮我写一个冒泡排序的程序。", "简短"),
        ("I prefer short answers.", "Write a bubble sort program in Rust for my homework.", "short"),
    ],
    ids=["zh", "en"],
)
async def test_an_outdated_memory_leaves_core_memory_until_it_is_stated_again(
    person: Person, said: str, asked: str, word: str
) -> None:
    await person.say(said, session="before")
    assert word in core(await person.compose(asked, session="a"))
    await person.system.change(
        "UPDATE memory_items SET last_validated_at = now() - interval '200 days', updated_at = now()"
        " WHERE tenant_id = %(t)s",
        t=person.tenant_id,
    )

    async def outdated() -> bool:
        return any(m["epistemic_type"] == "outdated" for m in await person.memories())

    await wait_for(outdated, "it is outdated")
    assert word not in core(await person.compose(asked, session="b"))
    await person.say(said, session="after")
    assert word in core(await person.compose(asked, session="c"))


async def test_an_operator_runs_a_round_and_sees_its_effects(person: Person, tmp_path: Path) -> None:
    memory_id = await learnt(person, TALKS[0])
    before = person.system.number("SELECT count(*) FROM upkeep WHERE tenant_id = %(t)s", t=person.tenant_id)
    await person.system.change(
        "UPDATE memory_items SET injection_count = 5, correction_count = 2 WHERE memory_id = %(id)s", id=memory_id
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("SMARTBRAIN_")} | {
        "SMARTBRAIN_DATABASE_URL": person.system.dsn,
        "SMARTBRAIN_KAFKA_BOOTSTRAP": person.system.bootstrap,
        "SMARTBRAIN_DATA": str(tmp_path),
    }
    whose = ("--user", person.user_id, "--tenant", person.tenant_id, "--json")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.cli", "upkeep", *whose, "--now", env=env, stdout=-1, stderr=-1
    )
    answer, problems = await process.communicate()
    assert process.returncode == 0, problems.decode()
    told = json.loads(answer)
    assert told["due"]
    recorded = person.system.rows("SELECT job FROM upkeep WHERE tenant_id = %(t)s", t=person.tenant_id)[before:]
    assert [each["job"] for each in recorded] == ["calibration"]
    # the timer may have run first; either way each effect occurred once
    assert [each["job"] for each in told["done"]] in (["calibration"], [])
