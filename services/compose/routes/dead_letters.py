"""Operator routes of dead letters and quarantined events, of all users or of one."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import AwareDatetime, StringConstraints

from schemas.dead_letters import (
    DeadLetterDetail,
    DeadLetterPage,
    LetterId,
    LetterState,
    OperatorRequest,
    OperatorResult,
    QuarantinePage,
    QuarantineView,
    RedriveRequest,
)
from services.compose.manage import dead_letters, quarantine
from services.compose.manage.dead_letters import LetterFilter
from services.compose.routes.access import OPERATE, AskedBy, OfWhom
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import Limit, Owner, ParsedBody, ServiceRuntime, json_of, parse_body

router = APIRouter(prefix="/v1/dead-letters", tags=["dead letters"])
quarantine_router = APIRouter(prefix="/v1/quarantine", tags=["dead letters"])
OneLetter = Annotated[LetterId, Path(description="The topic's short name and a hash")]
Since = Annotated[AwareDatetime | None, Query(description="Not before this time, which needs a time zone")]
Until = Annotated[AwareDatetime | None, Query(description="Before this time")]
State = Annotated[LetterState | None, Query(description="`open`: nothing was done; any state by default")]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Asked = Annotated[ParsedBody[OperatorRequest], Depends(parse_body(OperatorRequest))]
AskedAgain = Annotated[ParsedBody[RedriveRequest], Depends(parse_body(RedriveRequest))]


async def get_letter_filter(whose: OfWhom) -> LetterFilter:
    """The filter by owner, for letters in any state."""
    return LetterFilter(state=None, user_id=whose.user_id, tenant_id=whose.tenant_id)


Whose = Annotated[LetterFilter, Depends(get_letter_filter)]


@router.get("", name="letters", dependencies=[OPERATE], summary="Dead letters, newest first, without their text")
async def list_letters(
    rt: ServiceRuntime,
    whose: Whose,
    topic: Annotated[Word | None, Query(description="Short name of the topic")] = None,
    error: Annotated[Word | None, Query(description="Words in the reason")] = None,
    since: Since = None,
    until: Until = None,
    state: State = None,
    limit: Limit = 50,
) -> DeadLetterPage:
    return await dead_letters.load_page(
        rt, LetterFilter(topic, error, since, until, state, whose.tenant_id, whose.user_id, limit)
    )


@router.get("/{letter_id}", name="letter", dependencies=[OPERATE], summary="A dead letter, and the effect of a redrive")
async def get_letter(
    letter_id: OneLetter,
    whose: Whose,
    rt: ServiceRuntime,
    raw: Annotated[bool, Query(description="If true, words are not blanked")] = False,
) -> DeadLetterDetail:
    return await dead_letters.load_view(rt, letter_id, whose, raw=raw)


@router.post(
    "/{letter_id}/redrive",
    response_model=OperatorResult,
    openapi_extra=body_of(RedriveRequest),
    name="redrive",
    dependencies=[OPERATE],
    summary="Send a dead letter back to its topic, once; refused if that has no effect",
)
async def redrive_letter(
    letter_id: OneLetter, body: AskedAgain, whose: Whose, requester: AskedBy, rt: ServiceRuntime
) -> Response:
    return json_of(await dead_letters.redrive(rt, letter_id, whose, body.value, requester))


@router.post(
    "/{letter_id}/drop",
    response_model=OperatorResult,
    openapi_extra=body_of(OperatorRequest),
    name="drop",
    dependencies=[OPERATE],
    summary="Drop a dead letter: it will not be redriven",
)
async def drop_letter(letter_id: OneLetter, body: Asked, whose: Whose, rt: ServiceRuntime) -> Response:
    return json_of(await dead_letters.drop(rt, letter_id, whose, body.value))


@quarantine_router.get(
    "", name="quarantined", dependencies=[OPERATE], summary="Events that workers gave up on, newest first"
)
async def list_quarantined(
    rt: ServiceRuntime,
    whose: Whose,
    stage: Annotated[Word | None, Query(description="Only events that failed at this stage")] = None,
    since: Since = None,
    limit: Limit = 50,
) -> QuarantinePage:
    return await quarantine.load_page(
        rt, LetterFilter(None, stage, since, None, None, whose.tenant_id, whose.user_id, limit)
    )


@quarantine_router.get(
    "/{quarantine_id}",
    name="quarantined one",
    dependencies=[OPERATE],
    summary="A quarantined event, and the effect of a redrive",
)
async def get_quarantined(quarantine_id: UUID, owner: Owner, rt: ServiceRuntime) -> QuarantineView:
    return await quarantine.load_view(rt, owner, quarantine_id)


@quarantine_router.post(
    "/{quarantine_id}/redrive",
    response_model=OperatorResult,
    openapi_extra=body_of(OperatorRequest),
    name="redrive quarantined",
    dependencies=[OPERATE],
    summary="Resume the turn of a quarantined event, once; refused if that has no effect",
)
async def redrive_quarantined(quarantine_id: UUID, body: Asked, owner: Owner, rt: ServiceRuntime) -> Response:
    return json_of(await quarantine.redrive(rt, owner, quarantine_id, body.value))


@quarantine_router.post(
    "/{quarantine_id}/drop",
    response_model=OperatorResult,
    openapi_extra=body_of(OperatorRequest),
    name="drop quarantined",
    dependencies=[OPERATE],
    summary="Drop a quarantined event: its turn does not change",
)
async def drop_quarantined(quarantine_id: UUID, body: Asked, owner: Owner, rt: ServiceRuntime) -> Response:
    return json_of(await quarantine.drop(rt, owner, quarantine_id, body.value))
