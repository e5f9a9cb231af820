"""Secrets are stored nowhere, and events without text contain none."""

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
"""Topics whose events contain ids and no quotes."""
WORD = "zanzibar"


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str) -> AsyncGenerator[System]:
    """Every service, on a database that contains only the text of this file."""
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


PASSWORD = {"zh": "mangguo#7731", "en": "Tango*Foxtrot8"}
TOKEN = {"zh": "AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPL9", "en": "glpat-Zx81kQ9vTm3LpW7RbN5s"}
SAID = {"zh": "我的密码改成了 {}，别告诉别人", "en": "I changed it, {} is my password now"}
DICTATED = {"zh": "记住：门禁密码是 {}", "en": "remember that the wifi password is {}"}


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_no_field_of_a_turn_accepts_a_secret(system: System, person: Person, language: str) -> None:
    password, token = PASSWORD[language], TOKEN[language]
    said, dictated = SAID[language].format(password), DICTATED[language].format(password)
    code = 739_155
    result = await person.commit(
        messages=[
            {**user(said), "name": token, "model": token},
            user(dictated),
            {"role": "assistant", "content": f"OK: {said}"},
            {"role": "tool", "content": f"token={token}"},
            {"role": "system", "content": said},
            user(f"/remember {dictated}"),
        ],
        tool_calls=[
            {"name": token, "call_id": token, "args": {token: 1, "pin": code, "passwords": [password]}},
            {"name": "env", "args": {"list": [{"name": "DB_PASSWORD", "value": password}]}, "result": [said, dictated]},
        ],
        refs=[
            {
                "ref_type": "url",
                "ref_uri": f"https://x:{password}@host.example/a",
                "title": said,
                "meta": {"api_key": token},
            }
        ],
        items=[
            {"type": "note", "key": token, "text": said},
            {"type": "profile", "key": "user.name", "value": {"password": password, "note": said}},
        ],
    )
    redacted = {each["field"] for each in result["redacted"]}
    assert {"messages.0.name", "messages.0.model", "tool_calls.0.name", "tool_calls.0.call_id"} <= redacted
    assert {"tool_calls.0.args.pin", "tool_calls.0.args.passwords.0", "refs.0.meta.api_key"} <= redacted
    assert not any(password in field or token in field for field in redacted)
    await person.outcome(result["turn_id"])
    await person.say(SAID[language].format(password), session="s2")
    body = orjson.dumps(person.turn(said, session="s3", tool_calls=[{"name": "t", "args": {"otp": code}}]))
    await publish(system.bootstrap, [Stored(TURN_COMMIT.name, key=b"k", value=body)])
    await caught_up(system.bootstrap)
    await system.settled()
    for table, found in texts(system.dsn).items():
        for secret in (password, token, str(code)):
            assert secret not in found, f"{secret} in {table}"


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_dictated_memory_or_name_with_a_secret_is_refused_with_its_field(
    system: System, person: Person, language: str
) -> None:
    dictated = DICTATED[language].format(PASSWORD[language])
    answer = await person.post("/v1/memories", {**person.whose, "text": dictated})
    assert (answer.status_code, answer.json()["code"]) == (422, "secret_refused")
    for field in ("session_id", "idempotency_key"):
        answer = await person.post("/v1/turns", {**person.turn("hello"), field: TOKEN[language]})
        assert (answer.status_code, answer.json()["code"]) == (422, "secret_refused")
        assert answer.json()["details"][0]["field"] == field
        assert TOKEN[language] not in answer.text
    body = orjson.dumps(person.turn("hello", session=TOKEN[language]))
    await publish(system.bootstrap, [Stored(TURN_COMMIT.name, key=b"k", value=body)])
    await caught_up(system.bootstrap)
    assert all(TOKEN[language] not in found for found in texts(system.dsn).values())


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_a_secret_dictated_in_chat_is_refused(person: Person, language: str) -> None:
    beside = {"zh": "我喜欢喝乌龙茶。", "en": "I prefer oolong tea."}[language]
    mark = {"zh": "。", "en": ". "}[language]
    outcome = await person.say(f"{DICTATED[language].format(PASSWORD[language])}{mark}{beside}")
    assert [text for text in await person.contents() if "SECRET" in text] == []
    assert len(await person.contents()) == 1
    refused = [each for each in outcome["retention_explain"] if each.get("decision") == "refused"]
    assert [each["reason"] for each in refused] == ["secret"]


async def test_events_contain_ids_and_no_quotes(system: System, person: Person) -> None:
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
