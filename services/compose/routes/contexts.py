"""Routes of packages: compose one or execute a plan, explain and replay it, and what is stored of it."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from schemas.base import ExternalId
from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage, PackageMessages
from schemas.evidence_pack import EvidencePack
from schemas.explanation import ExplainRequest, Explanation, Replay
from schemas.receipts import ContextPage, ContextReceipt, MemoryUses
from schemas.retrieval_plan import PlanView, RetrieveRequest
from services.compose.context.pipeline import compose_context, execute_plan
from services.compose.manage import explaining
from services.compose.receipts import packages
from services.compose.routes.access import READ
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import (
    Limit,
    Offset,
    PackageRecorder,
    ParsedBody,
    RecordedOwner,
    ServiceRuntime,
    json_of,
    parse_body,
)
from services.compose.rules.packing.receipts import Told
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


explain_router = APIRouter(prefix="/v1", tags=["explain"])
Language = Annotated[Told, Query(description="Of the sentences")]


@explain_router.post(
    "/explain",
    response_model=Explanation,
    openapi_extra=body_of(ExplainRequest),
    name="explain",
    dependencies=[READ],
    summary="The package for a message with its whole derivation, optionally under another policy; nothing is recorded",
)
async def explain_message(
    body: Annotated[ParsedBody[ExplainRequest], Depends(parse_body(ExplainRequest))],
    rt: ServiceRuntime,
    lang: Language = "en",
) -> Response:
    return json_of(await explaining.explain(rt, body.value, body.ignored, lang))


@explain_router.post(
    "/contexts/{context_id}/replay",
    response_model=Replay,
    name="replay",
    dependencies=[READ],
    summary="The package for the request of a stored one now, and the difference; nothing is recorded",
)
async def replay_package(context_id: UUID, owner: RecordedOwner, rt: ServiceRuntime, lang: Language = "en") -> Response:
    return json_of(await explaining.replay(rt, owner, context_id, lang))


@explain_router.get(
    "/memories/{memory_id}/uses",
    name="uses",
    dependencies=[READ],
    summary="The packages that contained a memory, with their messages and reception",
)
async def get_uses(
    memory_id: UUID, owner: RecordedOwner, rt: ServiceRuntime, limit: Limit = 50, offset: Offset = 0
) -> MemoryUses:
    return await explaining.list_uses(rt, owner, memory_id, limit, offset)


receipts_router = APIRouter(prefix="/v1", tags=["receipts"])


@receipts_router.get(
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


@receipts_router.get(
    "/contexts/{context_id}",
    name="package",
    dependencies=[READ],
    summary="A stored package; 410 `erased` after its erasure",
)
async def get_package(context_id: UUID, owner: RecordedOwner, rt: ServiceRuntime) -> ContextPackage:
    return await packages.load_package(rt, owner, context_id)


@receipts_router.get(
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


@receipts_router.get(
    "/plans/{plan_id}",
    name="plan",
    dependencies=[READ],
    summary="A stored plan, by the `plan_id` of a pack or the `context_id` of a package",
)
async def get_plan(plan_id: UUID, owner: RecordedOwner, rt: ServiceRuntime) -> PlanView:
    return await packages.load_plan(rt, owner, plan_id)


@receipts_router.get(
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
