"""MCP over HTTP: wires access checks, the protocol and compose's client into a service."""

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
from shared.fronts.front import Front
from shared.metrics.access import AGENT_CALLS
from shared.metrics.catalogue import show_from_start
from shared.policy import AccessPolicy
from shared.policy_file import load_policy
from shared.service import Service
from shared.settings import Settings

MOST_BYTES = 262_144


def build(settings: Settings) -> Service:
    """The service; it has no database and no broker, and calls compose."""
    front = Front("mcp", settings)
    show_from_start(AGENT_CALLS, ((tool, "ok") for tool in TOOLS))
    policy = make_door_policy(settings, load_policy(settings.policy).access)
    manager = StreamableHTTPSessionManager(
        make_server(front.compose, find_caller, note_call),
        json_response=True,
        stateless=True,
        max_request_body_size=MOST_BYTES,
    )

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if front.ready.is_set():
            await manager.handle_request(scope, receive, send)
        else:
            await JSONResponse({"error": {"code": "unavailable"}}, 503)(scope, receive, send)

    app = make_app(Door(serve, front.compose, policy))
    return Service("mcp", run=lambda: front.run(manager.run), ready=front.find_ready, http=app)


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
