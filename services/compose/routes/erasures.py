"""Routes of erasures."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response

from schemas.erasure import (
    DeletionReceipt,
    ErasurePage,
    ErasureRequest,
    ErasureRequeue,
    ErasureView,
    ForgetRequest,
    ResidueView,
)
from services.compose.manage import erasures
from services.compose.routes.access import ERASE, OPERATE, READ, AskedBy
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import (
    Limit,
    Owner,
    PackageRecorder,
    ParsedBody,
    ServiceRuntime,
    json_of,
    parse_body,
    with_key,
)
from shared.domain.subjects import Requester

router = APIRouter(prefix="/v1", tags=["erasure"])
_parse_forget = parse_body(ForgetRequest)


async def parse_forget(request: Request) -> ParsedBody[ForgetRequest]:
    """The request to forget; everything, if there is no body."""
    return await _parse_forget(request) if await request.body() else ParsedBody(ForgetRequest())


def add_reason(erasure: ErasureRequest, requester: Requester) -> ErasureRequest:
    """Adds the default reason if a key that is bound to no user gives none."""
    if erasure.reason or requester.tenant_id is None or requester.name == erasure.user_id:
        return erasure
    return erasure.model_copy(update={"reason": f"asked with {requester.name}"})


@router.post(
    "/erasures",
    response_model=DeletionReceipt,
    status_code=202,
    openapi_extra=body_of(ErasureRequest),
    name="ask",
    dependencies=[ERASE],
    summary="Erase permanently: the data is hidden once this returns, and deleted afterwards",
)
async def post_erasure(
    request: Request,
    requester: AskedBy,
    body: Annotated[ParsedBody[ErasureRequest], Depends(parse_body(ErasureRequest))],
    rt: ServiceRuntime,
    recorder: PackageRecorder,
) -> Response:
    asked = with_key(body.value, request)
    return json_of(await erasures.request_erasure(rt, recorder, add_reason(asked, requester)), 202)


@router.get("/erasures", name="page", dependencies=[READ], summary="A user's erasures, newest first")
async def list_erasures(owner: Owner, rt: ServiceRuntime, limit: Limit = 50) -> ErasurePage:
    return await erasures.load_page(rt, owner, limit)


@router.get(
    "/erasures/{tombstone_id}",
    name="one",
    dependencies=[READ],
    summary="An erasure: its state, the progress of each store, and the proof once it is completed",
)
async def get_erasure(tombstone_id: UUID, owner: Owner, rt: ServiceRuntime) -> ErasureView:
    return await erasures.load_view(rt, owner, tombstone_id)


@router.post(
    "/erasures/{tombstone_id}/requeue",
    response_model=ErasureView,
    status_code=202,
    openapi_extra=body_of(ErasureRequeue),
    name="requeue",
    dependencies=[OPERATE],
    summary="Retry an escalated erasure, as an operator",
)
async def requeue(
    tombstone_id: UUID,
    body: Annotated[ParsedBody[ErasureRequeue], Depends(parse_body(ErasureRequeue))],
    rt: ServiceRuntime,
) -> Response:
    return json_of(await erasures.requeue(rt, tombstone_id, body.value), 202)


@router.get(
    "/erasures/{tombstone_id}/residue",
    response_model=ResidueView,
    name="residue",
    dependencies=[ERASE],
    summary="Scan every text column of every table now for residue of the erasure",
)
async def get_residue(tombstone_id: UUID, owner: Owner, rt: ServiceRuntime) -> Response:
    return json_of(await erasures.scan_residue(rt, owner, tombstone_id))


@router.delete(
    "/memories",
    response_model=DeletionReceipt,
    status_code=202,
    openapi_extra=body_of(ForgetRequest, required=False),
    name="forget",
    dependencies=[ERASE],
    summary="Erase the named memories, or, if none is named, everything learnt about the user",
)
async def forget(
    body: Annotated[ParsedBody[ForgetRequest], Depends(parse_forget)],
    requester: AskedBy,
    owner: Owner,
    rt: ServiceRuntime,
    recorder: PackageRecorder,
) -> Response:
    asked = add_reason(erasures.to_request(owner, body.value, requester.name or None), requester)
    return json_of(await erasures.request_erasure(rt, recorder, asked), 202)
