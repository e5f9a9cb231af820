"""Routes of promotions: candidates and decisions."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from schemas.promotion import PromotionDecision, PromotionPage, PromotionRetry, PromotionStatus, PromotionView
from services.compose.manage import promotions
from services.compose.routes.access import OPERATE, READ
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import Limit, Owner, ParsedBody, ServiceRuntime, json_of, parse_body

router = APIRouter(prefix="/v1/promotions", tags=["promotions"])


@router.get("", name="proposals", dependencies=[READ], summary="A user's proposals to share memories with others")
async def list_proposals(
    owner: Owner,
    rt: ServiceRuntime,
    status: Annotated[PromotionStatus | None, Query()] = None,
    limit: Limit = 50,
) -> PromotionPage:
    return await promotions.load_page(rt, owner, status, limit)


@router.post(
    "/{proposal_id}",
    response_model=PromotionView,
    openapi_extra=body_of(PromotionDecision),
    name="decide",
    dependencies=[OPERATE],
    summary="Approve a proposal, which writes it to the knowledge side, or reject it; without a "
    "decision in time it is `expired`",
)
async def decide(
    proposal_id: UUID,
    body: Annotated[ParsedBody[PromotionDecision], Depends(parse_body(PromotionDecision))],
    rt: ServiceRuntime,
) -> Response:
    return json_of(await promotions.decide(rt, proposal_id, body.value))


@router.post(
    "/{proposal_id}/retry",
    response_model=PromotionView,
    status_code=202,
    openapi_extra=body_of(PromotionRetry),
    name="retry",
    dependencies=[OPERATE],
    summary="Retry the write of an approved promotion after `write_failed`, as an operator",
)
async def retry(
    proposal_id: UUID,
    body: Annotated[ParsedBody[PromotionRetry], Depends(parse_body(PromotionRetry))],
    rt: ServiceRuntime,
) -> Response:
    return json_of(await promotions.retry(rt, proposal_id, body.value), 202)
