"""Routes that compose a package or execute a plan."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.evidence_pack import EvidencePack
from schemas.retrieve import RetrieveRequest
from services.compose.context.pipeline import compose_context, execute_plan
from services.compose.routes.access import READ
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import PackageRecorder, ParsedBody, ServiceRuntime, json_of, parse_body
from shared.metrics.packages import COMPOSE_SECONDS

router = APIRouter(prefix="/v1", tags=["compose"])


@router.post(
    "/context",
    response_model=ContextPackage,
    openapi_extra=body_of(ComposeRequest),
    name="context",
    dependencies=[READ],
    summary="Compose the smallest sufficient context for one message",
)
async def post_context(
    body: Annotated[ParsedBody[ComposeRequest], Depends(parse_body(ComposeRequest))],
    rt: ServiceRuntime,
    recorder: PackageRecorder,
) -> Response:
    with COMPOSE_SECONDS.labels("http").time():
        composition = await compose_context(body.value, rt, ignored=body.ignored)
        await recorder.note(composition)
        return json_of(composition.package, lean=True)


@router.post(
    "/retrieve",
    response_model=EvidencePack,
    openapi_extra=body_of(RetrieveRequest),
    name="run_plan",
    dependencies=[READ],
    summary="Execute a retrieval plan",
)
async def run_plan(
    body: Annotated[ParsedBody[RetrieveRequest], Depends(parse_body(RetrieveRequest))],
    rt: ServiceRuntime,
    recorder: PackageRecorder,
) -> Response:
    execution = await execute_plan(body.value, rt, ignored=body.ignored)
    await recorder.note(execution)
    return json_of(execution.pack)
