"""Queries about erased data get clear answers, and remaining rows contain nothing of it."""

from typing import Any

import pytest

from tests.system.erasures import completed, erase, mine
from tests.system.person import Json, Person

TOLD = {
    "zh": ("我对菠萝蜜过敏。", "我喜欢喝乌龙茶。", "我对什么过敏？喜欢喝什么？", "已被删除。"),
    "en": (
        "I am allergic to jackfruit.",
        "I prefer oolong tea.",
        "What am I allergic to, what do I drink?",
        "It was erased.",
    ),
}


async def compose_and_record(person: Person, question: str, session: str) -> str:
    return (await person.compose(question, session=session, deadline_ms=20_000)).context_id


async def receipts_of(person: Person, context_id: str) -> list[Json]:
    statement = "SELECT user_id, session_id, request_id, details FROM memory_receipts WHERE context_id = %(c)s"
    return person.system.rows(statement, c=context_id)


@pytest.mark.parametrize("language", TOLD)
async def test_a_package_that_was_just_answered_is_covered(person: Person, language: str) -> None:
    said, _, question, _ = TOLD[language]
    await person.say(said, session="s1")
    await person.compose(question)
    assert (await completed(person, await erase(person, "all")))["proof"]["stores"]["receipts"] == 2


@pytest.mark.parametrize("language", TOLD)
@pytest.mark.parametrize("scope", ["all", "personal"])
async def test_packages_and_receipts_of_an_erased_user_become_anonymous_figures(
    person: Person, scope: str, language: str
) -> None:
    said, _, question, _ = TOLD[language]
    done = await person.say(said, session="s1")
    written = [each["memory_id"] for each in done["written"]]
    assert written
    context = await compose_and_record(person, question, "s2")
    assert (await person.get(f"/v1/receipts/{context}", lang=language)).status_code == 200
    assert written[0] in str(await receipts_of(person, context))
    receipt = await erase(person, scope)

    async def answers() -> None:
        for path in (f"/v1/contexts/{context}", f"/v1/contexts/{context}/messages", f"/v1/receipts/{context}"):
            answer = await person.get(path, **({"lang": language} if "receipts" in path else {}))
            assert (answer.status_code, answer.json()["code"]) == (410, "erased"), path
        for each in written:
            assert (await person.get(f"/v1/memories/{each}")).status_code == 404
            assert (await person.get(f"/v1/memories/{each}/history")).status_code == 404
        assert (await person.get("/v1/contexts")).json() == {"contexts": []}

    await answers()
    await completed(person, receipt)
    await answers()
    found = await receipts_of(person, context)
    assert {each["user_id"] for each in found} == {f"erased:{receipt['tombstone_id']}"}
    assert {(each["session_id"], each["request_id"]) for each in found} == {("", None)}
    for each in found:
        assert each["details"]["erased"] is True
        assert "latency_ms" in each["details"] or "decisions_count" in each["details"]
        assert not {"decisions", "candidates"} & each["details"].keys()
        assert not [named for named in (*written, person.user_id) if named in str(each["details"])]
    (package,) = mine(person, "context_packages")
    assert (package["plan"], package["package"]) == (None, None)
    stranger = Person(person.system, tenant_id=person.tenant_id)
    for path in (f"/v1/contexts/{context}", f"/v1/receipts/{context}"):
        assert (await stranger.get(path)).status_code == 404


@pytest.mark.parametrize("language", TOLD)
@pytest.mark.parametrize("scope", ["session", "items"])
async def test_remaining_receipts_contain_nothing_of_erased_data(person: Person, scope: str, language: str) -> None:
    said, other, question, because = TOLD[language]
    gone = await person.commit(said, session="gone")
    gone_ids = [each["memory_id"] for each in (await person.outcome(gone["turn_id"]))["written"]]
    kept = (await person.say(other, session="stays"))["written"][0]["memory_id"]
    context = await compose_and_record(person, question, "stays")
    assert (await person.get(f"/v1/receipts/{context}")).status_code == 200
    before = str(await receipts_of(person, context))
    assert gone_ids[0] in before
    assert kept in before
    named: dict[str, Any] = {"session_ids": ["gone"]} if scope == "session" else {"memory_ids": gone_ids}
    await completed(person, await erase(person, scope, **named))
    after = str(await receipts_of(person, context))
    ids = [*gone_ids, *([gone["turn_id"]] if scope == "session" else [])]
    assert [id for id in ids if id in after] == []
    assert kept in after
    answer = await person.get(f"/v1/receipts/{context}", lang=language)
    assert answer.status_code == 200, answer.text
    assert [id for id in ids if id in answer.text] == []
    assert any(item["id"] == "erased" and item["why"] for item in answer.json()["items"])
    asked = await person.get(f"/v1/receipts/{context}", lang=language, item=gone_ids[0])
    (item,) = asked.json()["items"]
    assert item["decision_reason"] == ("erased" if scope == "items" else "unknown")
    assert scope == "session" or item["why"] == because
    package = await person.get(f"/v1/contexts/{context}")
    assert (package.status_code, package.json()["code"]) == (410, "erased")


async def test_an_erased_turn_is_a_skeleton_with_an_outcome_that_says_so(person: Person) -> None:
    early = await person.commit("I am allergic to jackfruit.", session="s1", idempotency_key="early")
    await person.outcome(early["turn_id"])
    await completed(person, await erase(person, "session", session_ids=["s1"]))
    turn = (await person.get(f"/v1/turns/{early['turn_id']}")).json()
    assert turn["turn_id"] == early["turn_id"]
    assert [event["content"] for event in turn["events"]] == [None]
    outcome = (await person.get(f"/v1/turns/{early['turn_id']}/outcome")).json()
    assert (outcome["state"], outcome["outcome"]["status"]) == ("complete", "erased")
    assert (outcome["outcome"]["written"], outcome["memories"]) == ([], [])
    repeated = await person.post(
        "/v1/turns", person.turn("I am allergic to jackfruit.", session="s1", idempotency_key="early")
    )
    assert (repeated.status_code, repeated.json()["turn_id"]) == (200, early["turn_id"])
    assert await person.contents() == []


async def test_an_unobserved_turn_is_erased_and_has_its_outcome(person: Person) -> None:
    await person.system.stop("observer")
    try:
        turn = await person.commit("I am allergic to jackfruit.", session="s1")
        receipt = await erase(person, "all")
        outcome = (await person.get(f"/v1/turns/{turn['turn_id']}/outcome")).json()
        assert (outcome["state"], outcome["outcome"]["status"]) == ("complete", "erased")
    finally:
        await person.system.start("observer")
    await completed(person, receipt)
    await person.say("I prefer oolong tea.", session="s1")
    assert ["jackfruit" in content for content in await person.contents()] == [False]


async def test_the_effects_of_a_turn_are_gone_when_only_memories_are_erased(person: Person) -> None:
    turn = await person.commit("I am allergic to jackfruit.", session="s1")
    assert (await person.outcome(turn["turn_id"]))["written"]
    await completed(person, await erase(person, "personal"))
    outcome = (await person.get(f"/v1/turns/{turn['turn_id']}/outcome")).json()
    assert outcome["state"] == "complete"
    assert outcome["memories"] == []
    assert "jackfruit" in str((await person.get(f"/v1/turns/{turn['turn_id']}")).json())
