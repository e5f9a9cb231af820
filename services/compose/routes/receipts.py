"""Routes of stored packages: lists, views, explanations, and executed plans."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response

from schemas.base import ExternalId
from schemas.context_package import ContextPackage
from schemas.messages import PackageMessages
from schemas.receipts import ContextPage, ContextReceipt
from schemas.retrieve import PlanView
from services.compose.receipts import packages
from services.compose.routes.access import READ
from services.compose.routes.requests import Limit, Offset, RecordedOwner, ServiceRuntime, json_of
from services.compose.rules.packing.receipts import Told

router = APIRouter(prefix="/v1", tags=["receipts"])


@router.get(
    "/contexts", name="page", dependencies=[READ], summary="The packages of a user or of one session, newest first"
)
async def list_contexts(
    owner: RecordedOwner,
    rt: ServiceRuntime,
    session_id: Annotated[ExternalId | None, Query(description="Only of this session")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> ContextPage:
    return await packages.load_page(rt, owner, session_id, limit, offset)


@router.get(
    "/contexts/{context_id}",
    name="package",
    dependencies=[READ],
    summary="A stored package; 410 `erased` after its erasure",
)
async def get_package(context_id: UUID, owner: RecordedOwner, rt: ServiceRuntime) -> ContextPackage:
    return await packages.load_package(rt, owner, context_id)


@router.get(
    "/contexts/{context_id}/messages",
    response_model=PackageMessages,
    name="chat",
    dependencies=[READ],
    summary="The package as messages of a chat API",
)
async def get_messages(
    context_id: UUID,
    owner: RecordedOwner,
    rt: ServiceRuntime,
    developer: Annotated[bool, Query(description="If false, developer rules are part of the system message")] = True,
) -> Response:
    return json_of(await packages.as_messages(rt, owner, context_id, developer=developer), lean=True)


@router.get(
    "/plans/{plan_id}",
    name="plan",
    dependencies=[READ],
    summary="A stored plan, by the `plan_id` of a pack or the `context_id` of a package",
)
async def get_plan(plan_id: UUID, owner: RecordedOwner, rt: ServiceRuntime) -> PlanView:
    return await packages.load_plan(rt, owner, plan_id)


@router.get(
    "/receipts/{context_id}",
    name="receipt",
    dependencies=[READ],
    summary="Why each candidate is in the package or not",
)
async def get_receipt(
    context_id: UUID,
    owner: RecordedOwner,
    rt: ServiceRuntime,
    item: Annotated[
        str | None, Query(max_length=2048, description="Id or address of an item; any memory is allowed")
    ] = None,
    lang: Annotated[Told, Query(description="Language of the sentences")] = "en",
) -> ContextReceipt:
    return await packages.load_receipt(rt, owner, context_id, item, lang)
