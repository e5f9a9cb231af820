"""The answer and the next message show how a package was received, in both languages."""

import asyncio

import orjson
import pytest

from schemas.topics import MEMORY_CHANGED
from shared.client import SmartBrain
from shared.policy import Policy
from tests.system.feedback import TALKS, Talk, answered, composed, counts, events, learnt, of, row, told
from tests.system.kafka import of_tenant
from tests.system.person import UNHURRIED, Json, Person
from tests.system.wait import wait_for

POLICY = Policy().feedback
LANGUAGES = pytest.mark.parametrize("talk", TALKS, ids=["zh", "en"])


@LANGUAGES
async def test_a_used_memory_counts_as_used_and_an_unused_one_as_a_miss(person: Person, talk: Talk) -> None:
    memory_id = await learnt(person, talk)
    before = row(person, memory_id)
    package = await composed(person, talk)
    await answered(person, talk, talk.uses, context_id=package.context_id)
    assert of(memory_id, await events(person)) == [("reply", True, "keyword_match", "neutral")]
    assert counts(person, memory_id) == (1, 0, 0, 0)
    again = await composed(person, talk, session="another")
    await answered(person, talk, talk.ignores, session="another", context_id=again.context_id)
    assert ("reply", False, "none", "neutral") in of(memory_id, await events(person))
    assert counts(person, memory_id) == (2, 0, 0, 1)
    after = row(person, memory_id)
    assert (after["confidence"], after["last_validated_at"]) == (before["confidence"], before["last_validated_at"])
    kept = person.system.rows(
        "SELECT utilized, utilization_signal, cardinality(used_ids) AS used FROM injections"
        " WHERE tenant_id = %(t)s ORDER BY created_at",
        t=person.tenant_id,
    )
    assert [(k["utilized"], k["utilization_signal"], k["used"]) for k in kept] == [
        (True, "keyword_match", 1),
        (False, "none", 0),
    ]


@LANGUAGES
async def test_a_confirmed_answer_raises_the_memories_that_it_used(person: Person, talk: Talk) -> None:
    memory_id = await learnt(person, talk)
    before = row(person, memory_id)
    package = await composed(person, talk)
    await answered(person, talk, talk.uses, context_id=package.context_id)
    await person.say(talk.praise, session="talk")
    assert of(memory_id, await events(person))[-1] == ("message", True, "keyword_match", "positive_confirm")
    assert counts(person, memory_id) == (1, 1, 0, 0)
    after = row(person, memory_id)
    assert after["confidence"] == pytest.approx(before["confidence"] + POLICY.positive_step)
    assert after["last_validated_at"] > before["last_validated_at"]
    changed = await of_tenant(person.system.bootstrap, person.tenant_id, MEMORY_CHANGED.name)
    assert [c.envelope.payload["change"] for c in changed if c.envelope.payload.get("memory_id") == memory_id] == [
        "created",
        "confirmed",
    ]


@LANGUAGES
@pytest.mark.parametrize("said", ["blame", "rejects"])
async def test_a_corrected_or_rejected_answer_lowers_the_memories_that_it_used(
    person: Person, talk: Talk, said: str
) -> None:
    memory_id = await learnt(person, talk)
    before = row(person, memory_id)
    package = await composed(person, talk)
    await answered(person, talk, talk.uses, context_id=package.context_id)
    await person.say(getattr(talk, said), session="talk")
    assert of(memory_id, await events(person))[-1][3] in ("correction", "negative")
    assert counts(person, memory_id) == (1, 0, 1, 0)
    after = row(person, memory_id)
    assert after["confidence"] == pytest.approx(before["confidence"] - POLICY.correction_step)
    assert after["last_validated_at"] == before["last_validated_at"]
    changed = await of_tenant(person.system.bootstrap, person.tenant_id, MEMORY_CHANGED.name)
    assert [c.envelope.payload["change"] for c in changed if c.envelope.payload.get("memory_id") == memory_id] == [
        "created",
        "calibrated",
    ]


@LANGUAGES
async def test_praise_does_not_count_for_a_memory_that_the_answer_did_not_use(person: Person, talk: Talk) -> None:
    memory_id, found = await told(person, talk, talk.ignores, talk.praise)
    assert of(memory_id, found)[-1] == ("message", False, "none", "positive_confirm")
    assert counts(person, memory_id) == (1, 0, 0, 1)


@LANGUAGES
async def test_a_follow_up_indicates_use_and_another_topic_does_not(person: Person, talk: Talk) -> None:
    other = Person(person.system)
    (memory_id, found), (other_id, of_other) = await asyncio.gather(
        told(person, talk, talk.uses, talk.follows), told(other, talk, talk.uses, talk.turns_away)
    )
    assert of(memory_id, found)[-1] == ("message", True, "none", "neutral")
    assert of(other_id, of_other)[-1] == ("message", False, "none", "neutral")
    for who, known in ((person, memory_id), (other, other_id)):
        assert counts(who, known) == (1, 0, 0, 0)


@LANGUAGES
async def test_a_message_that_refers_to_a_memory_cancels_its_miss(person: Person, talk: Talk) -> None:
    memory_id, found = await told(person, talk, talk.ignores, talk.takes_up)
    assert of(memory_id, found)[-1] == ("message", True, "keyword_match", "neutral")
    assert counts(person, memory_id) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("talk", "corrects"),
    [(TALKS[0], "不对，我不再喝龙井茶了，现在喜欢喝咖啡。"), (TALKS[1], "No, I no longer like jasmine tea.")],
    ids=["zh", "en"],
)
async def test_a_correction_of_the_memory_only_takes_the_urgent_path(person: Person, talk: Talk, corrects: str) -> None:
    memory_id, found = await told(person, talk, talk.uses, corrects)
    assert of(memory_id, found) == [("reply", True, "keyword_match", "neutral")]
    assert counts(person, memory_id) == (1, 0, 0, 0)


@LANGUAGES
async def test_a_turn_that_names_no_package_is_judged_by_the_sessions_latest(person: Person, talk: Talk) -> None:
    memory_id = await learnt(person, talk)
    await composed(person, talk)
    await answered(person, talk, talk.uses)
    await person.say(talk.praise, session="talk")
    await events(person)
    assert counts(person, memory_id) == (1, 1, 0, 0)
    await answered(person, talk, talk.uses, asks=talk.praise)
    await events(person)
    assert counts(person, memory_id)[0] == 1, "one package is answered once"


@LANGUAGES
async def test_an_answer_committed_separately_is_judged_once(person: Person, talk: Talk) -> None:
    memory_id = await learnt(person, talk)
    package = await composed(person, talk)
    await person.say(talk.asked, session="talk")
    reply = {**person.whose, "session_id": "talk", "messages": [{"role": "assistant", "content": talk.uses}]}
    answer = await person.post("/v1/turns", {**reply, "context_id": package.context_id})
    await person.outcome(answer.json()["turn_id"])
    for _ in range(2):
        await person.say(talk.praise, session="talk")
    found = of(memory_id, await events(person))
    assert found == [
        ("reply", True, "keyword_match", "neutral"),
        ("message", True, "keyword_match", "positive_confirm"),
    ]
    assert counts(person, memory_id) == (1, 1, 0, 0)


@LANGUAGES
async def test_degraded_results_do_not_count(person: Person, talk: Talk) -> None:
    memory_id = await learnt(person, talk)
    package = await composed(person, talk)
    await person.system.change("UPDATE injections SET degraded = true WHERE context_id = %(c)s", c=package.context_id)
    await answered(person, talk, talk.uses, context_id=package.context_id)
    await person.say(talk.blame, session="talk")
    found = await events(person)
    assert found
    assert all(each["degraded"] for each in found)
    assert counts(person, memory_id) == (0, 0, 0, 0)


@LANGUAGES
async def test_retracted_memories_are_not_judged(person: Person, talk: Talk) -> None:
    memory_id = await learnt(person, talk)
    package = await composed(person, talk)
    await person.system.http.delete(f"/v1/memories/{memory_id}", params=person.whose)

    def gone() -> bool:
        return row(person, memory_id)["status"] == "retracted"

    await wait_for(gone, "the memory is retracted")
    before = row(person, memory_id)
    await answered(person, talk, talk.uses, context_id=package.context_id)
    await person.say(talk.praise, session="talk")
    assert of(memory_id, await events(person))
    assert row(person, memory_id) == before


async def test_nobody_is_judged_by_another_users_package(person: Person) -> None:
    talk, other = TALKS[0], Person(person.system)
    memory_id = await learnt(person, talk)
    package = await composed(person, talk)
    await answered(other, talk, talk.uses, context_id=package.context_id)
    await events(other)
    assert await events(person) == []
    assert counts(person, memory_id) == (0, 0, 0, 0)


async def test_a_package_over_kafka_is_recorded_too(person: Person) -> None:
    talk = TALKS[1]
    memory_id = await learnt(person, talk)
    async with SmartBrain(person.system.bootstrap, tenant_id=person.tenant_id) as client:
        asked = {"user_id": person.user_id, "session_id": "talk", "user_message": talk.asked}
        package = await client.compose(**asked, **UNHURRIED)

    def recorded() -> list[Json]:
        return person.system.rows(
            "SELECT core_ids || evidence_ids AS ids FROM injections WHERE context_id = %(c)s", c=package.context_id
        )

    (found,) = await wait_for(recorded, "the package is recorded") or []
    assert memory_id in orjson.dumps(found["ids"]).decode()
