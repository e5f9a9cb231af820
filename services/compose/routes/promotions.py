"""Routes of promotions: memories that qualify to be offered to others, and what was decided of each."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from schemas.promotion import PromotionDecision, PromotionPage, PromotionStatus, PromotionView
from services.compose.manage import promotions
from services.compose.routes.access import OPERATE, READ
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import (
    Limit,
    Owner,
    ParsedBody,
    ServiceRuntime,
    json_of,
    parse_body,
)

router = APIRouter(prefix="/v1/promotions", tags=["promotions"])


@router.get("", name="proposals", dependencies=[READ], summary="A user's memories that qualify to be offered to others")
async def list_proposals(
    owner: Owner,
    rt: ServiceRuntime,
    status: Annotated[PromotionStatus | None, Query()] = None,
    limit: Limit = 50,
) -> PromotionPage:
    return await promotions.page(rt, owner, status, limit)


@router.post(
    "/{proposal_id}",
    response_model=PromotionView,
    openapi_extra=body_of(PromotionDecision),
    name="decide",
    dependencies=[OPERATE],
    summary="Approve or reject; nothing is written elsewhere yet. One that was not decided in time is `expired`",
)
async def decide(
    proposal_id: UUID,
    body: Annotated[ParsedBody[PromotionDecision], Depends(parse_body(PromotionDecision))],
    rt: ServiceRuntime,
) -> Response:
    return json_of(await promotions.decide(rt, proposal_id, body.value))
