"""Who asks, and whether they may: a route states the scope that it needs, and the tenant comes from the key."""

from typing import Annotated

from fastapi import Depends, Request, Security, params
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from schemas.vocabulary import AccessScope
from shared import parsing
from shared.access.authenticator import Authenticator
from shared.access.refusals import refuse_denied, refuse_stranger
from shared.domain.requesters import Requester, find_owner_denial, find_scope_denial
from shared.domain.subjects import Subject
from shared.errors import RefusedError, TransientError
from shared.metrics.access import REQUESTS_DENIED

PROBES = frozenset({"/live", "/ready", "/metrics"})
"""What is asked without a key: whatever watches the service has none, and nothing of anybody is in the answers."""
_BEARER = HTTPBearer(auto_error=False, description="A key of `smartbrain keys create`, or a token of a named issuer")


def needs(scope: AccessScope) -> params.Depends:
    """Stands in the dependencies of a route: what whoever asks for it must be allowed to do."""
    return Security(_BEARER, scopes=[scope])


READ, WRITE, ERASE, OPERATE = needs("read"), needs("write"), needs("erase"), needs("operate")


def scope_of(route: APIRoute) -> AccessScope:
    """What the route says that it needs; everything where it says nothing."""
    stated = [each.scopes for each in route.dependencies if isinstance(each, params.Security) and each.scopes]
    return stated[0][0] if stated else "admin"  # pyright: ignore[reportReturnType] # `needs` takes no other


class Authenticate:
    """Whoever asks for anything but a probe is known, or refused before a route is asked."""

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app = app
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application's answer to a known requester, 401, or 503 while nobody can tell."""
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
    """The refusal of a request that no route is asked about."""
    reply = parsing.reply_of(error, scope["state"]["request_id"])
    headers = {"www-authenticate": "Bearer"} if error.status == 401 else {}
    if error.retry_after_s is not None:
        headers["retry-after"] = str(error.retry_after_s)
    return Response(reply.model_dump_json(), error.status, headers, media_type="application/json")


async def get_requester(request: Request) -> Requester:
    """Who asks."""
    return request.state.requester


AskedBy = Annotated[Requester, Depends(get_requester)]


async def refuse_lacking_scope(request: Request, requester: AskedBy) -> None:
    """RefusedError 403 where the route needs a scope that the requester does not have."""
    route = request.scope.get("route")
    if isinstance(route, APIRoute) and (denial := find_scope_denial(requester, scope_of(route))):
        raise refuse_denied(denial)


def choose_owner(requester: Requester, tenant_id: str | None, user_id: str | None) -> Subject:
    """Whose data it is: of the key's tenant where none is named; RefusedError 403 where the requester may not."""
    tenant = tenant_id or requester.tenant_id or "default"
    if denial := find_owner_denial(requester, tenant, user_id):
        raise refuse_denied(denial)
    return Subject(tenant, user_id or "")
