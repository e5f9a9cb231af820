"""Routes by which a user looks after all that is known of them: what changed, all of it out, and in again."""

from fastapi import APIRouter

from schemas.changes import ChangePage
from services.compose.manage import changes
from services.compose.routes.access import READ
from services.compose.routes.requests import Limit, Offset, Owner, ServiceRuntime

router = APIRouter(prefix="/v1", tags=["memories"])


@router.get(
    "/changes",
    name="changes",
    dependencies=[READ],
    summary="What was learnt, changed, ended, taken back, merged or confirmed, newest first",
)
async def list_changes(owner: Owner, rt: ServiceRuntime, limit: Limit = 50, offset: Offset = 0) -> ChangePage:
    return await changes.load_page(rt, owner, limit, offset)
