"""Sessions end by a turn, over HTTP and by command; their data stays, and they reopen."""

import asyncio
import json
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from services.cli import app
from shared.domain.turns import MAX_NAME
from tests.system.person import Json, Person
from tests.system.running import listening
from tests.system.wait import wait_for

TALK = {
    "zh": (
        ("我们决定用 PostgreSQL 做主存储。", "李明在杭州，李明负责迁移。"),
        "PostgreSQL",
        "李明",
        "我们决定先上苏州。",
        "苏州",
        "此次对话提到: ",
    ),
    "en": (
        ("We decided to use PostgreSQL for the ledger.", "Marta called from Oslo; Marta will migrate the data."),
        "PostgreSQL",
        "Marta",
        "We decided to launch in Norway first.",
        "Norway",
        "Named in this conversation: ",
    ),
}
languages = pytest.mark.parametrize("language", TALK)


async def archive(person: Person, session: str = "s1", expected: int = 202) -> Json:
    """The response to ending the session."""
    answer = await person.system.http.post(f"/v1/sessions/{session}/archive", params=person.whose)
    assert answer.status_code == expected, answer.text
    return answer.json()


async def session(person: Person, name: str = "s1") -> Json:
    """The session as it is shown."""
    answer = await person.get(f"/v1/sessions/{name}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def archived(person: Person, name: str = "s1", blocks: int = 1) -> Json:
    """The session, once it is archived with this many blocks."""

    async def over() -> Json | None:
        seen = await session(person, name)
        return seen if seen["state"] == "archived" and len(seen["blocks"]) == blocks else None

    return await wait_for(over, "the session is archived") or {}


def turns(person: Person, name: str = "s1") -> int:
    """The number of turns of the session."""
    statement = "SELECT count(*) FROM turns WHERE user_id = %(u)s AND session_id = %(s)s"
    return person.system.number(statement, u=person.user_id, s=name)


@languages
async def test_an_archived_session_has_a_summary_block_and_its_names(person: Person, language: str) -> None:
    said, decided, named, *_ = TALK[language]
    for text in said:
        await person.say(text)
    open_now = await session(person)
    assert (open_now["state"], open_now["blocks"], open_now["turns"]) == ("open", [], 2)
    assert named in [slot["name"] for slot in open_now["entity_slots"]], "kept current while the session goes on"
    receipt = await archive(person)
    await person.outcome(receipt["turn_id"])
    seen = await archived(person)
    assert (seen["archived_at"], seen["turns"]) == (receipt["archived_at"], 3)
    assert (seen["summary"]["reason"], seen["summary"]["source_to_seq"]) == ("session_end", 3)
    (block,) = seen["blocks"]
    assert (block["from_seq"], block["to_seq"], block["text"]) == (1, 3, seen["summary"]["text"])
    assert decided in block["text"]
    (slot,) = [slot for slot in seen["entity_slots"] if slot["name"] == named]
    counted = person.system.number(
        "SELECT count(*) FROM entity_mentions JOIN entities USING (tenant_id, user_id, entity_id)"
        " WHERE user_id = %(u)s AND name = %(n)s",
        u=person.user_id,
        n=named,
    )
    assert (slot["kind"], slot["mentions"], slot["last_seq"]) == ("person", counted, 2)


@languages
async def test_ending_again_returns_the_same_receipt_and_creates_no_second_turn(person: Person, language: str) -> None:
    await person.say(TALK[language][0][0])
    first, *others = await asyncio.gather(*(archive(person) for _ in range(4)))
    assert {each["receipt_id"] for each in others} == {first["receipt_id"]}
    seen = await archived(person)
    again = await archive(person)
    assert (again["turn_id"], again["archived_at"]) == (first["turn_id"], first["archived_at"])
    assert (again["state"], again["summary_version"]) == ("archived", seen["summary"]["version"])
    assert turns(person) == 2
    ends = await person.commit(end_session=True)
    assert (await person.outcome(ends["turn_id"]))["summary"]["triggered"] is False
    assert len((await session(person))["blocks"]) == 1, "nothing was said since"


@languages
async def test_the_next_turn_reopens_the_session_and_its_new_part_gets_its_own_block(
    person: Person, language: str
) -> None:
    said, decided, named, later, place, label = TALK[language]
    for text in said:
        await person.say(text)
    await archive(person)
    before = (await archived(person))["summary"]["text"]
    package = await person.compose(later, session="s1")
    assert package.working_summary == before
    (line,) = [block.text for block in package.system_blocks if block.type == "other"]
    assert line.startswith(label)
    assert named in line
    outcome = await person.say(later, end_session=True)
    assert outcome["summary"]["reason"] == "session_end"
    first, second = (await archived(person, blocks=2))["blocks"]
    assert (first["from_seq"], first["to_seq"]) == (1, 3)
    assert (second["from_seq"], second["to_seq"]) == (4, 4)
    assert place in second["text"]
    assert decided not in second["text"]
    whole = (await session(person))["summary"]["text"]
    assert decided in whole
    assert place in whole
    await person.say(said[0])
    assert (await session(person))["state"] == "open"
    assert (await session(person))["archived_at"] is None


async def test_an_unknown_session_or_one_of_another_user_is_not_found(person: Person) -> None:
    await person.say("I like tea.")
    stranger = Person(person.system, tenant_id=person.tenant_id)
    for who, name in ((person, "s9"), (stranger, "s1")):
        assert (await archive(who, name, 404))["code"] == "not_found"
        assert (await who.get(f"/v1/sessions/{name}")).status_code == 404
    assert (await stranger.get("/v1/sessions")).json() == {"sessions": []}
    assert turns(person) == 1


async def test_the_end_is_in_the_log_and_a_session_of_any_name_can_end(person: Person) -> None:
    name = "对话-" * 40
    assert MAX_NAME < len(name) <= 128
    await person.say("我喜欢喝龙井茶。", session=name)
    receipt = await archive(person, name)
    assert (await archive(person, name))["turn_id"] == receipt["turn_id"]
    seen = (await person.get(f"/v1/turns/{receipt['turn_id']}")).json()
    assert [(each["event_type"], each["content"]) for each in seen["events"]] == [("session_end", {})]
    assert (await person.outcome(receipt["turn_id"]))["status"] == "ignored"


@pytest.mark.parametrize("name", ["team/2024", "团队/二〇二四/", "/a//b", "a/archive", "s/summary/x", "50%2F"])
async def test_a_session_with_any_id_is_shown_and_ended_over_http_and_by_command(
    person: Person, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    await person.say("We decided to use PostgreSQL for the ledger.", session=name)
    path = quote(name, safe="")
    assert (await session(person, path))["session_id"] == name
    await archive(person, path)
    assert (await archived(person, path))["session_id"] == name
    assert "PostgreSQL" in (await person.get(f"/v1/sessions/{path}/summary")).json()["text"]
    async with listening(person.system) as url:
        monkeypatch.setenv("SMARTBRAIN_URL", url)
        for command in ("show", "archive"):
            words = ["sessions", command, name, "-u", person.user_id, "--tenant", person.tenant_id]
            done = await asyncio.to_thread(CliRunner().invoke, app, words)
            assert (done.exit_code, "archived since" in done.output) == (0, True), done.output
    assert (await person.system.http.delete(f"/v1/sessions/{path}/summary", params=person.whose)).status_code == 204
    assert (await session(person, path))["summary"] is None


async def test_the_command_line_lists_shows_and_ends_sessions(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    await person.say(*TALK["zh"][0], session="第一次")
    await person.say(*TALK["en"][0], session="second")
    whose = ["-u", person.user_id, "--tenant", person.tenant_id]

    async def run(*args: str) -> str:
        done = await asyncio.to_thread(CliRunner().invoke, app, ["sessions", *args, *whose])
        assert done.exit_code == 0, done.output
        return done.stdout

    async with listening(person.system) as url:
        monkeypatch.setenv("SMARTBRAIN_URL", url)
        listed = json.loads(await run("list", "--json"))["sessions"]
        assert [(each["session_id"], each["state"]) for each in listed] == [("second", "open"), ("第一次", "open")]
        told = await run("archive", "第一次")
        assert all(each in told for each in ("receipt ", "archived since", "[block, turns 1-2]", "PostgreSQL", "李明"))
        ended = json.loads(await run("archive", "第一次", "--json"))
        assert ended["receipt"]["state"] == ended["session"]["state"] == "archived"
        assert "archived" in await run("list")
        assert "open, 1 turns" in await run("show", "second")
        missing = await asyncio.to_thread(CliRunner().invoke, app, ["sessions", "show", "nowhere", *whose])
        assert missing.exit_code != 0


@pytest.mark.parametrize(
    ("learnt", "taken_back", "gone", "stays"),
    [
        ("My name is Jon. Marta lives in Oslo.", "Forget that my name is Jon.", "Jon", "Marta"),
        ("我住在上海。李明在杭州。", "我不住上海了，现在住北京。", "上海", "李明"),
    ],
)
async def test_a_retracted_name_no_longer_represents_the_session(
    person: Person, learnt: str, taken_back: str, gone: str, stays: str
) -> None:
    async def names(message: str) -> str:
        package = await person.compose(message, session="s1")
        return "\n".join(block.text for block in package.system_blocks if block.type == "other")

    hello = "Hello again" if learnt.isascii() else "又见面了"
    await person.say(learnt)
    assert gone in await names(hello)
    assert gone not in await names(taken_back), "from the very message on"
    await person.say(taken_back)
    await archive(person)
    seen = await archived(person)
    slots = {slot["name"] for slot in seen["entity_slots"]}
    assert stays in slots
    assert gone not in slots
    assert gone not in await names(hello)
