"""Route of the requester's own access."""

from fastapi import APIRouter

from schemas.access import AccessView
from services.compose.routes.access import READ, AskedBy, choose_owner
from services.compose.routes.requests import TenantId, UserId
from shared.access.refusals import refuse_denied
from shared.domain.subjects import find_tenant_denial, sort_scopes

router = APIRouter(prefix="/v1/access", tags=["access"])


@router.get(
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
