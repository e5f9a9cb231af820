"""Routes of erasure: ask, look, try again (decision 10, X39)."""

from typing import Annotated
from uuid import UUID

from fastapi import FastAPI, Query, Request, Response

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
from services.compose.receipts.recorder import Recorder
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import TenantId, UserId, json_of, parse_request
from shared.domain.subjects import Subject
from shared.runtime import Runtime


def erasure_routes(app: FastAPI, rt: Runtime, recorder: Recorder) -> None:
    """The routes are part of the application."""

    @app.post(
        "/v1/erasures",
        response_model=DeletionReceipt,
        status_code=202,
        openapi_extra=body_of(ErasureRequest),
        tags=["erasure"],
        summary="Erase for good: nothing of it is shown or learnt from once this answers; the rows follow",
    )
    async def ask(request: Request) -> Response:
        asked, _ = await parse_request(request, ErasureRequest)
        key = request.headers.get("idempotency-key")
        if key and asked.idempotency_key is None:
            asked = ErasureRequest.model_validate({**asked.model_dump(), "idempotency_key": key})
        return json_of(await erasures.ask(rt, recorder, asked), 202)

    @app.get("/v1/erasures", tags=["erasure"], summary="A user's erasures, newest first")
    async def page(
        user_id: UserId, tenant_id: TenantId = "default", limit: Annotated[int, Query(ge=1, le=200)] = 50
    ) -> ErasurePage:
        return await erasures.page(rt, Subject(tenant_id, user_id), limit)

    @app.get(
        "/v1/erasures/{tombstone_id}",
        tags=["erasure"],
        summary="An erasure: its state, how far each store is, and the proof once it is completed",
    )
    async def one(tombstone_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> ErasureView:
        return await erasures.view(rt, Subject(tenant_id, user_id), tombstone_id)

    @app.post(
        "/v1/erasures/{tombstone_id}/requeue",
        response_model=ErasureView,
        status_code=202,
        openapi_extra=body_of(ErasureRequeue),
        tags=["erasure"],
        summary="An operator has an escalated erasure tried again",
    )
    async def requeue(tombstone_id: UUID, request: Request) -> Response:
        asked, _ = await parse_request(request, ErasureRequeue)
        return json_of(await erasures.requeue(rt, tombstone_id, asked), 202)

    @app.get(
        "/v1/erasures/{tombstone_id}/residue",
        response_model=ResidueView,
        tags=["erasure"],
        summary="Every text column of every table looked through now for what the erasure covers",
    )
    async def residue(tombstone_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> Response:
        return json_of(await erasures.residue_of(rt, Subject(tenant_id, user_id), tombstone_id))

    @app.delete(
        "/v1/memories",
        response_model=DeletionReceipt,
        status_code=202,
        openapi_extra=body_of(ForgetRequest, required=False),
        tags=["erasure"],
        summary="Erase the memories named, or without any all that was learnt of the user",
    )
    async def forget(request: Request, user_id: UserId, tenant_id: TenantId = "default") -> Response:
        body = await request.body()
        asked, _ = await parse_request(request, ForgetRequest) if body else (ForgetRequest(), ())
        return json_of(await erasures.forget(rt, recorder, Subject(tenant_id, user_id), asked), 202)

    del ask, page, one, requeue, residue, forget
