"""Routes of sessions: list, archive, wishes, summaries."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from schemas.sessions import ArchiveReceipt, SessionChange, SessionPage, SessionView, SessionWish
from schemas.views import SummaryView
from services.compose.manage import memories, sessions
from services.compose.routes.access import READ, WRITE
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import (
    Limit,
    Offset,
    Owner,
    ParsedBody,
    ServiceRuntime,
    SessionId,
    json_of,
    parse_body,
)

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])


@router.get("", name="page", dependencies=[READ], summary="A user's sessions, the most recently used first")
async def list_sessions(owner: Owner, rt: ServiceRuntime, limit: Limit = 50, offset: Offset = 0) -> SessionPage:
    return await sessions.load_page(rt, owner, limit, offset)


@router.post(
    "/{session_id:external}/archive",
    status_code=202,
    name="archive",
    dependencies=[WRITE],
    summary="End a session; its summary is updated, and the next turn reopens it",
)
async def archive(session_id: SessionId, owner: Owner, rt: ServiceRuntime) -> ArchiveReceipt:
    return await sessions.archive_session(rt, owner, session_id)


@router.get(
    "/{session_id:external}/summary", name="summary", dependencies=[READ], summary="The rolling summary of a session"
)
async def get_summary(session_id: SessionId, owner: Owner, rt: ServiceRuntime) -> SummaryView:
    return await memories.load_summary(rt, owner, session_id)


@router.delete(
    "/{session_id:external}/summary", status_code=204, name="clear", dependencies=[WRITE], summary="Clear the summary"
)
async def clear_summary(session_id: SessionId, owner: Owner, rt: ServiceRuntime) -> Response:
    await memories.clear_summary(rt, owner, session_id)
    return Response(status_code=204)


# last: an id may hold slashes, and this path would match longer ones as ids
@router.get(
    "/{session_id:external}", name="one", dependencies=[READ], summary="A session: its state, summary, blocks and names"
)
async def get_session(session_id: SessionId, owner: Owner, rt: ServiceRuntime) -> SessionView:
    return await sessions.load_session(rt, owner, session_id)


@router.patch(
    "/{session_id:external}",
    response_model=SessionWish,
    status_code=202,
    openapi_extra=body_of(SessionChange),
    name="remember",
    dependencies=[WRITE],
    summary="Stop learning from later turns of a session, or start again; also before its first turn",
)
async def remember_session(
    session_id: SessionId,
    body: Annotated[ParsedBody[SessionChange], Depends(parse_body(SessionChange))],
    owner: Owner,
    rt: ServiceRuntime,
) -> Response:
    return json_of(await sessions.remember_session(rt, owner, session_id, remembered=body.value.remembered), 202)
