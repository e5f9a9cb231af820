"""What must not be kept is kept nowhere, and events without text carry none."""

from collections.abc import AsyncGenerator

import orjson
import pytest

from schemas.topics import COMPOSE_REPLY, COMPOSE_REQUEST, TOPICS, TURN_COMMIT
from tests.system.databases import Databases, texts
from tests.system.kafka import Stored, caught_up, publish, read
from tests.system.person import Person, user
from tests.system.running import System, running, settings_for

SECRETS = ("sk-demo4f9a8c7b6d5e4f3a2b1c0d9e", "Tulip7342moon", "ghp_16C7e42F292c6912E7710c838347Ae178B4a")
SILENT = [name for t in TOPICS if not t.carries_text for name in (t.name, t.dead_letter)]
"""Topics whose events name things and quote nobody."""
WORD = "zanzibar"


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str) -> AsyncGenerator[System]:
    """Every service, on a database that holds nothing but what is said here."""
    async with running(settings_for(databases.fresh(), kafka)) as all_services:
        yield all_services


async def test_a_secret_is_in_no_table_and_in_no_topic_but_the_inbound_ones(system: System, person: Person) -> None:
    api_key, password, token = SECRETS
    said = [
        f"My API key is {api_key}, keep it safe.",
        f"我的密码是 {password}，别告诉别人。",
        f"Please remember: the token is {token}",
        f"我喜欢喝茶。密码：{password}",
    ]
    result = await person.commit(
        *said,
        tool_calls=[{"name": "login", "args": {"password": password}, "result": {"stdout": f"token={token}"}}],
        refs=[{"ref_type": "url", "ref_uri": f"https://x.example/?api_key={api_key}", "title": f"key {api_key}"}],
        items=[{"type": "note", "text": f"password: {password}"}, {"type": "note", "value": {"api_key": api_key}}],
    )
    assert {"messages.0.content", "messages.1.content"} <= {each["field"] for each in result["redacted"]}
    await person.outcome(result["turn_id"])
    body = orjson.dumps({**person.turn(said[1]), "tool_calls": [{"name": "t", "result": said[0]}]})
    await publish(system.bootstrap, [Stored(TURN_COMMIT.name, key=b"k", value=body)])
    await person.compose(f"Is my password {password}?", session="s1")
    await caught_up(system.bootstrap)
    await system.settled()
    for table, found in texts(system.dsn).items():
        for secret in SECRETS:
            assert secret not in found, f"{secret} in {table}"
    inbound = (TURN_COMMIT.name, TURN_COMMIT.dead_letter, COMPOSE_REQUEST.name, COMPOSE_REPLY.name)
    others = [name for t in TOPICS for name in (t.name, t.dead_letter) if name not in inbound]
    for record in await read(system.bootstrap, *others):
        for secret in SECRETS:
            assert secret.encode() not in (record.value or b""), f"{secret} in {record.topic}"
    learnt = str(await person.memories(status="all"))
    assert all(secret not in learnt for secret in SECRETS)


async def test_events_name_things_and_quote_nobody(system: System, person: Person) -> None:
    await person.say(f"I like {WORD} tea, I live in {WORD}, and I work for {WORD} corp.")
    await person.say(f"不对，我喜欢{WORD}咖啡，不是茶。")
    await person.say(f"我们决定用 {WORD} 做主存储。")
    await person.commit(
        items=[{"type": "preference", "key": "pref:writing:tone", "value": WORD}],
        messages=[{**user(f"{WORD}?"), "name": WORD}],
        refs=[{"ref_type": "file", "ref_uri": f"/{WORD}.md"}],
        tool_calls=[{"name": WORD, "args": {WORD: WORD}, "result": WORD}],
    )
    await caught_up(system.bootstrap)
    await system.settled()
    assert any(WORD in content for content in await person.contents())
    for record in await read(system.bootstrap, *SILENT):
        assert WORD.encode() not in (record.value or b"").lower(), record
