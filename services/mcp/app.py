"""MCP over HTTP: wires access checks, the protocol and compose's client into a service."""

import asyncio

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from services.mcp.catalogue import TOOLS
from services.mcp.door import METADATA, PATH, Door, DoorPolicy
from services.mcp.server import Context, make_server
from shared.access.loopback import is_loopback
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient
from shared.fronts.guard import reaches, refuse_unguarded
from shared.metrics.access import AGENT_CALLS
from shared.metrics.catalogue import show_from_start
from shared.policy import AccessPolicy
from shared.policy_file import load_policy
from shared.service import Service
from shared.settings import Settings

MOST_BYTES = 262_144


def build(settings: Settings) -> Service:
    """The service; it has no database and no broker, and calls compose."""
    address = settings.url or f"http://127.0.0.1:{settings.http_port}"
    compose = ComposeClient(lambda: address)
    show_from_start(AGENT_CALLS, ((tool, "ok") for tool in TOOLS))
    policy = make_door_policy(settings, load_policy(settings.policy).access)
    manager = StreamableHTTPSessionManager(
        make_server(compose, find_caller, note_call),
        json_response=True,
        stateless=True,
        max_request_body_size=MOST_BYTES,
    )
    ready = asyncio.Event()

    async def run() -> None:
        try:
            if not is_loopback(settings.http_host):
                await refuse_unguarded(compose, "mcp", settings.http_host)
            async with manager.run():
                ready.set()
                await asyncio.Event().wait()
        finally:
            ready.clear()
            await compose.close()

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if ready.is_set():
            await manager.handle_request(scope, receive, send)
        else:
            await JSONResponse({"error": {"code": "unavailable"}}, 503)(scope, receive, send)

    async def find_ready() -> dict[str, bool]:
        return {"serving": ready.is_set(), "compose": await reaches(compose)}

    door = Door(serve, compose, policy)
    return Service("mcp", run=run, ready=find_ready, http=make_app(door))


def make_door_policy(settings: Settings, access: AccessPolicy) -> DoorPolicy:
    """The access rules from the settings and the issuers of the policy."""
    issuers = tuple(dict.fromkeys(each.issuer for each in access.issuers.values()))
    return DoorPolicy(settings.mcp_url, is_loopback(settings.http_host), issuers)


def make_app(door: Door) -> Starlette:
    """The routes: the protocol, and the metadata under both addresses at which clients look for them."""

    async def describe(request: Request) -> Response:
        return door.answer_metadata(request.headers)

    return Starlette(
        routes=[
            Route(PATH, door),
            Route(METADATA, describe),
            Route(f"{METADATA}{{path:path}}", describe),
        ]
    )


def find_caller(context: Context) -> AgentCaller:
    """Whom the door has let in."""
    assert context.request  # noqa: S101 # over HTTP there always is one
    return context.request.state.caller


def note_call(tool: str, outcome: str) -> None:
    """The call is counted."""
    AGENT_CALLS.labels(tool, outcome).inc()
