"""Checks every request: refuses other sites, and adds security headers to every answer."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.console.page import Visit
from services.console.sessions import Sessions, make_token
from shared.fronts.origins import LOOPBACK, FrontPolicy, is_own_origin, name_of_host

SESSION_COOKIE, VISIT_COOKIE = "smartbrain_session", "smartbrain_visit"
KEPT = "public, max-age=31536000, immutable"
"""For static files, whose addresses change with their content."""
MISDIRECTED, FORBIDDEN = 421, 403
POLICY = "; ".join(
    (
        "default-src 'self'",
        "base-uri 'none'",
        "object-src 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class ConsoleDoorPolicy(FrontPolicy):
    """The address of the console, and whether it is reachable from other machines."""

    def is_secure(self, headers: Headers) -> bool:
        """Whether cookies require https: everywhere except on this machine."""
        if self.own_address:
            return self.own_address.startswith("https")
        return name_of_host(headers.get("host", "")) not in LOOPBACK


class ConsoleDoor:
    """Admits requests for this server, and stores the visit in the state of the request."""

    def __init__(self, app: ASGIApp, sessions: Sessions, policy: ConsoleDoorPolicy) -> None:
        self._app = app
        self._sessions = sessions
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application's answer with the headers of every answer, or a refusal."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        cookies = cookie_parser(headers.get("cookie", ""))
        token = cookies.get(SESSION_COOKIE)
        session = self._sessions.find(token)
        holder = token if session else cookies.get(VISIT_COOKIE)
        fresh = None if holder else make_token()
        secure = self._policy.is_secure(headers)
        form_token = self._sessions.make_form_token(holder or fresh or "")
        visit = Visit(session, token if session else None, form_token, secure, self._policy.open_without_key)
        scope.setdefault("state", {})["visit"] = visit

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                answered = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    answered[name] = value
                answered.setdefault("cache-control", KEPT if scope["path"].startswith("/static/") else "no-store")
                if fresh and answered.get("content-type", "").startswith("text/html"):
                    answered.append("set-cookie", write_cookie(VISIT_COOKIE, fresh, secure=secure))
            await send(message)

        refusal = self._refuse_foreign(headers, scope["method"])
        await (refusal or self._app)(scope, receive, send_guarded)

    def _refuse_foreign(self, headers: Headers, method: str) -> Response | None:
        """The refusal of requests from other sites or for other host names."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if self._policy.is_misdirected(host):
            return PlainTextResponse("Host: is not this server's; SMARTBRAIN_CONSOLE_URL names it\n", MISDIRECTED)
        names = {*self._policy.names, name_of_host(host)}
        if method != "GET" and origin is not None and not is_own_origin(origin, names):
            return PlainTextResponse("Origin: is not this server's\n", FORBIDDEN)
        return None


def write_cookie(name: str, value: str, *, secure: bool) -> str:
    """A cookie that scripts cannot read and other sites cannot send; without a value it is deleted."""
    ends = "" if value else "; Max-Age=0"
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Strict{'; Secure' if secure else ''}{ends}"
