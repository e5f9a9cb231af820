"""Routes that explain: a package with its full explanation, a replay, and the uses of a memory."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from schemas.explanation import ExplainRequest, Explanation, Replay
from schemas.uses import MemoryUses
from services.compose.manage import explaining
from services.compose.manage.explaining import list_uses
from services.compose.routes.access import READ
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import (
    Limit,
    Offset,
    ParsedBody,
    RecordedOwner,
    ServiceRuntime,
    json_of,
    parse_body,
)
from services.compose.rules.packing.receipts import Told

router = APIRouter(prefix="/v1", tags=["explain"])
Language = Annotated[Told, Query(description="Of the sentences")]


@router.post(
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


@router.post(
    "/contexts/{context_id}/replay",
    response_model=Replay,
    name="replay",
    dependencies=[READ],
    summary="The package for the request of a stored one now, and the difference; nothing is recorded",
)
async def replay_package(context_id: UUID, owner: RecordedOwner, rt: ServiceRuntime, lang: Language = "en") -> Response:
    return json_of(await explaining.replay(rt, owner, context_id, lang))


@router.get(
    "/memories/{memory_id}/uses",
    name="uses",
    dependencies=[READ],
    summary="The packages that contained a memory, with their messages and reception",
)
async def get_uses(
    memory_id: UUID, owner: RecordedOwner, rt: ServiceRuntime, limit: Limit = 50, offset: Offset = 0
) -> MemoryUses:
    return await list_uses(rt, owner, memory_id, limit, offset)
