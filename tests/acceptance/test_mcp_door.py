"""Access to the MCP service, and the configuration lines of the READMEs."""

import re
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import httpx
import httpx2
import orjson
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from services.mcp.app import build
from shared.errors import ConfigurationError
from shared.settings import Settings
from tests.system.agents import ROOT, Json, call, inside, request, serving_agents
from tests.system.person import Person
from tests.system.running import System, listening, policy_file

READMES = ("README.md", "README.zh-CN.md", "docs/howto/mcp.md")
ACCEPT = {"accept": "application/json, text/event-stream"}


@pytest.fixture
async def compose_url(system: System) -> AsyncGenerator[str]:
    """The address of compose, which needs no key on this machine."""
    async with listening(system) as url:
        yield url


async def test_a_foreign_origin_and_another_host_name_are_refused(compose_url: str) -> None:
    async with serving_agents(compose_url) as (mcp_url, _), httpx.AsyncClient(trust_env=False) as http:
        for headers, status, code in (
            ({"origin": "https://evil.example"}, 403, "forbidden_origin"),
            ({"origin": "null"}, 403, "forbidden_origin"),
            ({"host": "evil.example"}, 421, "wrong_host"),
        ):
            for answer in (
                await http.post(f"{mcp_url}/mcp", json=request("tools/list"), headers={**ACCEPT, **headers}),
                await http.get(f"{mcp_url}/.well-known/oauth-protected-resource/mcp", headers=headers),
            ):
                assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        own = {**ACCEPT, "origin": "http://localhost:3000", "mcp-protocol-version": "2025-11-25"}
        assert (await http.post(f"{mcp_url}/mcp", json=request("tools/list"), headers=own)).status_code == 200


async def test_the_metadata_names_the_issuers_of_the_policy(compose_url: str, tmp_path: Path) -> None:
    address = "https://login.example.com"
    issuer = {"issuer": address, "audience": "smartbrain", "jwks": f"{address}/keys", "tenant_claim": "org"}
    policy = policy_file(tmp_path, access={"issuers": {"login": issuer}})
    outside = "https://memory.example.com/mcp"
    async with (
        serving_agents(compose_url, policy=policy, mcp_url=outside) as (mcp_url, _),
        httpx.AsyncClient(trust_env=False) as http,
    ):
        described = (await http.get(f"{mcp_url}/.well-known/oauth-protected-resource/mcp")).json()
    assert (described["resource"], described["authorization_servers"]) == (outside, [address])


async def test_the_service_requires_keys_when_other_machines_can_reach_it(compose_url: str) -> None:
    service = build(Settings(url=compose_url, http_host="0.0.0.0"))  # noqa: S104 # it is not listened on
    with pytest.raises(ConfigurationError, match="smartbrain keys create"):
        await service.run()


def servers_in(page: str) -> list[Json]:
    """The client configuration that the page shows."""
    blocks = re.findall(r"```json\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    return [each["mcpServers"]["smartbrain"] for each in map(orjson.loads, blocks) if "mcpServers" in each]


@pytest.mark.parametrize("page", READMES)
async def test_the_lines_of_the_page_connect_an_agent(compose_url: str, person: Person, page: str) -> None:
    desktop, framework = servers_in(page)
    assert (desktop["args"], set(desktop["env"])) == (["mcp"], {"SMARTBRAIN_USER"})
    assert set(framework["headers"]) == {"X-SmartBrain-User"}
    own = {"SMARTBRAIN_URL": compose_url, "SMARTBRAIN_TENANT": person.tenant_id, "PYTHONPATH": str(ROOT)}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "services.cli", *desktop["args"]], env={**desktop["env"], **own}
    )
    async with Client(stdio_client(command)) as client:
        assert (await call(client, "remember", text="My bike is green"))["status"] == "remembered"
    headers = {**framework["headers"], "X-SmartBrain-Tenant": person.tenant_id}
    async with (
        serving_agents(compose_url) as (mcp_url, _),
        httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http,
        Client(streamable_http_client(f"{mcp_url}/mcp", http_client=http)) as client,
    ):
        (evidence,) = (await call(client, "recall", question="What colour is my bike?"))["evidence"]
    assert inside(evidence["text"]) == "My bike is green"
