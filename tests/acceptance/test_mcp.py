"""Agents use memory over MCP: every tool, both transports and revisions, isolation of users, and malformed calls."""

import asyncio
import json
import random
import re
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import orjson
import pytest
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette

from shared.db import Database
from shared.service import probes
from shared.settings import Settings
from tests.long import often
from tests.system.agents import REVISIONS, ROOT, Agent, Json, Transport, call, fail, inside, request, serving_agents
from tests.system.databases import Databases
from tests.system.keys import add_key
from tests.system.person import somebody
from tests.system.running import listening, running, settings_for

TOOLS = {"recall", "get_context", "remember", "correct", "forget", "why", "get_status"}
READING = {"recall", "get_context", "why", "get_status"}
EVERY_WAY = pytest.mark.parametrize(
    ("transport", "mode"), [(transport, mode) for transport in ("http", "stdio") for mode in REVISIONS]
)
TENANT = "agents"
MALFORMED = often(2000, short=2000)


@dataclass(frozen=True)
class House:
    """A system that requires keys, and the addresses of its MCP service."""

    compose_url: str
    mcp_url: str
    app: Starlette
    db: Database

    async def agent(self, user_id: str | None = None, *, of_one: bool = True, **grant: Any) -> Agent:
        """An MCP client of the user of the key, or of the configured user."""
        user = user_id or somebody()
        key = await add_key(self.db, TENANT, user=user if of_one else None, **grant)
        return Agent(self.compose_url, self.mcp_url, key, None if of_one else user)


@pytest.fixture(scope="module")
async def house(databases: Databases, kafka: str) -> AsyncGenerator[House]:
    """Every service, with the MCP service."""
    async with running(settings_for(databases.fresh(), kafka)) as system:
        await add_key(system["compose"].rt.db, TENANT)
        compose = system["compose"].service
        assert compose.http
        probes(compose.http, compose, lambda: True)
        async with listening(system) as compose_url, serving_agents(compose_url) as (mcp_url, app):
            yield House(compose_url, mcp_url, app, system["compose"].rt.db)


@EVERY_WAY
async def test_every_tool_works(house: House, transport: Transport, mode: str) -> None:
    agent = await house.agent()
    async with agent.connect(transport, mode) as client:
        assert client.session.protocol_version == REVISIONS[mode]
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed.keys() == TOOLS
        for name, tool in listed.items():
            assert tool.annotations
            assert tool.output_schema
            assert tool.description
            assert tool.annotations.read_only_hint == (name in READING)
            assert tool.annotations.destructive_hint == (name in ("correct", "forget"))
            assert "user" not in tool.input_schema["properties"], "no model names a user"

        kept = await call(client, "remember", text="My cat is called Tom", idempotency_key="cat")
        assert (kept["status"], inside(kept["memory"]["text"])) == ("remembered", "My cat is called Tom")
        again = await call(client, "remember", text="My cat is called Tom", idempotency_key="cat")
        assert again["receipt_id"] == kept["receipt_id"], "a call that is repeated is done once"
        merged = await call(client, "remember", text="My cat is called Tom")
        assert (merged["status"], merged["memory"]["memory_id"]) == ("merged", kept["memory"]["memory_id"])

        answer = await call(client, "recall", question="What is my cat called?")
        (found,) = answer["evidence"]
        assert found["memory_id"] == kept["memory"]["memory_id"]
        assert (found["version"], inside(found["text"])) == (1, "My cat is called Tom")
        assert found["confidence"] > 0.5
        assert found["since"]
        assert found["source"].startswith("smartbrain://turn/")

        context = await call(client, "get_context", message="What is my cat called?", session_id="talk")
        assert context["messages"][-1] == {"role": "user", "content": "What is my cat called?"}
        assert any("Tom" in message["content"] for message in context["messages"][:-1])

        changed = await call(client, "correct", old="cat is called Tom", new="My cat is called Tim")
        assert changed["status"] == "corrected"
        assert changed["before"]["memory_id"] == kept["memory"]["memory_id"]
        assert (changed["after"]["version"], inside(changed["after"]["text"])) == (2, "My cat is called Tim")

        explained = await call(client, "why", memory_id=changed["after"]["memory_id"])
        assert [version["status"] for version in explained["versions"]] == ["superseded", "active"]
        assert "My cat is called Tom" in explained["versions"][0]["origins"][0]["quote"]
        first = await call(client, "why", memory_id=kept["memory"]["memory_id"])
        assert context["context_id"] in [use["context_id"] for use in first["used_in"]]

        status = await call(client, "get_status")
        assert (status["user_id"], status["tenant_id"], status["memories"]) == (agent_user(agent, status), TENANT, 1)

        for address, words in (("smartbrain://overview/en", "What is known"), ("smartbrain://overview/zh", "已知")):
            (page,) = (await client.read_resource(address)).contents
            assert "My cat is called Tim" in page.text
            assert words in page.text
            assert page.mime_type == "text/markdown"
        for language, words in (("en", "call `recall`"), ("zh", "调用 `recall`")):
            (message,) = (await client.get_prompt("use_memory", {"language": language})).messages
            assert words in message.content.text

        gone = await call(client, "forget", memory_id=changed["after"]["memory_id"])
        assert (gone["status"], gone["memory"]["status"]) == ("taken_back", "retracted")
        assert (await call(client, "forget", words="cat is called Tim"))["status"] == "already"
        left = (await call(client, "recall", question="What is my cat called?"))["evidence"]
        assert not [each for each in left if each["kind"] == "memory"]
        kept_anyway = await call(client, "why", memory_id=changed["after"]["memory_id"])
        assert len(kept_anyway["versions"]) == 2, "what is taken back is not erased"


def agent_user(agent: Agent, status: Json) -> str:
    """The user of the configuration, or of the key."""
    return agent.user_id or status["user_id"]


async def test_chinese_works_in_the_same_way(house: House) -> None:
    agent = await house.agent("小林", of_one=False)
    async with agent.connect() as client:
        assert (await call(client, "get_status"))["user_id"] == "小林"
        kept = await call(client, "remember", text="我的猫叫小白")
        assert inside(kept["memory"]["text"]) == "我的猫叫小白"
        (found,) = (await call(client, "recall", question="我的猫叫什么名字？"))["evidence"]
        assert (found["memory_id"], inside(found["text"])) == (kept["memory"]["memory_id"], "我的猫叫小白")
        changed = await call(client, "correct", old="猫叫小白", new="我的猫叫小黑")
        assert (changed["status"], inside(changed["after"]["text"])) == ("corrected", "我的猫叫小黑")
        assert (await call(client, "correct", old="猫叫小白", new="我的猫叫小黑"))["status"] == "already"
        gone = await call(client, "forget", words="我的猫叫小黑。")
        assert gone["status"] == "taken_back"


async def test_an_uncertain_match_is_offered_and_not_applied(house: House) -> None:
    async with (await house.agent()).connect() as client:
        for text in ("My bike is blue", "My bike is in the cellar"):
            await call(client, "remember", text=text)
        for tool, arguments in (("forget", {"words": "bike"}), ("correct", {"old": "bike", "new": "My bike is red"})):
            asked = await call(client, tool, **arguments)
            assert asked["status"] == "choose"
            assert {inside(each["text"]) for each in asked["candidates"]} == {
                "My bike is blue",
                "My bike is in the cellar",
            }
        assert (await call(client, "forget", words="a yacht in Monaco"))["status"] == "not_found"
        assert (await call(client, "get_status"))["memories"] == 2


async def test_secrets_are_refused_and_answers_are_short(house: House) -> None:
    async with (await house.agent()).connect() as client:
        refused = await fail(client, "remember", text="my password is hunter2-Xy9!")
        assert (refused["code"], refused["retry"]) == ("secret_refused", False)
        assert "hunter2" not in str(refused)
        for place in ("Rome", "Oslo", "Paris", "Lima", "Quito"):
            await call(client, "remember", text=f"On the trip to {place} I ate very well and slept in a small hotel")
        whole = await call(client, "recall", question="Where did I eat well on a trip?", max_tokens=4000)
        short = await call(client, "recall", question="Where did I eat well on a trip?", max_tokens=300)
        assert 0 < len(short["evidence"]) < len(whole["evidence"])
        assert short["left_out"] == len(whole["evidence"]) - len(short["evidence"])


async def test_two_users_on_one_server_never_see_each_other(house: House) -> None:
    anna, ben = await house.agent(), await house.agent()
    async with anna.connect() as hers, ben.connect() as his:
        kept, _ = await asyncio.gather(
            call(hers, "remember", text="My cat is called Ophelia"),
            call(his, "remember", text="My cat is called Brutus"),
        )
        for client, own, other in ((hers, "Ophelia", "Brutus"), (his, "Brutus", "Ophelia")):
            answers = [
                await call(client, "recall", question=f"{own} {other} cat"),
                await call(client, "get_context", message="What is my cat called?"),
                await call(client, "why", words=f"My cat is called {own}"),
                await call(client, "forget", words=f"My cat is called {other}"),
                (await client.read_resource("smartbrain://overview/en")).model_dump(mode="json"),
            ]
            assert all(own in str(answer) for answer in answers)
            assert not [answer for answer in answers if other in str(answer).replace(f"{own} {other} cat", "")]
        for tool in ("why", "forget"):
            assert (await fail(his, tool, memory_id=kept["memory"]["memory_id"]))["code"] == "not_found"
    foreign = Agent(house.compose_url, house.mcp_url, anna.key, user_id=somebody())
    async with foreign.connect() as client:
        assert (await fail(client, "recall", question="cat"))["code"] == "forbidden"


async def test_a_model_cannot_choose_the_user_and_gets_a_helpful_error(house: House) -> None:
    of_all = Agent(house.compose_url, house.mcp_url, await add_key(house.db, TENANT))
    async with of_all.connect() as client:
        assert (await fail(client, "recall", question="cat"))["code"] == "no_user"
        told = await fail(client, "recall", question="cat", user_id="anna")
        assert (told["code"], told["message"]) == (
            "invalid_arguments",
            "recall: user_id: is not an argument of this tool",
        )
        assert "SMARTBRAIN_USER" in str(await call(client, "get_status"))
        with pytest.raises(MCPError, match="there is no tool"):
            await client.call_tool("erase", {})
    reader = await house.agent(scopes=("read",))
    async with reader.connect() as client:
        assert (await fail(client, "remember", text="I like tea"))["code"] == "forbidden"
        assert "`write`" in str(await call(client, "get_status"))


async def test_a_request_without_a_valid_key_is_refused(house: House) -> None:
    async with httpx.AsyncClient(base_url=house.mcp_url, trust_env=False) as http:
        for headers in ({}, {"authorization": "Bearer sb_no"}, {"authorization": "hello"}):
            answer = await http.post("/mcp", json=request("tools/list"), headers=headers)
            assert answer.status_code == 401
            where = answer.headers["www-authenticate"].partition('resource_metadata="')[2].partition('"')[0]
            assert answer.headers["www-authenticate"].startswith("Bearer ")
            described = (await http.get(where)).json()
            assert described["resource"] == f"{house.mcp_url}/mcp"
            assert described["bearer_methods_supported"] == ["header"]


def malform(chance: random.Random) -> bytes:
    """A malformed call: no JSON, no request, an unknown method or tool, or arguments of a wrong type."""
    junk: list[Any] = [None, True, -1, 1e300, "", "x" * 5000, "\x00", "\ud800", [], {}, [[]], {"a": {"b": []}}]
    name: Any = chance.choice([*TOOLS, "erase", *junk])
    keys = ["question", "text", "words", "memory_id", "max_tokens", "user_id", "new", "old", "message"]
    some = {chance.choice(keys): chance.choice(junk) for _ in range(chance.randrange(4))}
    arguments = chance.choice([some, some, {**some, "idempotency_key": "\n"}, *junk])
    calls: list[Any] = [
        request("tools/call", {"name": name, "arguments": arguments}, chance.choice([1, "a", 2])),
        request("tools/call", {"name": name}),
        request(
            chance.choice(["tools/call", "resources/read", "prompts/get", "no/such", ""]), chance.choice([{}, some])
        ),
        {**request("tools/list"), chance.choice(["jsonrpc", "id", "method", "params"]): chance.choice(junk)},
        request("resources/read", {"uri": chance.choice(["smartbrain://", "file:///etc/passwd", *junk])}),
        request("prompts/get", {"name": "use_memory", "arguments": chance.choice([{"language": "fr"}, some, *junk])}),
        [request("tools/list")] * 3,
        *junk,
    ]
    whole = json.dumps(chance.choice(calls)).encode()
    return whole if chance.random() < 0.8 else whole[: chance.randrange(len(whole) + 1)] + chance.randbytes(3)


async def test_malformed_calls_leave_the_server_responding(house: House) -> None:
    agent, chance = await house.agent(), random.Random(7)
    accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    headers = {**agent.headers, **accept, "host": "localhost"}
    straight = httpx.ASGITransport(house.app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=straight, base_url="http://localhost", headers=headers) as http:

        async def ask(bodies: list[bytes], revision: str) -> list[httpx.Response]:
            return [
                await http.post("/mcp", content=body, headers={"mcp-protocol-version": revision}) for body in bodies
            ]

        revisions = [*REVISIONS.values(), "2025-11-25", "1999-01-01"]
        parts = [[malform(chance) for _ in range(MALFORMED // 4)] for _ in revisions]
        answers = await asyncio.gather(*(ask(part, each) for part, each in zip(parts, revisions, strict=True)))
    statuses = {answer.status_code for part in answers for answer in part}
    assert sum(len(part) for part in answers) == MALFORMED
    assert statuses <= {200, 202, 400, 404}, statuses
    assert not [part for each in answers for part in each if b'"internal"' in part.content]
    async with agent.connect() as client:
        assert inside((await call(client, "remember", text="I like tea"))["memory"]["text"]) == "I like tea"


async def test_standard_output_contains_only_the_protocol(house: House) -> None:
    agent, chance = await house.agent(), random.Random(11)
    lines = [malform(chance).replace(b"\n", b" ") for _ in range(200)]
    start = request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _INFO}, 9000)
    last = request("tools/call", {"name": "get_status", "arguments": {}}, 9001)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.cli",
        "mcp",
        env=agent.environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(b"\n".join([orjson.dumps(start), *lines, orjson.dumps(last)]) + b"\n")
    answers: list[Json] = []
    async with asyncio.timeout(60):
        while not any(each.get("id") == 9001 for each in answers):
            answers.append(orjson.loads(await process.stdout.readline()))
        process.stdin.close()
        answers += [orjson.loads(line) for line in (await process.stdout.read()).splitlines()]
        assert await process.wait() == 0
    assert all(each["jsonrpc"] == "2.0" for each in answers)
    (told,) = (each for each in answers if each.get("id") == 9001)
    assert told["result"]["structuredContent"]["tenant_id"] == TENANT


_INFO = {"name": "test", "version": "1"}


@asynccontextmanager
async def mute_server() -> AsyncGenerator[str]:
    """A server that accepts connections and never responds."""
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_a_server_that_is_down_or_hangs_is_reported_within_two_seconds() -> None:
    async with mute_server() as mute:
        for compose_url in ("http://127.0.0.1:9", mute):
            async with serving_agents(compose_url) as (mcp_url, _):
                agent = Agent(compose_url, mcp_url, None, "lin")
                async with agent.connect() as client:
                    assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
                    began = time.monotonic()
                    told = await fail(client, "recall", question="cat")
                    assert (told["code"], told["retry"]) == ("unreachable", True)
                    assert time.monotonic() - began < 2 * PATIENCE
                    assert not (await call(client, "get_status"))["well"]


PATIENCE = 2
"""It takes at most 1.6 s on an idle machine; the test machine has other load."""


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md", "docs/howto/mcp.md"])
async def test_the_lines_of_the_readme_connect_a_client(house: House, page: str) -> None:
    blocks = re.findall(r"^```json\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.M | re.S)
    over_stdio, over_http = (json.loads(block)["mcpServers"]["smartbrain"] for block in blocks)
    key = await add_key(house.db, TENANT)
    assert over_stdio["command"].endswith("/smartbrain")
    assert over_stdio["args"] == ["mcp"]
    desktop = Agent(house.compose_url, house.mcp_url, key, over_stdio["env"]["SMARTBRAIN_USER"])
    assert over_http["url"] == f"http://127.0.0.1:{Settings().port_of_mcp}/mcp"
    framework = Agent(house.compose_url, house.mcp_url, key, over_http["headers"]["X-SmartBrain-User"])
    for agent, transport in ((desktop, "stdio"), (framework, "http")):
        async with agent.connect(transport) as client:
            assert (await call(client, "get_status"))["user_id"] == "lin"
