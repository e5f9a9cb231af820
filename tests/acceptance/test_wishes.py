"""A wish not to be remembered applies to the message, the session or the user until it is lifted."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.turn_events import TurnEvents
from services.compose.intake.commit import commit_turn
from tests.system.erasures import completed, erase
from tests.system.person import Json, Person, shown, user

pytestmark = pytest.mark.kafka


def reasons(outcome: Json) -> set[str]:
    """The reason why a part of the turn was dropped."""
    return {each["reason"] for each in outcome["retention_explain"]}


def held(person: Person, words: str) -> list[str]:
    """Every table but the log that contains the words."""
    tables = ("observations", "memory_items", "memory_chunks", "session_summaries", "entity_mentions", "model_answers")
    count = "SELECT count(*) FROM {} t WHERE user_id = %(u)s AND t::text ILIKE %(w)s"
    return [name for name in tables if person.system.number(count.format(name), u=person.user_id, w=f"%{words}%")]


@pytest.mark.parametrize(
    ("text", "words", "answer"),
    [
        ("Please don't save this: I'm getting divorced.", "divorc", "I am sorry about the divorce."),
        ("这件事不要记下来：我要离婚了。", "离婚", "离婚不容易，注意身体。"),
    ],
)
async def test_nothing_is_learnt_from_the_message(person: Person, text: str, words: str, answer: str) -> None:
    said = {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]}
    outcome = await person.say(**said)
    assert outcome["status"] == "ignored"
    assert reasons(outcome) == {"wish:message"}
    late = await person.say(messages=[{"role": "assistant", "content": answer}])
    assert reasons(late) == {"wish:message"}
    await person.say("I like jasmine tea.", end_session=True)
    assert not held(person, words)
    assert await person.contents() == ["I like jasmine tea"]
    log = "SELECT count(*) FROM conversation_events WHERE user_id = %(u)s AND content::text ILIKE %(w)s"
    assert person.system.number(log, u=person.user_id, w=f"%{words}%") == 3


@pytest.mark.parametrize(
    ("wish", "lift", "before", "silent", "after"),
    [
        ("不要记住这个会话", "可以记住这个会话了", "我住在苏州。", "我喜欢喝茉莉花茶。", "我喜欢爬山。"),
        (
            "Please don't record this conversation.",
            "You may remember this conversation.",
            "I live in Oslo.",
            "I love jasmine tea.",
            "I love hiking.",
        ),
    ],
)
async def test_nothing_is_learnt_from_the_session_until_the_wish_is_lifted(
    person: Person, wish: str, lift: str, before: str, silent: str, after: str
) -> None:
    await person.say(before)
    assert reasons(await person.say(wish)) == {"wish:session"}
    assert reasons(await person.say(silent)) == {"wish:session"}
    known = len(await person.memories())
    assert known == 1
    await person.say(silent, session="another")
    assert len(await person.memories()) == known + 1
    await person.say(lift)
    await person.say(after)
    assert len(await person.memories()) == known + 2


async def test_nothing_is_learnt_in_any_session_until_the_users_wish_is_lifted(person: Person) -> None:
    assert reasons(await person.say("以后不要记录我的信息。")) == {"wish:settings"}
    assert reasons(await person.say("I live in Oslo.", session="s2")) == {"wish:settings"}
    assert reasons(await person.say("我对花生过敏。", session="s3")) == {"wish:settings"}
    assert await person.memories() == []
    package = await person.compose("Where do I live?", session="s4")
    assert "Oslo" not in shown(package)
    await person.say("You can remember me again.", session="s3")
    await person.say("我对虾过敏。", session="s2")
    assert await person.contents() == ["我对虾过敏"]


async def test_a_memory_can_be_retracted_while_nothing_is_learnt(person: Person) -> None:
    await person.say("I live in Oslo.")
    await person.say("From now on, don't remember anything I tell you.")
    await person.say("Forget that I live in Oslo. I moved to Bergen.")
    assert await person.memories() == []


async def test_the_caller_can_exclude_a_turn(person: Person) -> None:
    result = await person.commit("I live in Oslo.", remember=False)
    assert result["remember"] is False
    assert result["deferred"] == []
    assert reasons(await person.outcome(result["turn_id"])) == {"wish:caller"}
    assert await person.memories() == []
    refused = await person.post("/v1/turns", person.turn("hi", remember="perhaps"))
    assert refused.status_code == 422
    assert refused.json()["details"][0]["field"] == "remember"


async def test_ordinary_sentences_about_saving_are_no_wishes(person: Person) -> None:
    await person.say("Don't save the file yet, I live in Oslo.")
    await person.say("别记错了，我对花生过敏。")
    assert len(await person.memories()) == 2


async def test_policy_can_exclude_the_words_from_the_log(person: Person) -> None:
    rt = person.system["compose"].rt
    observer = rt.policy.observer.model_copy(update={"log_withheld": False})
    forgetful = replace(rt, policy=rt.policy.model_copy(update={"observer": observer}))

    async def say(*texts: str, **more: Any) -> set[str]:
        turn = TurnEvents.model_validate(person.turn(*texts, **more))
        committed = await commit_turn(turn, forgetful, transport="http")
        return reasons(await person.outcome(str(committed.result.turn_id)))

    said = [
        user("Please don't save this because I'm getting divorced."),
        {"role": "assistant", "content": "A divorce?"},
    ]
    tool = {"name": "court", "args": {"about": "divorce"}, "result": "divorce filed"}
    ref = {"ref_type": "url", "ref_uri": "https://example.com/divorce"}
    assert await say(messages=said, tool_calls=[tool], refs=[ref]) == {"wish:message"}
    assert await say("不要记住这个会话。我要离婚了。", session="s2") == {"wish:session"}
    assert await say("离婚手续很麻烦。", session="s2") == {"wish:session"}
    assert await say("I will divorce.", remember=False) == {"wish:caller"}
    await say("I live in Oslo.")
    log = "SELECT count(*) FROM conversation_events WHERE user_id = %(u)s AND content::text ~* %(w)s"
    assert person.system.number(log, u=person.user_id, w="divorc|离婚") == 0
    assert person.system.number(log, u=person.user_id, w="save this|这个会话|Oslo") == 3
    assert len(await person.memories()) == 1


async def test_a_wish_survives_an_erasure_of_memories_and_not_one_of_everything(person: Person) -> None:
    await person.say("I live in Oslo.")
    assert reasons(await person.say("以后不要记录我的信息。")) == {"wish:settings"}
    standing = "SELECT count(*) FROM user_settings WHERE user_id = %(u)s AND chosen ->> 'learning' = 'false'"
    await completed(person, await erase(person, "personal"))
    assert person.system.number(standing, u=person.user_id) == 1
    assert reasons(await person.say("I live in Oslo.")) == {"wish:settings"}
    await completed(person, await erase(person, "all"))
    assert person.system.number(standing, u=person.user_id) == 0


async def test_another_user_is_remembered_and_sees_no_wish(person: Person) -> None:
    other = Person(person.system, tenant_id=person.tenant_id)
    await person.say("以后不要记录我的信息。")
    await other.say("I live in Oslo.")
    assert len(await other.memories()) == 1


async def test_the_receipt_of_a_dictation_says_that_it_was_rejected(person: Person) -> None:
    await person.say("以后不要记录我的信息。")
    asked = {**person.whose, "session_id": "s1", "text": "停车位是 B2-117"}
    for _ in range(2):
        receipt = (await person.post("/v1/memories", asked)).json()
        assert (receipt["status"], receipt["reason"], receipt["memory_id"]) == ("rejected", "wish:settings", None)
        await person.outcome(receipt["turn_id"])
        later = (await person.get(f"/v1/writes/{receipt['receipt_id']}")).json()
        assert (later["status"], later["reason"], later["settled"]) == ("rejected", "wish:settings", True)


@pytest.mark.parametrize(
    ("before", "silent", "after"),
    [
        ("I live in Oslo.", "I love jasmine tea.", "I love hiking."),
        ("我住在苏州。", "我喜欢喝茉莉花茶。", "我喜欢爬山。"),
    ],
)
async def test_an_application_decides_whether_a_session_is_remembered(
    person: Person, before: str, silent: str, after: str
) -> None:
    async def change(*, remembered: bool) -> Json:
        address = "/v1/sessions/s1"
        answer = await person.system.http.patch(address, params=person.whose, json={"remembered": remembered})
        assert answer.status_code == 202, answer.text
        return answer.json()

    early = await person.commit(before)
    await change(remembered=False)  # messages before the wish are learnt, although no worker has read them yet
    await person.outcome(early["turn_id"])
    assert reasons(await person.say(silent)) == {"wish:session"}
    assert (await person.get("/v1/sessions/s1")).json()["remembered"] is False
    assert len(await person.memories()) == 1
    since = await change(remembered=True)
    assert (await person.outcome(since["turn_id"]))["status"] == "ignored"
    await person.say(after)
    assert len(await person.memories()) == 2
    assert (await person.get("/v1/sessions/s1")).json()["remembered"] is True


async def test_a_session_can_start_unremembered_and_redelivery_changes_nothing(person: Person) -> None:
    more = {"messages": [], "session_remembered": False, "idempotency_key": "quiet please"}
    first = await person.commit(session="quiet", **more)
    assert reasons(await person.say("I live in Oslo.", session="quiet")) == {"wish:session"}
    lifted = await person.system.http.patch("/v1/sessions/quiet", params=person.whose, json={"remembered": True})
    assert lifted.status_code == 202
    assert (await person.commit(session="quiet", **more))["turn_id"] == first["turn_id"]
    await person.say("I love hiking.", session="quiet")
    assert await person.contents() == ["I love hiking"]
