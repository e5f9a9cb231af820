"""MCP clients: the SDK's client on a running system, over both transports and with both revisions."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import httpx2
import orjson
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from starlette.applications import Starlette

from services.mcp.app import build
from shared.access.secrets import KeyText
from shared.connections import http_config
from shared.settings import Settings
from tests.system.serving import serving
from tests.system.wait import wait_for

ROOT = Path(__file__).parents[2]
Transport = Literal["stdio", "http"]
Json = dict[str, Any]
REVISIONS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
"""How the client connects, and the protocol revision that it then uses."""


@asynccontextmanager
async def serving_agents(compose_url: str, **settings: Any) -> AsyncGenerator[tuple[str, Starlette]]:
    """The MCP service in front of this compose: its address and the service."""
    service = build(Settings(url=compose_url, **settings))
    running = asyncio.create_task(service.run(), name="mcp")
    assert service.http
    try:

        async def ready() -> bool:
            if running.done():
                running.result()
            return (await service.ready())["serving"]

        await wait_for(ready, "mcp serves")
        async with serving(service.http, config=http_config(service.http)) as url:
            yield url, service.http
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@dataclass(frozen=True)
class Agent:
    """A client with a key, and a user if the key is for several."""

    compose_url: str
    mcp_url: str
    key: KeyText | str | None
    user_id: str | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The server configuration of a client over stdio."""
        given = {"SMARTBRAIN_URL": self.compose_url, "PYTHONPATH": str(ROOT)}
        named = {"SMARTBRAIN_API_KEY": str(self.key or ""), "SMARTBRAIN_USER": self.user_id or ""}
        return {**given, **{name: value for name, value in named.items() if value}}

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a client over HTTP."""
        key = {"authorization": f"Bearer {self.key}"} if self.key else {}
        return {**key, **({"x-smartbrain-user": quote(self.user_id)} if self.user_id else {})}

    @asynccontextmanager
    async def connect(self, transport: Transport = "http", mode: str = "auto") -> AsyncGenerator[Client]:
        """The SDK's client, connected."""
        if transport == "stdio":
            command = StdioServerParameters(
                command=sys.executable, args=["-m", "services.cli", "mcp"], env=self.environment
            )
            async with Client(stdio_client(command), mode=mode) as client:
                yield client
            return
        async with (
            httpx2.AsyncClient(headers=self.headers, timeout=60, trust_env=False) as http,
            Client(streamable_http_client(f"{self.mcp_url}/mcp", http_client=http), mode=mode) as client,
        ):
            yield client


async def call(client: Client, tool: str, **arguments: Any) -> Json:
    """The tool's result, which matches its schema and is also in the text."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert orjson.loads(text_of(result)) == result.structured_content
    return result.structured_content


async def fail(client: Client, tool: str, **arguments: Any) -> Json:
    """The tool's error message."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text_of(result)
    return orjson.loads(text_of(result))["error"]


def text_of(result: CallToolResult) -> str:
    """The text of the result, for clients without structured results."""
    (content,) = result.content
    assert content.type == "text"
    return content.text


def inside(marked: str) -> str:
    """The words within their tag."""
    opening, _, rest = marked.partition(">")
    assert opening.startswith(("<user_memory nonce=", "<knowledge nonce="))
    return rest.rpartition("</")[0]


def request(method: str, params: Mapping[str, Any] | None = None, number: int = 1) -> Json:
    """A raw request of the older revision."""
    return {"jsonrpc": "2.0", "id": number, "method": method, **({} if params is None else {"params": params})}
