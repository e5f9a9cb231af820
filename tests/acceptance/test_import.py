"""Another user imports an export: the same is known, and the same question gets the same package."""

import asyncio
from typing import Any

import pytest

from services.cli.rebuild.run import rebuild
from services.compose.manage import importing
from shared.domain.subjects import Subject
from shared.errors import TransientError
from tests.system.erasures import completed, erase
from tests.system.person import Json, Person
from tests.system.wait import wait_for

WEEK = pytest.mark.parametrize(
    ("said", "moved", "note", "question"),
    [
        (
            "I live in Oslo and I am allergic to peanuts.",
            "I live in Rome now.",
            "/remember the boat is called Nightjar",
            "What is my boat called, and where do I live?",
        ),
        (
            "我住在上海，我对花生过敏。",
            "我搬家了，现在住在北京。",
            "记住：小船的名字叫夜莺",
            "我的小船叫什么名字？我住在哪里？",
        ),
    ],
    ids=["en", "zh"],
)


async def export(person: Person) -> Json:
    """All data of the user."""
    answer = await person.get("/v1/export")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def take_in(person: Person, document: Json) -> Json:
    """The settled receipt of the import."""
    answer = await person.system.http.post("/v1/import", params=person.whose, json=document)
    assert answer.status_code == 202, answer.text
    if answer.json()["turn_id"]:
        await person.outcome(answer.json()["turn_id"])
        waiting = "SELECT count(*) FROM turns WHERE user_id = %(u)s AND outcome_at IS NULL"
        await wait_for(lambda: person.number(waiting) == 0, "every turn has its outcome")
    return answer.json()


def strip_document(document: Json) -> Json:
    """What two exports of the same data share: everything but the user's name and when and how it was created."""
    memories = [
        {**each, "evidence": [], "provenance": {k: v for k, v in each["provenance"].items() if k != "import"}}
        for each in document["memories"]
    ]
    when = ("committed_at",)
    turns = [{k: v for k, v in each.items() if k not in when} for each in document["turns"]]
    fixed = [{k: v for k, v in each.items() if k != "created_at"} for each in memories]
    return {"memories": fixed, "turns": turns, "sessions": document["sessions"]}


@WEEK
async def test_the_same_question_gets_the_same_package_after_an_import(
    person: Person, said: str, moved: str, note: str, question: str
) -> None:
    await person.say(said, session="monday")
    await person.say(moved, session="tuesday")
    await person.say(note, session="tuesday")
    pinned = (await person.memories())[0]
    answer = await person.system.http.put(f"/v1/memories/{pinned['memory_id']}/pin", params=person.whose)
    await person.outcome(answer.json()["turn_id"])
    document = await export(person)
    other = Person(person.system)
    receipt = await take_in(other, document)
    counts = document["counts"]
    assert receipt["memories"] == {"written": counts["memories"], "known": 0, "erased": 0}
    assert receipt["turns"]["written"] == counts["turns"]
    assert strip_document(await export(other)) == strip_document(document)
    for session, parts in (("tuesday", ("core", "turns")), ("friday", ("core", "evidence"))):
        mine, theirs = [strip_package(await each.compose(question, session=session)) for each in (person, other)]
        assert mine == theirs
        assert all(mine[part] for part in parts)
    assert created_by(document) == created_by(await export(other)) != []
    rt, subject = other.system["compose"].rt, Subject(other.tenant_id, other.user_id)
    report = await rebuild(other.system.dsn, rt.settings, rt.policy, subject, apply=False, say=lambda *_: None)
    assert [*report.differences] == []
    again = await take_in(other, document)
    assert again["turn_id"] is None
    assert again["memories"] == {"written": 0, "known": counts["memories"], "erased": 0}
    assert strip_document(await export(other)) == strip_document(document)


def created_by(document: Json) -> list[str]:
    """The source words of each version."""
    return [
        each["quote"] for memory in document["memories"] for each in memory["evidence"] if each["action"] == "created"
    ]


def strip_package(package: Any) -> Json:
    """The package without the fields that differ each time."""
    return {
        "core": [block.source.memory_item_id for block in package.system_blocks if block.source],
        "evidence": [(each.source_uri, each.score) for each in package.evidence],
        "summary": package.working_summary,
        "turns": [(each.role, each.content) for each in package.recent_turns],
    }


@pytest.mark.parametrize("with_turns", [True, False])
async def test_the_same_document_sent_twice_concurrently_is_written_once(person: Person, with_turns: bool) -> None:
    await person.say("I live in Oslo.")
    document = await export(person)
    if not with_turns:
        counts = {**document["counts"], "turns": 0, "sessions": 0}
        document = {**document, "turns": [], "sessions": [], "counts": counts}
    other = Person(person.system)
    sent = [other.system.http.post("/v1/import", params=other.whose, json=document) for _ in range(2)]
    receipts = [answer.json() for answer in await asyncio.gather(*sent)]
    assert sorted(each["memories"]["written"] for each in receipts) == [0, 1], receipts
    assert sorted(each["memories"]["known"] for each in receipts) == [0, 1], receipts
    (turn_id,) = [each["turn_id"] for each in receipts if each["turn_id"]]
    await other.outcome(turn_id)
    assert [each["content"] for each in await other.memories()] == [each["content"] for each in document["memories"]]


async def test_one_invalid_field_prevents_the_whole_import(person: Person) -> None:
    await person.say("I live in Oslo.")
    document = await export(person)
    other = Person(person.system)

    async def refusal(changed: Json) -> tuple[int, str]:
        answer = await other.system.http.post("/v1/import", params=other.whose, json=changed)
        return answer.status_code, answer.json()["details"][0]["field"]

    memories = document["memories"]
    wrong = {**memories[-1], "confidence": 7}
    assert await refusal({**document, "memories": [*memories[:-1], wrong]}) == (
        422,
        f"memories.{len(memories) - 1}.confidence",
    )
    assert await refusal({**document, "version": 9}) == (422, "version")
    lost = {**memories[-1], "provenance": {"span": "everywhere"}}
    assert await refusal({**document, "memories": [*memories[:-1], lost]}) == (
        409,
        f"memories.{len(memories) - 1}.provenance.span",
    )
    mute = {**document["turns"][0], "events": [{**document["turns"][0]["events"][0], "content": {}}]}
    assert await refusal({**document, "turns": [mute]}) == (409, "turns.0.events.0.content.text")
    cut = {name: value for name, value in document.items() if name != "counts"}
    assert await refusal(cut) == (422, "counts")
    assert await refusal({**document, "turns": []}) == (409, "counts.turns")
    assert (await export(other))["counts"] == dict.fromkeys(document["counts"], 0)


async def test_a_secret_is_blanked_and_erased_data_does_not_return(person: Person) -> None:
    await person.say("I live in Oslo.")
    await person.say("/remember the boat is called Nightjar")
    document = await export(person)
    secret = "sk-proj-abcdefghijklmnopqrstuvwx0123456789"
    other = Person(person.system)
    boat = next(each for each in document["memories"] if "Nightjar" in each["content"] and each["type"] == "note")
    boat["content"] = f"the boat is called Nightjar {secret}"
    document["turns"][0]["events"][0]["content"]["text"] = f"I live in Oslo. {secret}"
    receipt = await take_in(other, document)
    assert {each["field"] for each in receipt["redacted"]} >= {"turns.0.events.0.content.text"}
    assert secret not in str(await export(other))
    (known,) = [each for each in await other.memories() if "Nightjar" in each["content"]]
    answer = await other.system.http.request(
        "delete", "/v1/memories", params=other.whose, json={"memory_ids": [known["memory_id"]]}
    )
    assert answer.status_code == 202, answer.text
    gone = "SELECT count(*) FROM tombstones WHERE user_id = %(u)s AND status = 'completed'"
    await wait_for(lambda: other.number(gone) == 1, "the erasure is proved")
    left = await take_in(other, document)
    assert left["memories"]["erased"] >= 1
    assert not any("Nightjar" in each for each in await other.contents(status="all"))
    assert "Nightjar" not in str(await export(other))


async def test_an_interrupted_import_leaves_nothing_and_can_be_repeated(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await person.say("I live in Oslo.")
    document, other = await export(person), Person(person.system)

    async def break_off(*_: object) -> None:
        raise TransientError("the process was killed here")

    with monkeypatch.context() as broken:
        broken.setattr(importing.importing, "announce", break_off)
        answer = await other.system.http.post("/v1/import", params=other.whose, json=document)
    assert answer.status_code == 503
    assert (await export(other))["counts"] == dict.fromkeys(document["counts"], 0)
    assert (await take_in(other, document))["memories"]["written"] == document["counts"]["memories"]


async def test_existing_memories_stay_and_the_newer_of_two_holds(person: Person) -> None:
    other = Person(person.system)
    await other.say("I live in Oslo.")
    await person.say("I live in Rome.")
    await take_in(other, await export(person))
    (now,) = await other.memories(type="profile")
    assert "Rome" in now["content"]
    assert now["assertion"] != "directive"
    await other.say("I live in Bergen now.")
    await take_in(person, await export(other))
    assert ["Bergen" in each for each in await person.contents(type="profile")] == [True]


async def test_imported_data_is_erased_with_its_session(person: Person) -> None:
    await person.say("/remember the boat is called Nightjar", session="one")
    await person.say("/remember the mast is brown", session="two")
    document, other = await export(person), Person(person.system)
    document["turns"] = [each for each in document["turns"] if each["session_id"] == "one"]
    document["counts"]["turns"] = 1
    await take_in(other, document)
    assert len(await other.contents()) == 2
    for session in ("one", "import"):
        await completed(other, await erase(other, "session", session_ids=[session]))
    assert await other.contents(status="all") == []
    assert "Nightjar" not in str(await export(other))
