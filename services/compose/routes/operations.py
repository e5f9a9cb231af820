"""Operator routes of figures, of all users or of one; without words of users."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request

from schemas.base import ExternalId
from schemas.operations import AlertPage, ErasureOverviews, Flow, ModelUses, TimeSeries, TurnTrace, UserPage
from services.compose.manage import operations
from services.compose.manage.operations import trace_turn
from services.compose.routes.access import OPERATE, OfWhom
from services.compose.routes.requests import Limit, Offset, ServiceRuntime
from shared.bus.lags import GroupLags

router = APIRouter(prefix="/v1/operations", tags=["operations"])
users_router = APIRouter(prefix="/v1/users", tags=["operations"])


async def get_lags(request: Request) -> GroupLags:
    return request.app.state.lags


Lags = Annotated[GroupLags, Depends(get_lags)]


@users_router.get(
    "", name="users", dependencies=[OPERATE], summary="Users with their figures, the most recently active first"
)
async def get_users(
    rt: ServiceRuntime,
    whose: OfWhom,
    begins: Annotated[ExternalId | None, Query(description="Prefix of the user id")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> UserPage:
    return await operations.list_users(rt, whose, begins, limit, offset)


@router.get("/flow", name="flow", dependencies=[OPERATE], summary="The current backlogs")
async def get_flow(rt: ServiceRuntime, lags: Lags, whose: OfWhom) -> Flow:
    return await operations.show_flow(rt, lags, whose)


@router.get("/series", name="series", dependencies=[OPERATE], summary="Turns and packages over time, with durations")
async def get_series(
    rt: ServiceRuntime,
    whose: OfWhom,
    minutes: Annotated[int, Query(ge=5, le=10_080, description="Length of the window in minutes")] = 60,
) -> TimeSeries:
    return await operations.show_series(rt, whose, minutes)


@router.get(
    "/alerts",
    name="alerts",
    dependencies=[OPERATE],
    summary="The current alerts that can be computed without Prometheus",
)
async def get_alerts(rt: ServiceRuntime, lags: Lags, whose: OfWhom) -> AlertPage:
    return await operations.list_alerts(rt, lags, whose)


@router.get(
    "/erasures",
    name="overview of erasures",
    dependencies=[OPERATE],
    summary="Erasures of all users, open ones first, with deadlines and proofs",
)
async def get_erasures(rt: ServiceRuntime, whose: OfWhom, limit: Limit = 50) -> ErasureOverviews:
    return await operations.list_erasures(rt, whose, limit)


@router.get("/models", name="models", dependencies=[OPERATE], summary="Model calls and their cost")
async def get_models(
    rt: ServiceRuntime,
    whose: OfWhom,
    days: Annotated[int, Query(ge=1, le=90, description="Number of days (UTC) including today")] = 14,
) -> ModelUses:
    return await operations.list_models(rt, whose, days)


@router.get(
    "/turns/{turn_id}",
    name="trace",
    dependencies=[OPERATE],
    summary="A turn through every step, by its id: its current step, or the one that gave up",
)
async def get_turn_trace(turn_id: UUID, rt: ServiceRuntime, whose: OfWhom) -> TurnTrace:
    return await trace_turn(rt, whose, turn_id)
