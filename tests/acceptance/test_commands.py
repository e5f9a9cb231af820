"""Commands of a user are carried out and answered in the user's language; numbers refer to the list last shown."""

import orjson
import pytest

from schemas.topics import TURN_COMMIT
from tests.system.erasures import completed, erase
from tests.system.kafka import Stored, publish
from tests.system.person import Json, Person, shown
from tests.system.wait import wait_for

LANGUAGES = pytest.mark.parametrize(
    ("tea", "home", "note", "asked", "word", "done"),
    [
        ("I like jasmine tea.", "I live in Oslo.", "/remember my locker is 42", "Which tea?", "jasmine", "Forgotten"),
        ("我喜欢喝茉莉花茶。", "我住在苏州。", "记住：我的储物柜是42号", "我喝什么茶？", "茉莉", "已忘掉"),
    ],
    ids=["en", "zh"],
)


async def command(person: Person, text: str, **more: str) -> Json:
    """The reply to the command in a committed turn that has its outcome."""
    result = await person.commit(text, **more)
    await person.outcome(result["turn_id"])
    return result["reply"]


async def run(person: Person, text: str, **more: str) -> Json:
    """The reply to the command without a turn."""
    answer = await person.post("/v1/commands", {**person.whose, "session_id": "s1", "text": text, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def number_of(reply: Json, word: str) -> int:
    return next(each["number"] for each in reply["items"] if word in each["text"])


@LANGUAGES
async def test_memories_are_listed_searched_and_forgotten_by_number(
    person: Person, tea: str, home: str, note: str, asked: str, word: str, done: str
) -> None:
    await person.say(tea)
    await person.say(home)
    kept = await command(person, note)
    assert (kept["command"], kept["done"]) == ("remember", True)
    assert "42" in kept["text"]
    listed = await command(person, "/memory")
    assert {each["kind"] for each in listed["items"]} == {"fact", "note"}
    assert word in listed["text"]
    found = await command(person, f"/memory search {asked}")
    assert word in found["text"]
    assert "42" not in found["text"]
    number = number_of(listed, word)
    before = len(await person.memories())
    forgotten = await command(person, f"/forget fact {number}")
    assert forgotten["done"]
    assert forgotten["text"].startswith(done)
    assert word in forgotten["text"]
    assert len(await person.memories()) == before - 1
    assert word not in shown(await person.compose(asked))
    again = await command(person, f"/del fact {number}")
    assert (again["done"], again["reason"]) == (False, "gone")
    assert len(await person.memories()) == before - 1
    assert word not in (await command(person, "/mem"))["text"]


async def test_a_number_always_means_the_memory_that_was_shown(person: Person) -> None:
    assert (await command(person, "/forget fact 1"))["reason"] == "no_list"
    await person.say("I live in Oslo.")
    await person.say("I like jasmine tea.")
    listed = await run(person, "/memory")
    oslo = number_of(listed, "Oslo")
    assert (await command(person, "/forget fact 9"))["reason"] == "no_such_number"
    await person.say("I moved, I live in Rome now.")
    await person.say("I like hiking.")
    changed = await command(person, f"/forget fact {oslo}")
    assert (changed["done"], changed["reason"]) == (False, "changed")
    assert "Rome" in changed["text"]
    assert len(await person.memories()) == 3
    assert (await command(person, f"/forget fact {oslo}", session="other"))["reason"] == "no_list"
    tea = number_of(listed, "jasmine")
    assert (await command(person, f"/forget fact {tea}"))["done"]
    assert not [each for each in await person.contents() if "jasmine" in each]
    (hiking,) = [each for each in await person.memories() if "hiking" in each["content"]]
    assert (await command(person, f"/forget {hiking['memory_id']}"))["done"]
    assert len(await person.memories()) == 1


async def test_a_redelivered_command_forgets_nothing_more(person: Person) -> None:
    for text in ("I live in Oslo.", "I like jasmine tea.", "I like hiking."):
        await person.say(text)
    await run(person, "/memory")
    body = person.turn("/forget fact 1", idempotency_key="forget the first")
    first = (await person.post("/v1/turns", body)).json()
    await person.outcome(first["turn_id"])
    await run(person, "/memory")  # number 1 is now another memory
    again = (await person.post("/v1/turns", body)).json()
    assert (again["turn_id"], again["reply"]) == (first["turn_id"], first["reply"])
    assert again["reply"]["done"]
    by_hand = [await run(person, "/forget fact 1", idempotency_key="by hand") for _ in range(2)]
    assert by_hand[0] == by_hand[1]
    await person.say("Hello!", session="later")

    async def one_is_left() -> bool:
        return len(await person.memories()) == 1

    await wait_for(one_is_left, "what was forgotten is gone")
    assert "Oslo" in str(await person.memories())


@pytest.mark.parametrize(
    ("said", "none", "cleared"),
    [
        ("Let us plan the trip to Rome in May.", "no summary", "cleared"),
        ("我们来计划五月去罗马的旅行。", "没有摘要", "清空"),
    ],
)
async def test_the_summary_is_shown_and_cleared(person: Person, said: str, none: str, cleared: str) -> None:
    await person.say(said, end_session=True)
    summary = await command(person, "/summary")
    assert "Rome" in summary["text"] or "罗马" in summary["text"]
    assert cleared in (await command(person, "/sum clear"))["text"]
    empty = await command(person, "/summary")
    assert none in empty["text"].replace("还没有摘要", "没有摘要")
    assert (await person.get("/v1/sessions/s1/summary")).status_code == 404
    await person.say("We decided to use PostgreSQL.", end_session=True)
    later = await person.get("/v1/sessions/s1/summary")
    assert "PostgreSQL" in later.json()["text"]
    assert not [word for word in ("Rome", "罗马") if word in later.text]


async def test_commands_are_not_remembered_and_not_composed(person: Person) -> None:
    await person.say("I like jasmine tea.")
    outcome = await person.outcome((await person.commit("/memory search tea"))["turn_id"])
    assert outcome["status"] == "ignored"
    (note,) = [each for each in outcome["retention_explain"] if each.get("command")]
    assert (note["reason"], note["command"], note["done"]) == ("command", "memory", True)
    package = await person.compose("/memory search tea", session="s1")
    assert not package.evidence
    assert [turn.content for turn in package.recent_turns] == ["I like jasmine tea."]
    assert "/memory" not in shown(await person.compose("What did I search for? memory search", session="s9"))
    assert await person.contents() == ["I like jasmine tea"]


async def test_help_unknown_commands_and_refusals_are_answered(person: Person) -> None:
    for alias in ("/mem", "/sum", "/del"):
        assert alias in (await run(person, "/help"))["text"]
    unknown = await command(person, "/shrug well. I like jasmine tea.")
    assert (unknown["command"], unknown["done"]) == ("unknown", False)
    assert "/shrug" in unknown["text"]
    assert await person.contents() == ["I like jasmine tea"]  # it was classified as a question
    ordinary = await run(person, "I like coffee.")
    assert (ordinary["command"], ordinary["done"]) == ("unknown", False)
    assert (await person.commit("I like /etc/hosts more."))["reply"] is None
    secret = await command(person, "/remember my password is hunter2hunter2")
    assert (secret["command"], secret["done"]) == ("remember", False)
    assert "password" in secret["text"]
    await person.say("以后不要记录我的信息。")
    silent = await command(person, "/记住 我喜欢喝咖啡")
    assert (silent["done"], silent["language"]) == (False, "zh")
    assert "不要记录" in silent["text"]


async def test_a_command_over_kafka_does_the_same_and_its_outcome_says_so(person: Person) -> None:
    await person.say("I live in Oslo.")
    await run(person, "/memory")
    body = person.turn("/forget fact 1", idempotency_key="over kafka")
    record = Stored(TURN_COMMIT.name, key=f"{person.tenant_id}:{person.user_id}".encode(), value=orjson.dumps(body))
    await publish(person.system.bootstrap, [record, record])
    of_key = "FROM turns WHERE user_id = %(u)s AND idempotency_key = 'over kafka' AND outcome_at IS NOT NULL"
    await wait_for(lambda: person.number(f"SELECT count(*) {of_key}"), "the command has its outcome")
    assert await person.contents() == []
    told = f"SELECT count(*) {of_key} AND outcome @> %(told)s::jsonb"
    note = {"retention_explain": [{"reason": "command", "command": "forget", "done": True, "number": 1}]}
    assert person.number(told, told=orjson.dumps(note).decode()) == 1


async def test_an_erasure_removes_the_numbers_and_the_effects_of_a_command(person: Person) -> None:
    await person.say("I live in Oslo.")
    await person.say("I like jasmine tea.")
    await run(person, "/memory")
    assert (await command(person, "/forget fact 1", session="s1"))["done"]
    await completed(person, await erase(person, "session", session_ids=["s1"]))
    assert person.number("SELECT count(*) FROM shown_lists WHERE user_id = %(u)s") == 0
    assert person.number("SELECT count(*) FROM turns WHERE user_id = %(u)s AND result ? 'command'") == 0
    assert (await command(person, "/forget fact 1"))["reason"] == "no_list"


async def test_the_chosen_language_and_declined_learning_apply_to_commands(person: Person) -> None:
    assert (await run(person, "/help"))["language"] == "en"
    chosen = {"language": "zh", "learning": False}
    answer = await person.system.http.patch("/v1/settings", params=person.whose, json=chosen)
    assert answer.status_code == 200, answer.text
    assert (await run(person, "/help"))["language"] == "zh"
    declined = await command(person, "/remember my locker is 42")
    assert (declined["done"], declined["language"]) == (False, "zh")
    assert "不要记录" in declined["text"]
