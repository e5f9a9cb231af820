"""A user rates a memory: right, wrong, useless, or never to be mentioned."""

from typing import Any

import pytest

from services.cli.rebuild.run import rebuild
from shared.domain.subjects import Subject
from shared.resolution.summary_lines import find_stale_lines
from shared.store import user_state
from tests.system.person import Json, Person, shown
from tests.system.wait import wait_for

TEAS = pytest.mark.parametrize(
    ("said", "asked", "word", "again"),
    [
        ("I like jasmine tea.", "Which tea do I like?", "jasmine", "By the way, I like jasmine tea."),
        ("我喜欢喝茉莉花茶。", "我喜欢喝什么茶？", "茉莉", "对了，我喜欢喝茉莉花茶。"),
    ],
    ids=["en", "zh"],
)


async def learn(person: Person, text: str) -> str:
    """The only memory from the text."""
    await person.say(text, end_session=True)
    (known,) = await person.memories()
    return known["memory_id"]


async def judge(person: Person, memory_id: str, verdict: str, **more: Any) -> Json:
    """The settled receipt of the verdict."""
    answer = await person.post("/v1/feedback", {**person.whose, "memory_id": memory_id, "verdict": verdict, **more})
    assert answer.status_code == 202, answer.text
    await person.outcome(answer.json()["turn_id"])
    settled = await person.get(f"/v1/writes/{answer.json()['receipt_id']}")
    return {**settled.json(), "first": answer.json()}


async def one(person: Person, memory_id: str) -> Json:
    return (await person.get(f"/v1/memories/{memory_id}")).json()


async def actions(person: Person, memory_id: str) -> list[str]:
    """The kinds of events in the history of the memory, in order."""
    versions = (await person.get(f"/v1/memories/{memory_id}/history")).json()["memories"]
    return [each["action"] for version in versions for each in version["evidence"]]


@TEAS
async def test_a_suppressed_memory_stays_known_and_is_in_no_package(
    person: Person, said: str, asked: str, word: str, again: str
) -> None:
    memory_id = await learn(person, said)
    assert word in shown(await person.compose(asked))
    receipt = await judge(person, memory_id, "never_again")
    assert (receipt["status"], receipt["memory_id"], receipt["settled"]) == ("accepted", memory_id, True)
    assert (receipt["first"]["status"], receipt["first"]["memory_id"]) == ("accepted", memory_id)
    assert word not in shown(await person.compose(asked))
    subject = Subject(person.tenant_id, person.user_id)
    (summed,) = await person.system["compose"].rt.db.read(subject, user_state.load_standing(subject, "s1"))
    assert [line.text for line in summed.lines if word in line.text]
    assert find_stale_lines(summed.lines, summed.ended) >= {line.text for line in summed.lines if word in line.text}
    silenced = await one(person, memory_id)
    assert (silenced["status"], bool(silenced["silenced_at"])) == ("active", True)
    await person.say(again, session="s3")  # repeating the statement does not allow reminders of it
    assert word not in shown(await person.compose(asked, session="s4"))
    assert (await one(person, memory_id))["silenced_at"] == silenced["silenced_at"]
    await judge(person, memory_id, "right")
    assert word in shown(await person.compose(asked, session="s4"))
    shown_again = await one(person, memory_id)
    assert (shown_again["silenced_at"], shown_again["fused_at"]) == (None, None)
    assert "not to be brought up" in await actions(person, memory_id)


async def test_withdrawn_feedback_leaves_the_memory_unchanged(person: Person) -> None:
    memory_id = await learn(person, "I like jasmine tea.")
    before = await one(person, memory_id)
    await judge(person, memory_id, "never_again")
    await judge(person, memory_id, "never_again")
    answer = await person.system.http.delete(f"/v1/feedback/{memory_id}", params=person.whose)
    assert answer.status_code == 202, answer.text
    await person.outcome(answer.json()["turn_id"])
    assert await one(person, memory_id) == before
    assert "jasmine" in shown(await person.compose("Which tea do I like?"))


async def test_a_new_version_of_a_suppressed_memory_is_suppressed(person: Person) -> None:
    memory_id = await learn(person, "I live in Oslo.")
    await judge(person, memory_id, "never_again")
    await person.say("I moved, I live in Rome now.", session="s3")
    (now,) = await person.memories()
    assert "Rome" in now["content"]
    assert now["silenced_at"]
    assert "Rome" not in shown(await person.compose("Where do I live?", session="s4"))


@TEAS
async def test_right_confirms_and_wrong_retracts(person: Person, said: str, asked: str, word: str, again: str) -> None:
    del again
    memory_id = await learn(person, said)
    before = await one(person, memory_id)
    receipt = await judge(person, memory_id, "right")
    assert (receipt["status"], receipt["first"]["status"]) == ("merged", "merged")
    confirmed = await one(person, memory_id)
    assert confirmed["confidence"] > before["confidence"]
    assert confirmed["provenance"]["class"] == "confirmed_by_user"
    await judge(person, memory_id, "wrong")
    assert (await one(person, memory_id))["status"] == "retracted"
    assert word not in shown(await person.compose(asked))
    assert (await actions(person, memory_id))[-2:] == ["confirmed", "retracted"]
    await judge(person, memory_id, "right")
    assert word in shown(await person.compose(asked))


async def test_useless_counts_once_for_each_package(person: Person) -> None:
    memory_id = await learn(person, "I like jasmine tea.")
    package = await person.compose("Which tea do I like?")
    misses = "SELECT miss_count FROM memory_items WHERE memory_id = %(m)s"
    for _ in range(2):
        await judge(person, memory_id, "not_useful", context_id=package.context_id)
    assert person.number(misses, m=memory_id) == 1
    for _ in range(2):
        await judge(person, memory_id, "not_useful", idempotency_key="of my own")
    assert person.number(misses, m=memory_id) == 2
    for _ in range(2):
        await judge(person, memory_id, "not_useful")
    assert person.number(misses, m=memory_id) == 3
    assert (await actions(person, memory_id)).count("of no use") == 3


async def test_feedback_works_over_kafka_and_an_unknown_memory_is_refused(person: Person) -> None:
    stranger = {**person.whose, "memory_id": "0199d3a0-0000-7000-8000-000000000001", "verdict": "wrong"}
    assert (await person.post("/v1/feedback", stranger)).status_code == 404
    memory_id = await learn(person, "I like jasmine tea.")
    item = {"type": "preference", "memory_id": memory_id, "feedback": "never_again"}
    await person.say(session="s5", messages=[], items=[item])
    assert (await one(person, memory_id))["silenced_at"]
    refused = await person.post("/v1/turns", person.turn(items=[{"type": "note", "feedback": "never_again"}]))
    assert refused.status_code == 422


async def test_a_rebuild_from_the_log_includes_explicit_feedback(person: Person) -> None:
    for text in ("I like jasmine tea.", "I live in Oslo.", "My name is Anna.", "I work as a nurse."):
        await person.say(text)
    tea, city, name, job = [
        m["memory_id"]
        for word in ("tea", "Oslo", "Anna", "nurse")
        for m in await person.memories()
        if word in m["content"]
    ]
    for memory_id, verdict in ((tea, "not_useful"), (city, "never_again"), (name, "right"), (job, "wrong")):
        await judge(person, memory_id, verdict)
    await person.say("I moved, I live in Rome now.")
    await judge(person, tea, "never_again")
    await judge(person, tea, "right")
    rt = person.system["compose"].rt
    subject = Subject(person.tenant_id, person.user_id)
    report = await rebuild(person.system.dsn, rt.settings, rt.policy, subject, apply=False, say=lambda *_: None)
    assert list(report.differences) == []


@TEAS
async def test_a_verdict_is_shown_with_its_package(
    person: Person, said: str, asked: str, word: str, again: str
) -> None:
    memory_id = await learn(person, said)
    package = await person.compose(f"{asked} {again}", session="s2")
    context_id = package.context_id
    other = (await person.compose(asked, session="s3")).context_id

    async def recorded() -> bool:
        return len((await person.get(f"/v1/memories/{memory_id}/uses")).json()["uses"]) == 2

    assert await wait_for(recorded, "both packages are recorded")
    for verdict in ("not_useful", "right"):
        await judge(person, memory_id, verdict, context_id=context_id)
    await judge(person, memory_id, "not_useful", context_id=context_id)  # given earlier: `right` was the last verdict
    assert (await person.get(f"/v1/contexts/{context_id}")).json()["verdicts"] == {memory_id: "right"}
    assert (await person.get(f"/v1/contexts/{other}")).json()["verdicts"] == {}
    uses = (await person.get(f"/v1/memories/{memory_id}/uses")).json()["uses"]
    assert {each["context_id"]: each["verdict"] for each in uses} == {context_id: "right", other: None}
    receipt = (await person.get(f"/v1/receipts/{context_id}", item=memory_id)).json()
    assert [each["verdict"] for each in receipt["items"]] == ["right"]
