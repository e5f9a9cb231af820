"""Explanations of packages leave no trace; a stored package can be replayed; uses of a memory are listed."""

import asyncio
from dataclasses import dataclass

import pytest

from tests.system.person import Json, Person
from tests.system.wait import wait_for

EVERYTHING = "SELECT count(*) FROM injections WHERE user_id = %(u)s"


@dataclass(frozen=True)
class Talk:
    """A statement, a question, the expected result, and a later correction."""

    said: tuple[str, ...]
    asked: str
    hit: str
    pending: str
    instead: str
    later: str
    superseded: str


TALKS = (
    Talk(
        ("我喜欢喝茉莉花茶。", "我养了一只叫团子的猫。", "我住在杭州。"),
        "我平时喜欢喝什么茶？我住在哪里？",
        "茉莉花茶",
        "我刚买了一把紫砂茶壶。",
        "我搬家了，现在住在上海。",
        "上海",
        "已不成立",
    ),
    Talk(
        ("I love jasmine tea.", "I have a cat called Biscuit.", "I live in Oslo."),
        "Which tea do I like to drink, and where do I live?",
        "jasmine tea",
        "I just bought a clay teapot.",
        "I moved, I live in Bergen now.",
        "Bergen",
        "no longer holds",
    ),
)
LANGUAGES = pytest.mark.parametrize(("talk", "lang"), [(TALKS[0], "zh"), (TALKS[1], "en")], ids=["zh", "en"])


async def explain_package(person: Person, message: str, *, lang: str = "en", **more: object) -> Json:
    """The explanation of the package for this message."""
    body = {**person.whose, "session_id": "why", "user_message": message, "deadline_ms": 20_000, **more}
    answer = await person.post(f"/v1/explain?lang={lang}", body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@LANGUAGES
async def test_a_message_is_explained_and_nothing_is_recorded(person: Person, talk: Talk, lang: str) -> None:
    await asyncio.gather(*(person.say(text) for text in talk.said))
    told = await explain_package(person, talk.asked, lang=lang)
    assert talk.hit in str(told["messages"])
    assert told["messages"][-1]["content"] == talk.asked
    assert [each["step"] for each in told["steps"]] == ["load", "plan", "search", "rank", "resolve", "package"]
    assert sum(each["took_ms"] for each in told["steps"]) == pytest.approx(told["took_ms"], abs=1.0)
    assert told["planner"]["plan"]["queries"]
    assert {query["index"] for query in told["queries"]} <= set(range(len(told["planner"]["plan"]["queries"])))
    assert {"words", "meaning"} <= {by for query in told["queries"] for by in query["served_by"]}
    found = [each for each in told["candidates"] if talk.hit in each["text"]]
    assert found
    arms = {score["arm"]: score for each in found for score in each["scores"]}
    assert {"words", "vectors", "all"} <= arms.keys()
    assert arms["words"]["score"] > 0
    assert all(each["place"] or (each["dropped"] and each["step"] and each["why"]) for each in told["candidates"])
    sections = {each["section"]: each["used"] for each in told["budget"]["sections"]}
    assert told["budget"]["limit"] == 8192
    assert 0 < told["budget"]["used"] <= sum(sections.values()) < 8192
    assert told["package"].get("debug") is None
    assert person.number(EVERYTHING) == 0
    assert (await person.get("/v1/contexts")).json()["contexts"] == []


@LANGUAGES
async def test_pending_and_ended_statements_are_distinguished(person: Person, talk: Talk, lang: str) -> None:
    await person.say(talk.said[2])
    await person.say(talk.instead)
    await person.say(talk.said[0], session="why")
    told = await explain_package(person, talk.asked, lang=lang)
    assert "carried" in {each["dropped"] for each in told["candidates"]}
    gone = [each for each in told["dropped"] if each["reason"] == "superseded"]
    assert gone
    assert {each["step"] for each in gone} <= {"search", "rank", "resolve"}
    assert any(talk.superseded in each["why"] for each in gone)


async def test_two_policies_are_compared(person: Person) -> None:
    await asyncio.gather(*(person.say(text) for text in TALKS[1].said))
    plain = await explain_package(person, TALKS[1].asked)
    short = await explain_package(
        person, TALKS[1].asked, policy={"compose": {"inject_limit": 0, "reranker": "lexical"}}
    )
    assert TALKS[1].hit in str(plain["messages"])
    assert TALKS[1].hit not in str(short["messages"])
    assert short["policy_version"] != plain["policy_version"]
    assert short["policy"] == {"compose": {"inject_limit": 0, "reranker": "lexical"}}
    assert (plain["rerank"], short["rerank"]) == (False, "lexical")
    after = await explain_package(person, TALKS[1].asked)
    assert after["policy_version"] == plain["policy_version"]


async def test_the_users_settings_apply_unless_the_given_policy_overrides_them(person: Person) -> None:
    await person.say(TALKS[1].said[0])
    answer = await person.system.http.patch("/v1/settings", params=person.whose, json={"inject_limit": 0})
    assert answer.status_code == 200, answer.text
    assert TALKS[1].hit not in str((await explain_package(person, TALKS[1].asked))["messages"])
    above = await explain_package(person, TALKS[1].asked, policy={"compose": {"inject_limit": 5}})
    assert TALKS[1].hit in str(above["messages"])


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"compose": {"evidence_mx": 3}}, "policy.compose.evidence_mx"),
        ({"compose": {"evidence_max": -1}}, "policy.compose.evidence_max"),
        ({"compose": {"sanitize": {}}}, "policy.compose.sanitize"),
        ({"access": {"keys": "never"}}, "policy.access"),
        ({"compose": 3}, "policy.compose"),
    ],
)
async def test_an_override_is_validated_like_the_file(person: Person, policy: Json, field: str) -> None:
    body = {**person.whose, "session_id": "why", "user_message": "hello", "policy": policy}
    answer = await person.post("/v1/explain", body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert answer.json()["details"][0]["field"] == field


@LANGUAGES
async def test_a_stored_package_is_replayed_with_its_changes(person: Person, talk: Talk, lang: str) -> None:
    await asyncio.gather(*(person.say(text) for text in talk.said))
    package = await person.compose(talk.asked, session="asked", inject_limit=9)
    same = (await person.post(f"/v1/contexts/{package.context_id}/replay{_owner_query(person)}&lang={lang}", {})).json()
    assert (same["gone"], same["changed"]) == ([], [])
    assert same["same"] > 0
    await person.say(talk.instead)
    told = (await person.post(f"/v1/contexts/{package.context_id}/replay{_owner_query(person)}&lang={lang}", {})).json()
    differences = [(each["before"]["text"], each["now"]["text"]) for each in told["changed"]]
    now = [each["text"] for each in told["new"]] + [text for _, text in differences]
    assert any(talk.later in text for text in now), told
    assert told["before"]["context_id"] == package.context_id
    assert told["explanation"]["package"]["context_id"] != package.context_id
    assert person.number(EVERYTHING) == 1


async def test_a_package_that_is_not_stored_is_not_replayed(person: Person) -> None:
    unknown = "00000000-0000-7000-8000-000000000000"
    answer = await person.post(f"/v1/contexts/{unknown}/replay{_owner_query(person)}", {})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@LANGUAGES
async def test_uses_of_a_memory_and_their_reception_are_listed(person: Person, talk: Talk, lang: str) -> None:
    await person.say(talk.said[0])
    (known,) = [each for each in await person.memories() if talk.hit in each["content"]]
    package = await person.compose(talk.asked, session="asked")
    await person.commit(
        session="asked",
        messages=[
            {"role": "user", "content": talk.asked},
            {"role": "assistant", "content": f"{known['content']} {talk.hit}"},
        ],
        context_id=package.context_id,
    )

    async def answered() -> list[Json]:
        uses = (await person.get(f"/v1/memories/{known['memory_id']}/uses")).json()["uses"]
        return [each for each in uses if each["turn_id"]]

    (use,) = await wait_for(answered, f"the package is received, {lang}")
    assert use["context_id"] == package.context_id
    assert use["message"] == talk.asked
    assert use["slot"] in ("core", "evidence")
    assert use["used"] is True
    unknown = await person.get(f"/v1/memories/{package.context_id}/uses")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")


def _owner_query(person: Person) -> str:
    return f"?tenant_id={person.tenant_id}&user_id={person.user_id}"
