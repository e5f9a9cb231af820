"""Routes of the settings of a user or a tenant, and of the requester's own access."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from schemas.base import ExternalId
from schemas.settings import AccessView, SettingsChange, SettingsView
from schemas.turn_events import FieldProblem
from services.compose.manage import settings
from services.compose.routes.access import READ, WRITE, ActsAs, AskedBy, choose_owner, count_user
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import ParsedBody, ServiceRuntime, TenantId, UserId, json_of, parse_body
from shared.access.refusals import refuse_denied
from shared.domain.subjects import Subject, find_scope_denial, find_tenant_denial, sort_scopes
from shared.errors import RefusedError

OptionalUserId = Annotated[ExternalId | None, Query(description="User; by default the settings of the tenant")]

router = APIRouter(prefix="/v1/settings", tags=["settings"])


async def get_owner(
    request: Request, requester: AskedBy, user_id: OptionalUserId = None, tenant_id: TenantId | None = None
) -> Subject:
    """Whose settings are requested: a user's, or a tenant's."""
    owner = choose_owner(requester, tenant_id, user_id)
    if user_id is not None:
        count_user(request, requester, owner)
    return owner


SettingsOwner = Annotated[Subject, Depends(get_owner)]


@router.get(
    "",
    name="view",
    dependencies=[READ],
    summary="The settings of a user or a tenant, with their sources and allowed values",
)
async def get_settings(owner: SettingsOwner, requester: AskedBy, rt: ServiceRuntime) -> SettingsView:
    return await settings.load_view(rt, owner, requester)


@router.patch(
    "",
    response_model=SettingsView,
    openapi_extra=body_of(SettingsChange),
    name="change",
    dependencies=[WRITE],
    summary="Change settings, at once in every process; null restores the default. Those of a tenant need `admin`",
)
async def change_settings(
    body: Annotated[ParsedBody[SettingsChange], Depends(parse_body(SettingsChange))],
    owner: SettingsOwner,
    requester: AskedBy,
    by: ActsAs,
    rt: ServiceRuntime,
) -> Response:
    if not owner.user_id and (denial := find_scope_denial(requester, "admin")):
        raise refuse_denied(denial)
    if body.ignored:
        problems = tuple(FieldProblem(field=name, problem="is no setting") for name in body.ignored)
        raise RefusedError("invalid_request", f"{problems[0].field}: {problems[0].problem}", problems)
    return json_of(await settings.change_settings(rt, owner, requester, body.value, by))


access_router = APIRouter(prefix="/v1/access", tags=["access"])


@access_router.get(
    "", name="access", dependencies=[READ], summary="The tenant, user and scopes of the key or token of this request"
)
async def show_access(
    requester: AskedBy, tenant_id: TenantId | None = None, user_id: UserId | None = None
) -> AccessView:
    """The access of the key or token; refused if the requester may not act for the named tenant or user."""
    if user_id is not None:
        choose_owner(requester, tenant_id, user_id)
    elif tenant_id is not None and (denial := find_tenant_denial(requester, tenant_id)):
        raise refuse_denied(denial)
    return AccessView(
        name=requester.name,
        tenant_id=requester.tenant_id,
        user_id=requester.user_id,
        users_from=requester.users_from,
        scopes=sort_scopes(requester.scopes),
    )
