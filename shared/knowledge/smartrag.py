"""SmartRAG, or any server with its protocol: `POST {base}/retrieve` takes a RetrievalPlan and returns an EvidencePack.

The body of a retrieval is the plan itself. The requester is in headers, percent-encoded as UTF-8: x-tenant-id,
x-org-id, x-profile-id, and x-user-id unless policy withholds it. The owners of results are checked again.
docs/reference/retrieval_plan.md describes the other two paths.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
import orjson

from schemas.retrieval_plan import RetrievalPlan
from shared.knowledge import reading
from shared.knowledge.owners import owner_of
from shared.knowledge.port import Bundle, IngestReceipt, KnowledgeCapabilities, KnowledgeUnavailable, Resource, Scope
from shared.metrics.packages import KNOWLEDGE_CALLS, KNOWLEDGE_FOREIGN, KNOWLEDGE_SECONDS
from shared.models.guard import Breaker
from shared.telemetry import logger
from shared.tls import trust_store

T = TypeVar("T")
MAX_BYTES = 2_097_152
"""Maximum size of an answer."""
RENEW_S = 600.0
ASK_S = 5.0
FAILURES, WINDOW_S, COOLDOWN_S = 5, 60.0, 30.0
"""Circuit breaker: failures, their period, and the pause before one request tries again."""


class SmartRag:
    """One server over HTTP; it is not called while it seems to be down, and redirects are not followed."""

    configured = True

    def __init__(self, url: str, token: str | None, clock: Callable[[], float]) -> None:
        self._base = url.rstrip("/")
        headers = {"accept": "application/json", "accept-encoding": "identity", "content-type": "application/json"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        self._client = httpx.AsyncClient(
            headers=headers,
            timeout=None,  # noqa: S113 # every call has its own deadline
            follow_redirects=False,
            verify=trust_store(),
            limits=httpx.Limits(max_connections=64, max_keepalive_connections=16),
        )
        self._clock = clock
        self._asking = _breaker(clock)
        self._giving = _breaker(clock)
        self._can = KnowledgeCapabilities()
        self._learnt_at: float | None = None
        self._said_at: float | None = None
        self._learning: asyncio.Task[None] | None = None

    async def capabilities(self) -> KnowledgeCapabilities:
        """The latest known capabilities, or the defaults; refreshed in the background every ten minutes."""
        stale = self._learnt_at is None or self._clock() - self._learnt_at > RENEW_S
        if stale and (self._learning is None or self._learning.done()):
            self._learning = asyncio.create_task(self._learn(), name="knowledge-capabilities")
        return self._can

    async def learn(self, *, deadline_s: float) -> KnowledgeCapabilities:
        """The capabilities from the server, or the defaults after an invalid answer."""
        if self._said_at is None or self._clock() - self._said_at > RENEW_S:
            self._can = await self.call_guarded("capabilities", self._giving, self.load_capabilities, deadline_s)
            self._said_at = self._learnt_at = self._clock()
        return self._can

    async def retrieve(self, plan: RetrievalPlan, scope: Scope, *, deadline_s: float) -> Bundle:
        """The results of the plan for the requester; KnowledgeUnavailable within the deadline gives the reason for a
        failure."""
        content = plan.model_dump_json(by_alias=True, exclude_none=True).encode()

        async def call() -> Bundle:
            return reading.bundle(await self._post("/retrieve", content, _headers(scope)), plan, scope)

        bundle = await self.call_guarded("retrieve", self._asking, call, deadline_s)
        if bundle.foreign:
            KNOWLEDGE_FOREIGN.inc(bundle.foreign)
            logger().error("knowledge_of_others_dropped", count=bundle.foreign)
        return bundle

    async def ingest(self, resource: Resource, scope: Scope, *, key: str, deadline_s: float) -> IngestReceipt:
        """Ingests the resource; a known key counts as success."""
        told = {"version": "0.1", "idempotency_key": key, "owner": owner_of(scope), **asdict(resource)}
        content = orjson.dumps(told, default=str)
        headers = {**_headers(scope), "idempotency-key": key}

        async def call() -> IngestReceipt:
            return reading.receipt(await self._post("/ingest", content, headers, done=(409,)))

        return await self.call_guarded("ingest", self._giving, call, deadline_s)

    async def delete(
        self, scope: Scope, document_ids: Sequence[str], *, keys: Sequence[str] = (), deadline_s: float
    ) -> None:
        """Deletes the documents, and those ingested under these keys."""
        content = orjson.dumps({"version": "0.1", "document_ids": list(document_ids), "idempotency_keys": list(keys)})

        async def call() -> None:
            await self._post("/delete", content, _headers(scope), done=(404, 410))

        await self.call_guarded("delete", self._giving, call, deadline_s)

    async def close(self) -> None:
        """Closes the connections."""
        if self._learning:
            self._learning.cancel()
            with suppress(asyncio.CancelledError):
                await self._learning
        await self._client.aclose()

    async def _learn(self) -> None:
        self._learnt_at = self._clock()
        try:
            await self.learn(deadline_s=ASK_S)
        except KnowledgeUnavailable as error:
            logger().info("knowledge_says_no_capabilities", reason=error.reason)

    async def load_capabilities(self) -> KnowledgeCapabilities:
        try:
            return reading.capabilities(await self._read("GET", "/capabilities", b"", {}))
        except KnowledgeUnavailable as error:
            if error.reason == "server_error":
                raise
            return KnowledgeCapabilities()

    async def call_guarded(self, what: str, breaker: Breaker, call: Callable[[], Awaitable[T]], deadline_s: float) -> T:
        if not breaker.admit():
            KNOWLEDGE_CALLS.labels(what, "circuit_open").inc()
            raise KnowledgeUnavailable("circuit_open")
        try:
            with KNOWLEDGE_SECONDS.labels(what).time():
                answer = await _in_time(call, deadline_s)
        except KnowledgeUnavailable as error:
            breaker.doubtful() if error.reason == "refused" else breaker.note_failure()
            KNOWLEDGE_CALLS.labels(what, error.reason).inc()
            raise
        except BaseException:
            breaker.note_abandoned()
            raise
        breaker.note_success()
        KNOWLEDGE_CALLS.labels(what, "ok").inc()
        return answer

    async def _post(self, path: str, content: bytes, headers: Mapping[str, str], done: tuple[int, ...] = ()) -> bytes:
        return await self._read("POST", path, content, headers, done)

    async def _read(
        self, method: str, path: str, content: bytes, headers: Mapping[str, str], done: tuple[int, ...] = ()
    ) -> bytes:
        """The body up to the limit, in raw bytes, because compressed data can expand without bound."""
        async with self._client.stream(method, self._base + path, content=content, headers=headers) as answer:
            status = answer.status_code
            if status not in done:
                _accept(status)
            if answer.headers.get("content-encoding", "identity") != "identity":
                raise KnowledgeUnavailable("malformed", "compressed, although it was requested uncompressed")
            received = bytearray()
            async for part in answer.aiter_raw():
                received += part
                if len(received) > MAX_BYTES:
                    raise KnowledgeUnavailable("too_large")
        return bytes(received)


def _breaker(clock: Callable[[], float]) -> Breaker:
    return Breaker(clock, failures=FAILURES, window_s=WINDOW_S, cooldown_s=COOLDOWN_S)


def _accept(status: int) -> None:
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        raise KnowledgeUnavailable("redirected", str(status))
    if status in (400, 404, 413, 415, 422):
        raise KnowledgeUnavailable("refused", str(status))
    raise KnowledgeUnavailable("server_error", str(status))


async def _in_time(call: Callable[[], Awaitable[T]], deadline_s: float) -> T:
    try:
        async with asyncio.timeout(deadline_s):
            return await call()
    except (TimeoutError, httpx.TimeoutException) as error:
        raise KnowledgeUnavailable("timeout") from error
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
        raise KnowledgeUnavailable("connection", type(error).__name__) from error


def _headers(scope: Scope) -> dict[str, str]:
    named: dict[str, Any] = {
        "x-tenant-id": scope.tenant_id,
        "x-org-id": scope.org_id,
        "x-profile-id": scope.profile_id,
        "x-user-id": scope.user_id,
    }
    return {name: quote(value, safe="") for name, value in named.items() if value}
