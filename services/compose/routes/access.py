"""Authentication, access scopes and limits: a route states the scope that it needs; the key determines the tenant.

Limits apply per key, per user, to concurrent requests, and to their duration (429 and 503).
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from typing import Annotated

from cachetools import TTLCache
from fastapi import Depends, Query, Request, Security, params
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.base import ExternalId, Reason
from schemas.turn_events import FieldProblem
from schemas.vocabulary import AccessScope
from shared import parsing
from shared.access.authenticator import Authenticator
from shared.access.refusals import refuse_denied, refuse_stranger
from shared.domain.rates import Bucket, Rate, take_token
from shared.domain.subjects import LOCAL, Requester, Subject, find_name_denial, find_owner_denial, find_scope_denial
from shared.errors import RefusedError, TransientError
from shared.metrics.access import REQUESTS_DENIED, REQUESTS_LIMITED
from shared.policy import LimitsPolicy
from shared.store.flow import Whose
from shared.store.operator_acts import Operator

PROBES = frozenset({"/live", "/ready", "/metrics"})
"""Paths without authentication: monitors have no key, and the answers hold no user data."""
_BEARER = HTTPBearer(auto_error=False, description="A key of `smartbrain keys create`, or a token of a named issuer")


def needs(scope: AccessScope) -> params.Depends:
    """The dependency of a route on an access scope."""
    return Security(_BEARER, scopes=[scope])


READ, WRITE, ERASE, OPERATE = needs("read"), needs("write"), needs("erase"), needs("operate")


def scope_of(route: APIRoute) -> AccessScope:
    """The scope that the route needs; `admin` if it states none."""
    stated = [each.scopes for each in route.dependencies if isinstance(each, params.Security) and each.scopes]
    return stated[0][0] if stated else "admin"  # pyright: ignore[reportReturnType] # `needs` takes no other


class Authenticate:
    """Authenticates every request except probes before a route is called."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app = app
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 401 to unknown requesters, and 503 while they cannot be checked."""
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope).getlist("authorization")
        try:
            if len(headers) > 1:
                raise refuse_stranger("is given more than once")
            requester = await self._authenticator.identify(headers[0] if headers else None)
        except RefusedError as error:
            REQUESTS_DENIED.labels(error.code).inc()
            await answer_at_door(scope, error)(scope, receive, send)
        except TransientError:
            away = RefusedError("unavailable", "a dependency is away; nothing was written; try again", (), 503, 1)
            await answer_at_door(scope, away)(scope, receive, send)
        else:
            scope["state"]["requester"] = requester
            await self._app(scope, receive, send)


def answer_at_door(scope: Scope, error: RefusedError) -> Response:
    """The response to a request that is refused before any route."""
    reply = parsing.reply_of(error, scope["state"]["request_id"])
    headers = {"www-authenticate": "Bearer"} if error.status == 401 else {}
    if error.retry_after_s is not None:
        headers["retry-after"] = str(error.retry_after_s)
    return Response(reply.model_dump_json(), error.status, headers, media_type="application/json")


async def get_requester(request: Request) -> Requester:
    return request.state.requester


AskedBy = Annotated[Requester, Depends(get_requester)]


async def refuse_lacking_scope(request: Request, requester: AskedBy) -> None:
    """RefusedError 403 if the requester lacks the scope of the route."""
    route = request.scope.get("route")
    if isinstance(route, APIRoute) and (denial := find_scope_denial(requester, scope_of(route))):
        raise refuse_denied(denial)


def choose_owner(requester: Requester, tenant_id: str | None, user_id: str | None) -> Subject:
    """The user whose data is requested, by default in the key's tenant; RefusedError 403 if the requester may not."""
    tenant = tenant_id or requester.tenant_id or "default"
    if denial := find_owner_denial(requester, tenant, user_id):
        raise refuse_denied(denial)
    return Subject(tenant, user_id or "")


async def get_operator(
    requester: AskedBy,
    requested_by: Annotated[ExternalId | None, Query(description="Operator; must be the name of the key")] = None,
    reason: Annotated[Reason | None, Query(description="Reason; recorded with the operator")] = None,
) -> Operator:
    """The operator and the reason, for requests without a body; RefusedError 403 for another name than the key's."""
    if requested_by and (denial := find_name_denial(requester, requested_by)):
        raise refuse_denied(denial)
    return Operator(requested_by or requester.name or None, reason)


ActsAs = Annotated[Operator, Depends(get_operator)]
OfTenant = Annotated[ExternalId | None, Query(description="Only of this tenant")]
OfUser = Annotated[ExternalId | None, Query(description="Only of this user")]


async def get_whose(requester: AskedBy, user_id: OfUser = None, tenant_id: OfTenant = None) -> Whose:
    """Whom an operator asks about; everybody if nobody is named and the key is bound to no tenant."""
    tenant = tenant_id or requester.tenant_id
    if tenant is not None:
        choose_owner(requester, tenant, user_id)
    return Whose(tenant, user_id)


OfWhom = Annotated[Whose, Depends(get_whose)]
MOST_BUCKETS = 20_000
"""The most buckets; the least recently used is dropped and starts full again."""
Holder = tuple[str | None, str]


class _Buckets:
    """A token bucket for each recent requester; full ones are dropped."""

    def __init__(self, rate: Rate, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._clock = clock
        self._kept: TTLCache[Hashable, Bucket] = TTLCache(MOST_BUCKETS, rate.fills_in_s, clock)

    def take(self, whose: Hashable) -> float:
        """Takes a token and returns 0, or returns the seconds until there is one."""
        bucket, wait_s = take_token(self._kept.get(whose), self._rate, self._clock())
        self._kept[whose] = bucket
        return wait_s


class Limiter:
    """Limits the requests of this process; refused requests cost no token."""

    def __init__(self, policy: LimitsPolicy, clock: Callable[[], float] = time.monotonic) -> None:
        self.policy = policy
        self._of_keys = _Buckets(Rate(policy.key_per_s, policy.key_burst), clock)
        self._of_users = _Buckets(Rate(policy.user_per_s, policy.user_burst), clock)
        self._under_way = Counter[Holder]()

    def begin(self, requester: Requester) -> None:
        """Counts a request as running; RefusedError 429 if the requester sends too many."""
        most, who = self.policy.key_at_once, _holder(requester)
        if most and self._under_way[who] >= most:
            raise _refuse("key_at_once", "key", f"more than {most} requests with this key are under way", 1)
        if wait_s := self._of_keys.take(who):
            raise _refuse("key_per_s", "key", _too_often(self.policy.key_per_s, "with this key"), wait_s)
        self._under_way[who] += 1

    @contextmanager
    def count_key(self, requester: Requester) -> Generator[None]:
        """As `begin` and `end`; requests without a key are not counted."""
        if requester is LOCAL:
            yield
            return
        self.begin(requester)
        try:
            yield
        finally:
            self.end(requester)

    def end(self, requester: Requester) -> None:
        """Counts a request as finished."""
        who = _holder(requester)
        self._under_way[who] -= 1
        if not self._under_way[who]:
            del self._under_way[who]

    def count_user(self, requester: Requester, about: Subject) -> None:
        """Counts a request about this user; RefusedError 429 if there are too many."""
        if requester is not LOCAL and (wait_s := self._of_users.take(about)):
            raise _refuse("user_per_s", "user_id", _too_often(self.policy.user_per_s, "about this user"), wait_s)


def _holder(requester: Requester) -> Holder:
    """The owner of the bucket: the key, also after rotation, or the user of the token."""
    return requester.tenant_id, requester.name


def _too_often(per_s: float, what: str) -> str:
    return f"more than {per_s:g} requests a second {what}"


def _refuse(limit: str, field: str, problem: str, wait_s: float) -> RefusedError:
    REQUESTS_LIMITED.labels(limit).inc()
    retry_after_s = max(1, math.ceil(wait_s))
    told = f"{problem} (limits.{limit}); try again in {retry_after_s} s"
    details = (FieldProblem(field=field, problem=told),)
    return RefusedError("rate_limited", f"{field}: {told}", details, 429, retry_after_s)


def count_user(request: Request, requester: Requester, about: Subject) -> None:
    """RefusedError 429 if this application is asked about the user too often."""
    limiter: Limiter = request.app.state.limiter
    limiter.count_user(requester, about)


class LimitKeys:
    """Limits requests per key, after authentication."""

    def __init__(self, app: ASGIApp, limiter: Limiter) -> None:
        self._app = app
        self._limiter = limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 429 if the key sends too many requests."""
        requester: Requester | None = scope.get("state", {}).get("requester")
        if requester is None or requester is LOCAL:
            await self._app(scope, receive, send)
            return
        try:
            self._limiter.begin(requester)
        except RefusedError as error:
            await answer_at_door(scope, error)(scope, receive, send)
            return
        try:
            await self._app(scope, receive, send)
        finally:
            self._limiter.end(requester)


WHOLE, WHOLE_TIMES = frozenset(("/v1/export", "/v1/import")), 20
"""Routes of export and import, and how many times longer they may take."""


class LimitRequests:
    """Limits the number and the duration of concurrent requests, except probes."""

    def __init__(self, app: ASGIApp, policy: LimitsPolicy) -> None:
        self._app = app
        self._policy = policy
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 503 if there are too many requests or one takes too long."""
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        most = self._policy.requests_at_once
        if most and self._under_way >= most:
            REQUESTS_LIMITED.labels("requests_at_once").inc()
            problem = f"{most} requests are under way (limits.requests_at_once); nothing was written; try again"
            await answer_at_door(scope, RefusedError("busy", problem, (), 503, 1))(scope, receive, send)
            return
        self._under_way += 1
        try:
            await self._answer_in_time(scope, receive, send)
        finally:
            self._under_way -= 1

    async def _answer_in_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def send_noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        most_s = self._policy.request_s * (WHOLE_TIMES if scope["path"] in WHOLE else 1)
        deadline = asyncio.timeout(most_s or None)
        try:
            async with deadline:
                await self._app(scope, receive, send_noted)
        except TimeoutError:
            if begun or not deadline.expired():
                raise
            REQUESTS_LIMITED.labels("request_s").inc()
            problem = (
                f"took longer than {most_s:g} s (limits.request_s); whether anything was written is not known:"
                " try again with the same idempotency key"
            )
            await answer_at_door(scope, RefusedError("timeout", problem, (), 503, 1))(scope, receive, send)
