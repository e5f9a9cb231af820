"""Compose over HTTP, on behalf of a caller: answers as JSON, refusals and silence as problems."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
from cachetools import TTLCache

from shared.access.loopback import is_loopback
from shared.errors import ConfigurationError
from shared.fronts.caller import AgentCaller
from shared.fronts.problems import CallError, UnreachableError

if TYPE_CHECKING:
    import httpx  # takes a tenth of a second to load, which nobody waits for who only lists tools

CONNECT_S = 1.0
SLOW_S = 1.0
"""After this time without an answer, a second request checks whether compose is alive."""
PROBE_S = 0.6
AWAY_S = 1.0
"""After silence, further calls fail at once for this time."""
LONGEST_S = 30.0
"""Timeout of a request while compose is alive."""
UPLOAD_S = 300.0
"""Timeout for a file; while a large one is read, compose may not answer for a moment."""
KNOWN_S = 5.0
"""How long the access of a key is cached; compose itself checks every request."""
MOST_KEYS = 10_000
SETTLED_S = 5.0
FIRST_PAUSE_S = 0.05
Json = dict[str, Any]


@dataclass(frozen=True)
class HttpRequest:
    """A request to compose, with its key."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Mapping[str, Any] | None = None
    bearer: str | None = None
    file: bytes | None = None
    """A raw document instead of a JSON body."""

    @property
    def content(self) -> bytes | None:
        """What is sent."""
        return self.file if self.body is None else orjson.dumps(self.body)

    @property
    def headers(self) -> dict[str, str]:
        """The headers for the key and a JSON body."""
        asks = {"authorization": f"Bearer {self.bearer}"} if self.bearer else {}
        is_bare = self.body is None and self.file is None
        return asks if is_bare else {**asks, "content-type": "application/json"}


class ComposeClient:
    """Connections to compose; `locate` finds its address when needed."""

    def __init__(self, locate: Callable[[], str]) -> None:
        self._locate = locate
        self._http: httpx.AsyncClient | None = None
        self._access = TTLCache[str, Json](MOST_KEYS, KNOWN_S)
        self._silence: tuple[float, UnreachableError] | None = None

    async def close(self) -> None:
        """No connection is left."""
        if self._http:
            await self._http.aclose()

    async def get(self, caller: AgentCaller, path: str, **query: Any) -> Json:
        """GET for the caller's user."""
        return await self._ask(caller, "GET", path, query=await self._name_owner(caller, query))

    async def post(self, caller: AgentCaller, path: str, body: Mapping[str, Any]) -> Json:
        """A request with a body for the caller's user."""
        return await self._ask(caller, "POST", path, body=await self._name_owner(caller, body))

    async def change(self, caller: AgentCaller, method: str, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """A change for the caller's user."""
        return await self._ask(caller, method, path, query=await self._name_owner(caller, {}), body=body)

    async def write(self, caller: AgentCaller, method: str, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """The receipt of a change, settled as far as an agent should wait."""
        return await self.settle(caller, await self.change(caller, method, path, body))

    async def settle(self, caller: AgentCaller, receipt: Json) -> Json:
        """The receipt once the workers have processed the write, or its state after five seconds."""
        until, pause = time.monotonic() + SETTLED_S, FIRST_PAUSE_S
        while not receipt["settled"] and time.monotonic() < until:
            await asyncio.sleep(pause)
            pause = min(2 * pause, 0.4)
            receipt = await self.get(caller, f"/v1/writes/{receipt['receipt_id']}")
        return receipt

    async def download(self, caller: AgentCaller, path: str, **query: Any) -> tuple[bytes, str]:
        """A document about the caller's user, and its media type."""
        asked = HttpRequest("GET", path, await self._name_owner(caller, query), bearer=caller.bearer)
        answer = await self._send(asked)
        if answer.is_success:
            return answer.content, answer.headers.get("content-type", "application/octet-stream")
        raise _problem_of(answer)

    async def upload(self, caller: AgentCaller, path: str, file: bytes) -> Json:
        """Sends a JSON document for the caller's user."""
        asked = HttpRequest("POST", path, await self._name_owner(caller, {}), bearer=caller.bearer, file=file)
        answer = await self._send(asked)
        if answer.is_success:
            return _read(answer)
        raise _problem_of(answer)

    async def change_any(
        self,
        caller: AgentCaller,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: Mapping[str, Any] | None = None,
    ) -> Json:
        """GET for the owner in the query, or for all users of the key."""
        return await self._ask(caller, method, path, query=query, body=body)

    async def find_access(self, caller: AgentCaller) -> Json:
        """The access of the caller's key, at most a few seconds old; CallError if the key is not accepted."""
        access = self._access.get(caller.bearer or "")
        if access is None:
            access = await self._ask(caller, "GET", "/v1/access")
            self._access[caller.bearer or ""] = access
        return access

    async def find_user(self, caller: AgentCaller) -> str:
        """The user: from the client's settings, else from the key; CallError `no_user` if neither names one."""
        user = caller.user_id or (await self.find_access(caller))["user_id"]
        if user is None:
            raise CallError("no_user", "no user is configured")
        return user

    async def find_state(self) -> Json:
        """The body of /ready of compose."""
        return _read(await self._send(HttpRequest("GET", "/ready", {"whole": "true"})))

    async def is_open(self) -> bool:
        """Whether compose requires no key."""
        return (await self._send(HttpRequest("GET", "/v1/access"))).is_success

    async def _name_owner(self, caller: AgentCaller, more: Mapping[str, Any]) -> Json:
        tenant = {"tenant_id": caller.tenant_id} if caller.tenant_id else {}
        return {"user_id": await self.find_user(caller), **tenant, **more}

    async def _ask(
        self,
        caller: AgentCaller,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Json:
        answer = await self._send(HttpRequest(method, path, query or {}, body, caller.bearer))
        if answer.is_success:
            return _read(answer) if answer.content else {}
        raise _problem_of(answer)

    async def _send(self, request: HttpRequest) -> httpx.Response:
        """The answer; UnreachableError within two seconds if compose is not reachable."""
        if self._silence and time.monotonic() - self._silence[0] < AWAY_S:
            raise UnreachableError(self._silence[1].message)
        try:
            return await self._send_now(self._connect(), request)
        except UnreachableError as error:
            self._silence = time.monotonic(), error
            raise

    async def _send_now(self, http: httpx.AsyncClient, request: HttpRequest) -> httpx.Response:
        from httpx import HTTPError, Timeout

        answering = http.request(
            request.method,
            request.path,
            params=request.query,
            content=request.content,
            headers=request.headers,
            timeout=Timeout(LONGEST_S if request.file is None else UPLOAD_S, connect=CONNECT_S),
        )
        asking = asyncio.create_task(answering)
        try:
            done, _ = await asyncio.wait({asking}, timeout=SLOW_S if request.file is None else UPLOAD_S)
            if not done and not await self._lives(http):
                raise UnreachableError(f"{http.base_url} does not answer")
            return await asking
        except HTTPError as error:
            raise UnreachableError(f"{http.base_url} does not answer: {type(error).__name__}") from error
        finally:
            asking.cancel()

    def _connect(self) -> httpx.AsyncClient:
        """The connections to the current address of compose."""
        from httpx import AsyncClient, Timeout

        from shared.tls import trust_store

        try:
            base = self._locate().rstrip("/")
        except ConfigurationError as error:
            raise UnreachableError(str(error)) from error
        if self._http is None or str(self._http.base_url).rstrip("/") != base:
            here = is_loopback(urlsplit(base).hostname or "")  # no proxy stands between this machine and itself
            limits = Timeout(LONGEST_S, connect=CONNECT_S)
            self._http = AsyncClient(base_url=base, timeout=limits, verify=trust_store(), trust_env=not here)
        return self._http

    async def _lives(self, http: httpx.AsyncClient) -> bool:
        from httpx import HTTPError

        with contextlib.suppress(HTTPError):
            await http.get("/live", timeout=PROBE_S)
            return True
        return False


def _read(answer: httpx.Response) -> Json:
    try:
        return orjson.loads(answer.content)
    except orjson.JSONDecodeError as error:
        raise UnreachableError(f"{answer.url.host} is not compose: its answer is not JSON") from error


def _problem_of(answer: httpx.Response) -> CallError:
    told = _read(answer)
    wait = answer.headers.get("retry-after", "")
    retry_after_s = int(wait) if wait.isdecimal() else None
    return CallError(told.get("code", "refused"), told.get("message", "refused"), retry_after_s=retry_after_s)
