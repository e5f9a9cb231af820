"""Erasure in the assembled system: data is hidden at once, then deleted with a proof; later statements are learnt."""

import pytest

from tests.system.erasures import completed, erase, found, mine, mine_holds, view
from tests.system.person import Person, shown

pytestmark = pytest.mark.kafka

TOLD = {
    "zh": ("我叫欧阳雪松，我对菠萝蜜过敏。", "欧阳雪松", "菠萝蜜", "我对什么过敏？"),
    "en": (
        "My name is Quillon Barnaby and I am allergic to jackfruit.",
        "Quillon",
        "jackfruit",
        "What am I allergic to?",
    ),
}
LATER = {"zh": ("我喜欢喝乌龙茶。", "乌龙茶"), "en": ("I prefer oolong tea.", "oolong")}


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_everything_is_hidden_at_once_and_then_deleted(person: Person, language: str) -> None:
    said, name, thing, question = TOLD[language]
    await person.say(said, session="s1")
    await person.compose(question, session="s1")
    other = Person(person.system, tenant_id=person.tenant_id)
    await other.say(said, session="s1")
    receipt = await erase(person, "all")
    assert await person.memories() == []
    package = await person.compose(question, session="s1")
    assert thing not in shown(package)
    assert name not in shown(package)
    assert (await person.get("/v1/sessions")).json()["sessions"] == []
    proof = (await completed(person, receipt))["proof"]
    assert proof["residue"]["rows_left"] == 0
    left = set(found(person.system.dsn, name, thing))
    assert all(not mine_holds(person, table, name, thing) for table in left)
    assert thing in " ".join(await other.contents())
    events = mine(person, "conversation_events")
    assert events
    assert all(event["content"] is None and event["tombstone_id"] for event in events)
    assert len(mine(person, "audit_events")) == 1
    later, word = LATER[language]
    await person.say(later, session="s1")
    assert any(word in content for content in await person.contents())


async def test_each_state_is_reached_and_reported(person: Person) -> None:
    await person.say("I prefer green tea.", session="s1")
    done = await completed(person, await erase(person, "all"))
    passed = [(step["from"], step["to"]) for step in done["history"]]
    assert passed == [
        (None, "requested"),
        ("requested", "verified"),
        ("verified", "tombstoned"),
        ("tombstoned", "queued"),
        ("queued", "processing"),
        ("processing", "completed"),
    ]


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_session_is_erased_and_the_others_stay(person: Person, language: str) -> None:
    said, name, thing, question = TOLD[language]
    later, word = LATER[language]
    await person.say(said, session="gone")
    await person.say(later, session="stays")
    await person.compose(question, session="stays")
    await completed(person, await erase(person, "session", session_ids=["gone"]))
    for table in found(person.system.dsn, name, thing):
        assert not mine_holds(person, table, name, thing), table
    assert any(word in content for content in await person.contents())
    assert thing not in shown(await person.compose(question, session="stays"))
    listed = (await person.get("/v1/sessions")).json()["sessions"]
    assert [each["session_id"] for each in listed] == ["stays"]


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_memory_is_erased_with_its_source_words(person: Person, language: str) -> None:
    said, _, thing, question = TOLD[language]
    later, word = LATER[language]
    turn = await person.commit(f"{later} {said}", session="s1")
    await person.outcome(turn["turn_id"])
    ids = [m["memory_id"] for m in await person.memories() if thing in m["content"]]
    assert ids
    await completed(person, await erase(person, "items", memory_ids=ids))
    for table in found(person.system.dsn, thing):
        assert not mine_holds(person, table, thing), table
    assert any(word in content for content in await person.contents())
    assert thing not in shown(await person.compose(question, session="s1"))
    events = mine(person, "conversation_events")
    assert any(event["content"] for event in events)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_memories_are_erased_and_the_log_stays_without_being_learnt_again(person: Person, language: str) -> None:
    said, _, thing, _ = TOLD[language]
    await person.say(said, session="s1")
    await completed(person, await erase(person, "personal"))
    assert await person.memories() == []
    assert thing in str(mine(person, "conversation_events"))
    for table in found(person.system.dsn, thing):
        assert table == "conversation_events" or not mine_holds(person, table, thing), table


@pytest.mark.parametrize(
    ("body", "field", "status"),
    [
        ({"scope": "session"}, "session_ids", 422),
        ({"scope": "all", "memory_ids": ["01a20199-331d-7cc1-890d-118ef5a2a92f"]}, "memory_ids", 422),
        ({"scope": "items", "memory_ids": ["01a20199-331d-7cc1-890d-118ef5a2a92f"]}, "memory_ids.0", 404),
        ({"scope": "session", "session_ids": ["never"]}, "session_ids.0", 404),
        ({"scope": "all", "profile": "NONE"}, "profile", 422),
        ({"scope": "all", "requested_by": "somebody"}, "reason", 422),
        ({"scope": "everything"}, "scope", 422),
    ],
)
async def test_an_invalid_request_names_the_field_and_changes_nothing(
    person: Person, body: dict[str, object], field: str, status: int
) -> None:
    await person.say("I prefer green tea.", session="s1")
    answer = await person.post("/v1/erasures", {**person.whose, **body})
    assert answer.status_code == status, answer.text
    assert answer.json()["details"][0]["field"] == field
    assert await person.contents()
    assert mine(person, "tombstones") == []


async def test_another_users_data_can_be_neither_erased_nor_seen(person: Person) -> None:
    await person.say("I prefer green tea.", session="s1")
    (memory,) = await person.memories()
    receipt = await erase(person, "session", session_ids=["s1"])
    stranger = Person(person.system, tenant_id=person.tenant_id)
    assert (await stranger.get(f"/v1/erasures/{receipt['tombstone_id']}")).status_code == 404
    refused = await stranger.post(
        "/v1/erasures", {**stranger.whose, "scope": "items", "memory_ids": [memory["memory_id"]]}
    )
    assert refused.status_code == 404


async def test_the_same_key_requests_once(person: Person) -> None:
    await person.say("I prefer green tea.", session="s1")
    first = await erase(person, "all", idempotency_key="once")
    second = await erase(person, "all", idempotency_key="once")
    assert first["tombstone_id"] == second["tombstone_id"]
    await completed(person, first)
    assert (await view(person, first))["item_count"] == first["item_count"]
    assert len(mine(person, "tombstones")) == 1
