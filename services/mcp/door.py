"""Access over HTTP: refuses other sites and requests without a required key, and says where to get a token."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from shared.fronts.caller import AgentCaller, make_caller
from shared.fronts.client import ComposeClient
from shared.fronts.origins import FrontPolicy, is_own_origin
from shared.fronts.problems import CallError

PATH = "/mcp"
METADATA = "/.well-known/oauth-protected-resource"
USER_HEADER, TENANT_HEADER, SESSION_HEADER = "x-smartbrain-user", "x-smartbrain-tenant", "x-smartbrain-session"
MISDIRECTED, FORBIDDEN, UNAUTHORIZED, BAD_REQUEST = 421, 403, 401, 400


@dataclass(frozen=True)
class DoorPolicy(FrontPolicy):
    """Where the door is, and who issues tokens for it."""

    issuers: Sequence[str] = ()

    def find_address(self, headers: Headers) -> str:
        """The address of `/mcp` as the client has it."""
        return self.own_address or f"http://{headers.get('host', 'localhost')}{PATH}"

    def find_metadata_address(self, headers: Headers) -> str:
        """Where the metadata of RFC 9728 stand: the well-known path is put between the host and the path."""
        address = urlsplit(self.find_address(headers))
        return f"{address.scheme}://{address.netloc}{METADATA}{address.path}"


class Door:
    """Admits callers that compose knows; stores the caller in the state of the request."""

    def __init__(self, app: ASGIApp, compose: ComposeClient, policy: DoorPolicy) -> None:
        self._app = app
        self._compose = compose
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application's answer, or a refusal."""
        headers = Headers(scope=scope)
        refusal = self._refuse_foreign(headers) or await self._refuse_stranger(scope, headers)
        await (refusal or self._app)(scope, receive, send)

    def _refuse_foreign(self, headers: Headers) -> Response | None:
        """The refusal of requests from other sites or for other host names."""
        origin = headers.get("origin")
        if origin is not None and not is_own_origin(origin, self._policy.names):
            return _refuse(FORBIDDEN, "forbidden_origin", "Origin: is not this server's")
        if self._policy.is_misdirected(headers.get("host", "")):
            return _refuse(MISDIRECTED, "wrong_host", "Host: is not this server's; SMARTBRAIN_MCP_URL sets it")
        return None

    async def _refuse_stranger(self, scope: Scope, headers: Headers) -> Response | None:
        """The refusal of unknown callers; while compose is down, callers with a key get the error from the tools."""
        try:
            caller = read_caller(headers)
        except CallError as problem:
            if problem.code == "unauthenticated":
                return self._challenge(headers, problem.message)
            return _refuse(BAD_REQUEST, problem.code, problem.message)
        if caller.bearer is None and not self._policy.open_without_key:
            return self._challenge(headers, "authorization: is missing; send `Authorization: Bearer` with a key")
        try:
            await self._compose.find_access(caller)
        except CallError as problem:
            if problem.code == "unauthenticated":
                return self._challenge(headers, problem.message)
        scope.setdefault("state", {})["caller"] = caller
        return None

    def _challenge(self, headers: Headers, problem: str) -> Response:
        """401, with the address of the metadata that lists issuers (RFC 9728)."""
        where = f'resource_metadata="{self._policy.find_metadata_address(headers)}"'
        known = "authorization" in headers
        challenge = f'Bearer error="invalid_token", {where}' if known else f"Bearer {where}"
        return _refuse(UNAUTHORIZED, "unauthenticated", problem, {"www-authenticate": challenge})

    def describe_resource(self, headers: Headers) -> Response:
        """The metadata of the protected resource (RFC 9728)."""
        described = {
            "resource": self._policy.find_address(headers),
            "resource_name": "SmartBrain",
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["read", "write"],
        }
        issuers = {"authorization_servers": [*self._policy.issuers]} if self._policy.issuers else {}
        return JSONResponse({**described, **issuers})

    def answer_metadata(self, headers: Headers) -> Response:
        """The metadata, except for requests from other sites."""
        return self._refuse_foreign(headers) or self.describe_resource(headers)


def read_caller(headers: Headers) -> AgentCaller:
    """The caller, from the headers of the client's configuration; CallError for an invalid key or id."""
    given = headers.getlist("authorization")
    if len(given) > 1:
        raise CallError("unauthenticated", "authorization: is given more than once")
    kind, _, bearer = given[0].partition(" ") if given else ("", "", "")
    if given and (kind.lower() != "bearer" or not bearer.strip()):
        raise CallError("unauthenticated", "authorization: must be `Bearer` and a key")
    fields = {"user_id": USER_HEADER, "tenant_id": TENANT_HEADER, "session_id": SESSION_HEADER}
    return make_caller(bearer.strip() or None, {field: _decode(headers, name) for field, name in fields.items()})


def _decode(headers: Headers, name: str) -> str | None:
    """The header without its percent-encoding, in which ids of other alphabets are sent."""
    given = headers.get(name)
    try:
        return given and unquote(given, errors="strict")
    except UnicodeDecodeError as error:
        raise CallError("invalid_request", f"{name}: is not UTF-8") from error


def _refuse(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)
