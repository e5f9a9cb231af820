"""Who asks, and whether they may: a route states the scope that it needs, and the tenant comes from the key."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import Depends, Request, Security, params
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from schemas.vocabulary import AccessScope
from shared import parsing
from shared.access.authenticator import Authenticator
from shared.access.refusals import refuse_denied, refuse_stranger
from shared.domain.requesters import (
    Denial,
    Requester,
    find_name_denial,
    find_owner_denial,
    find_scope_denial,
    find_tenant_denial,
    find_user_denial,
)
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


CLAIMS: Mapping[str, Callable[[Requester, str], Denial | None]] = {
    "tenant_id": find_tenant_denial,
    "user_id": find_user_denial,
    "requested_by": find_name_denial,
}
"""What a body may say of whose data it is about and who asks, and what tells whether it may."""


def apply_key(requester: Requester, model: type[BaseModel], raw: dict[str, Any]) -> dict[str, Any]:
    """The body with the tenant and the name of the key where it says none; RefusedError 403 where it says another's."""
    body = parsing.unwrap_turn(raw)
    for name, find_denial in CLAIMS.items():
        if isinstance(claim := body.get(name), str) and (denial := find_denial(requester, claim)):
            raise refuse_denied(denial)
    of_key = {"tenant_id": requester.tenant_id, "requested_by": requester.name or None}
    missing = {name: value for name, value in of_key.items() if value and body.get(name) is None}
    return {**raw, **{name: value for name, value in missing.items() if name in model.model_fields}}


def find_owner(requester: Requester, message: BaseModel) -> Subject | None:
    """The user whom what was read is about, if it names one.

    RefusedError 403 where it is about somebody, or a whole tenant, that the requester may not act for.
    """
    tenant_id, user_id = getattr(message, "tenant_id", None), getattr(message, "user_id", None)
    if tenant_id is None:
        return None
    if denial := find_owner_denial(requester, tenant_id, user_id):
        raise refuse_denied(denial)
    return None if user_id is None else Subject(tenant_id, user_id)
