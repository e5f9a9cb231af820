"""The server over standard input and output: one client, one caller, until the input ends."""

from collections.abc import Callable

import uvloop
from mcp.server.stdio import stdio_server

from services.mcp.server import make_server
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient


def serve_stdio(locate: Callable[[], str], caller: AgentCaller) -> None:
    """Serves until standard input ends; nothing but the protocol is written to standard output."""
    uvloop.run(_serve(locate, caller))


async def _serve(locate: Callable[[], str], caller: AgentCaller) -> None:
    compose = ComposeClient(locate)
    server = make_server(compose, lambda _: caller, lambda tool, outcome: None)
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await compose.close()
