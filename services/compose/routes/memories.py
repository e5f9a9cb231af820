"""Routes of what is known: memories, their history and conflicts, sessions and their summaries (decision 10)."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import FastAPI, Query, Request, Response
from pydantic import WithJsonSchema

from schemas.memory_item import MemoryEdit, MemoryItem, RememberRequest, Settlement, WriteReceipt
from schemas.sessions import ArchiveReceipt, SessionPage, SessionView
from schemas.views import AnswerPage, ConflictPage, MemoryHistory, MemoryPage, SummaryView
from schemas.vocabulary import ListedStatus, MemoryType
from services.compose.manage import history, memories, sessions, writes
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import Offset, SessionId, TenantId, UserId, json_of, parse_request
from shared.domain.subjects import Subject
from shared.runtime import Runtime

AS_OF = WithJsonSchema({"anyOf": [{"type": "string", "format": name} for name in ("date", "date-time")]})


def memory_routes(app: FastAPI, rt: Runtime) -> None:
    """The routes are part of the application."""
    _memories(app, rt)
    _history(app, rt)
    _sessions(app, rt)


def _memories(app: FastAPI, rt: Runtime) -> None:
    @app.get("/v1/memories", tags=["memories"], summary="What is known of a user, newest first")
    async def page(
        user_id: UserId,
        tenant_id: TenantId = "default",
        status: Annotated[ListedStatus, Query(description="Of now; `all` are the versions of the past too")] = "active",
        type: Annotated[
            MemoryType | None, Query(description="Of this type only; names of things are listed as `entity` alone")
        ] = None,  # the contract's name
        query: Annotated[str | None, Query(max_length=2000, description="Words to search for")] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        offset: Offset = 0,
        as_of: Annotated[
            str | None, AS_OF, Query(description="What held then: a date or datetime, not ahead of now")
        ] = (None),
    ) -> MemoryPage:
        wanted = None if status == "all" else status
        subject = Subject(tenant_id, user_id)
        return await memories.page(
            rt, subject, status=wanted, type=type, query=query, limit=limit, offset=offset, as_of=as_of
        )

    @app.post(
        "/v1/memories",
        response_model=WriteReceipt,
        status_code=202,
        openapi_extra=body_of(RememberRequest),
        tags=["memories"],
        summary="Remember what the user dictates; refused when it looks like a secret",
    )
    async def remember(request: Request) -> Response:
        asked, _ = await parse_request(request, RememberRequest)
        return json_of(await memories.remember(rt, asked), 202)

    @app.get("/v1/memories/{memory_id}", tags=["memories"], summary="One version of one memory")
    async def one(memory_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> MemoryItem:
        return await memories.one(rt, Subject(tenant_id, user_id), memory_id)

    @app.delete(
        "/v1/memories/{memory_id}", status_code=202, tags=["memories"], summary="Take a memory back (its history stays)"
    )
    async def retract(memory_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> WriteReceipt:
        return await memories.retract(rt, Subject(tenant_id, user_id), memory_id)

    @app.get(
        "/v1/writes/{receipt_id}",
        tags=["memories"],
        summary="What became of a write, or will: the receipt of a memory that was dictated, edited or taken back",
    )
    async def written(receipt_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> WriteReceipt:
        return await writes.receipt(rt, Subject(tenant_id, user_id), receipt_id)

    @app.get("/v1/answers", tags=["models"], summary="A user's turns whose model answer nobody could read, for 7 days")
    async def unread(
        user_id: UserId, tenant_id: TenantId = "default", limit: Annotated[int, Query(ge=1, le=200)] = 50
    ) -> AnswerPage:
        return await memories.list_unread_answers(rt, Subject(tenant_id, user_id), limit)

    del page, remember, one, retract, written, unread


def _history(app: FastAPI, rt: Runtime) -> None:
    @app.get(
        "/v1/memories/{memory_id}/history",
        tags=["memories"],
        summary="Every version, oldest first, with the evidence, the upkeep and the conflicts behind it",
    )
    async def versions(memory_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> MemoryHistory:
        return await history.history_of(rt, Subject(tenant_id, user_id), memory_id)

    @app.post(
        "/v1/memories/{memory_id}/restore",
        status_code=202,
        tags=["memories"],
        summary="An older version's content becomes the newest version; refused for the one that holds now",
    )
    async def restore(memory_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> WriteReceipt:
        return await history.restore(rt, Subject(tenant_id, user_id), memory_id)

    @app.patch(
        "/v1/memories/{memory_id}",
        response_model=WriteReceipt,
        status_code=202,
        openapi_extra=body_of(MemoryEdit),
        tags=["memories"],
        summary="A new version in the user's own words; refused when it looks like a secret",
    )
    async def edit(request: Request, memory_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> Response:
        asked, _ = await parse_request(request, MemoryEdit)
        return json_of(await history.edit(rt, Subject(tenant_id, user_id), memory_id, asked), 202)

    @app.get("/v1/conflicts", tags=["memories"], summary="What was said against stronger memories, newest first")
    async def conflicts(
        user_id: UserId,
        tenant_id: TenantId = "default",
        state: Annotated[Literal["open", "kept", "replaced", "all"], Query()] = "open",
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        offset: Offset = 0,
    ) -> ConflictPage:
        wanted = None if state == "all" else state
        return await history.conflicts(rt, Subject(tenant_id, user_id), state=wanted, limit=limit, offset=offset)

    @app.post(
        "/v1/conflicts/{conflict_id}",
        response_model=WriteReceipt,
        status_code=202,
        openapi_extra=body_of(Settlement),
        tags=["memories"],
        summary="Settle a conflict: keep what was known, or what was said",
    )
    async def settle(request: Request, conflict_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> Response:
        asked, _ = await parse_request(request, Settlement)
        return json_of(await history.settle(rt, Subject(tenant_id, user_id), conflict_id, asked), 202)

    del versions, restore, edit, conflicts, settle


def _sessions(app: FastAPI, rt: Runtime) -> None:
    @app.get("/v1/sessions", tags=["sessions"], summary="A user's sessions, the one spoken in last first")
    async def page(
        user_id: UserId,
        tenant_id: TenantId = "default",
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        offset: Offset = 0,
    ) -> SessionPage:
        return await sessions.page(rt, Subject(tenant_id, user_id), limit, offset)

    @app.post(
        "/v1/sessions/{session_id:external}/archive",
        status_code=202,
        tags=["sessions"],
        summary="End a session; its summary follows, and the next turn opens it again",
    )
    async def archive(session_id: SessionId, user_id: UserId, tenant_id: TenantId = "default") -> ArchiveReceipt:
        return await sessions.archive(rt, Subject(tenant_id, user_id), session_id)

    @app.get(
        "/v1/sessions/{session_id:external}/summary", tags=["sessions"], summary="The rolling summary of a session"
    )
    async def summary(session_id: SessionId, user_id: UserId, tenant_id: TenantId = "default") -> SummaryView:
        return await memories.summary(rt, Subject(tenant_id, user_id), session_id)

    @app.delete(
        "/v1/sessions/{session_id:external}/summary", status_code=204, tags=["sessions"], summary="Clear the summary"
    )
    async def clear(session_id: SessionId, user_id: UserId, tenant_id: TenantId = "default") -> Response:
        await memories.clear_summary(rt, Subject(tenant_id, user_id), session_id)
        return Response(status_code=204)

    # last: an id may hold slashes, and this address would take the longer ones for ids
    @app.get(
        "/v1/sessions/{session_id:external}",
        tags=["sessions"],
        summary="A session: its state, summary, blocks and names",
    )
    async def one(session_id: SessionId, user_id: UserId, tenant_id: TenantId = "default") -> SessionView:
        return await sessions.one(rt, Subject(tenant_id, user_id), session_id)

    del page, archive, summary, clear, one
