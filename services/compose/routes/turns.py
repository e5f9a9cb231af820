"""Routes of turns, their results, media, and commands outside of turns."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request, Response

from schemas.commands import CommandReply, CommandRequest
from schemas.content import MediaState, MediaView
from schemas.turn_events import CommitResult, TurnEvents
from schemas.views import TurnOutcomeView, TurnView
from services.compose.intake import media
from services.compose.intake.commit import commit_turn
from services.compose.manage import commands, memories
from services.compose.routes.access import OPERATE, READ, WRITE
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import (
    MediaPath,
    Owner,
    PackageRecorder,
    ParsedBody,
    ServiceRuntime,
    json_of,
    parse_body,
    with_key,
)
from shared.domain.subjects import Subject
from shared.errors import RefusedError
from shared.metrics.turns import TURNS_REFUSED

router = APIRouter(prefix="/v1/turns", tags=["turns"])
media_router = APIRouter(prefix="/v1/media", tags=["media"])
_parse_turn = parse_body(TurnEvents)


async def parse_turn(request: Request) -> ParsedBody[TurnEvents]:
    """The turn to commit; counts refused ones."""
    try:
        return await _parse_turn(request)
    except RefusedError as error:
        TURNS_REFUSED.labels(error.code).inc()
        raise


@router.post(
    "",
    response_model=CommitResult,
    status_code=201,
    openapi_extra=body_of(TurnEvents),
    name="commit",
    dependencies=[WRITE],
    summary="Commit one turn; a repeat with the same idempotency key and body returns 200 with the first result",
)
async def post_turn(
    request: Request,
    body: Annotated[ParsedBody[TurnEvents], Depends(parse_turn)],
    rt: ServiceRuntime,
    recorder: PackageRecorder,
) -> Response:
    turn = with_key(body.value, request)
    await recorder.wait_until_recorded(Subject(turn.tenant_id, turn.user_id), turn.session_id)
    committed = await commit_turn(turn, rt, transport="http", ignored=body.ignored)
    result = committed.result
    if committed.effect:
        result = await commands.add_reply(rt, turn, committed.effect, result)
    return json_of(result, 201 if committed.fresh else 200)


@router.get("/{turn_id}", name="turn", dependencies=[READ], summary="A turn as it is in the log")
async def get_turn(turn_id: UUID, owner: Owner, rt: ServiceRuntime) -> TurnView:
    return await memories.load_turn(rt, owner, turn_id)


@router.get(
    "/{turn_id}/outcome", name="outcome", dependencies=[READ], summary="The outcome of a turn: what was learnt from it"
)
async def get_outcome(turn_id: UUID, owner: Owner, rt: ServiceRuntime) -> TurnOutcomeView:
    return await memories.load_outcome(rt, owner, turn_id)


@media_router.put(
    "/{media_id:external}",
    response_model=MediaView,
    openapi_extra=body_of(MediaState),
    name="put",
    dependencies=[OPERATE],
    summary="Register the scan result of a media file; messages that name it are accepted only while it is safe",
)
async def put_media(
    media_id: MediaPath,
    body: Annotated[ParsedBody[MediaState], Depends(parse_body(MediaState))],
    rt: ServiceRuntime,
) -> Response:
    return json_of(await media.register_media(rt, media_id, body.value))


@media_router.get("/{media_id:external}", name="one", dependencies=[READ], summary="A registered media file")
async def get_media(media_id: MediaPath, owner: Owner, rt: ServiceRuntime) -> MediaView:
    return await media.get_media(rt, owner, media_id)


commands_router = APIRouter(prefix="/v1/commands", tags=["commands"])


@commands_router.post(
    "",
    response_model=CommandReply,
    openapi_extra=body_of(CommandRequest),
    name="run",
    dependencies=[WRITE],
    summary="Carry out a command and return its reply: /memory, /summary, /forget, /remember, /help",
)
async def run_command(
    body: Annotated[ParsedBody[CommandRequest], Depends(parse_body(CommandRequest))], rt: ServiceRuntime
) -> Response:
    return json_of(await commands.run_command(rt, body.value))
