"""Routes of documents sent to knowledge and of the agent's experience."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from schemas.experience import ExperiencePage
from schemas.resources import KnowledgeChanged, KnowledgeVersion, ResourcePage, ResourceState
from services.compose.manage import library
from services.compose.routes.access import OPERATE, READ, AskedBy, choose_owner
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import (
    Limit,
    Owner,
    ParsedBody,
    ServiceRuntime,
    TenantId,
    UserId,
    json_of,
    parse_body,
)

router = APIRouter(prefix="/v1", tags=["knowledge"])
experience_router = APIRouter(prefix="/v1/experience", tags=["experience"])


@router.get(
    "/resources",
    name="resources",
    dependencies=[READ],
    summary="Resources of a user's turns on the knowledge side, with their states",
)
async def list_resources(
    owner: Owner,
    rt: ServiceRuntime,
    state: Annotated[ResourceState | None, Query()] = None,
    turn_id: Annotated[UUID | None, Query(description="Only of this turn")] = None,
    limit: Limit = 50,
) -> ResourcePage:
    return await library.load_page(rt, owner, state=state, turn_id=turn_id, limit=limit)


@router.post(
    "/knowledge/changed",
    response_model=KnowledgeVersion,
    openapi_extra=body_of(KnowledgeChanged),
    name="changed",
    dependencies=[OPERATE],
    summary="Report a change of knowledge: cached answers are not used again",
)
async def note_change(
    body: Annotated[ParsedBody[KnowledgeChanged], Depends(parse_body(KnowledgeChanged))], rt: ServiceRuntime
) -> Response:
    return json_of(await library.note_change(rt, body.value))


@experience_router.get(
    "", name="learnt", dependencies=[READ], summary="What the agents of a tenant have learnt about their tools"
)
async def list_experience(
    requester: AskedBy, rt: ServiceRuntime, tenant_id: TenantId | None = None, user_id: UserId | None = None
) -> ExperiencePage:
    return await library.list_experience(rt, choose_owner(requester, tenant_id, user_id))
