"""Routes of memories: writes, history, conflicts, and a user's whole memory: changes, export, import."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import WithJsonSchema

from schemas.exporting import ExportDocument, ImportReceipt
from schemas.governing import BulkReceipt, BulkRequest, MergeRequest
from schemas.memory_item import MemoryEdit, MemoryFeedback, MemoryItem, RememberRequest, Settlement, WriteReceipt
from schemas.views import AnswerPage, ChangePage, ConflictPage, MemoryHistory, MemoryPage
from schemas.vocabulary import ListedStatus, MemoryType
from services.compose.manage import governing, history, importing, memories, writes
from services.compose.manage.export_markdown import write_markdown
from services.compose.manage.exporting import write_json
from services.compose.routes.access import READ, WRITE, ActsAs
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import Limit, Offset, Owner, ParsedBody, ServiceRuntime, json_of, parse_body

AS_OF = WithJsonSchema({"anyOf": [{"type": "string", "format": name} for name in ("date", "date-time")]})

router = APIRouter(prefix="/v1", tags=["memories"])
feedback_router = APIRouter(prefix="/v1/feedback", tags=["memories"])
answers_router = APIRouter(prefix="/v1/answers", tags=["models"])


@router.get("/memories", name="page", dependencies=[READ], summary="The memories of a user, newest first")
async def list_memories(
    owner: Owner,
    rt: ServiceRuntime,
    status: Annotated[ListedStatus, Query(description="Current status; `all` includes former versions")] = "active",
    type: Annotated[
        MemoryType | None, Query(description="Only of this type; names of things are listed only as `entity`")
    ] = None,  # the contract's name
    query: Annotated[str | None, Query(max_length=2000, description="Words to search for")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
    as_of: Annotated[
        str | None, AS_OF, Query(description="Memories valid at this date or datetime, not in the future")
    ] = (None),
) -> MemoryPage:
    wanted = None if status == "all" else status
    return await memories.load_page(
        rt, owner, status=wanted, type=type, query=query, limit=limit, offset=offset, as_of=as_of
    )


@router.post(
    "/memories",
    response_model=WriteReceipt,
    status_code=202,
    openapi_extra=body_of(RememberRequest),
    name="remember",
    dependencies=[WRITE],
    summary="Store a note that the user dictates; refused if it looks like a secret",
)
async def remember(
    body: Annotated[ParsedBody[RememberRequest], Depends(parse_body(RememberRequest))], rt: ServiceRuntime
) -> Response:
    return json_of(await memories.remember(rt, body.value), 202)


@router.get("/memories/{memory_id}", name="one", dependencies=[READ], summary="One version of one memory")
async def get_memory(memory_id: UUID, owner: Owner, rt: ServiceRuntime) -> MemoryItem:
    return await memories.load_memory(rt, owner, memory_id)


@router.delete(
    "/memories/{memory_id}",
    status_code=202,
    name="retract",
    dependencies=[WRITE],
    summary="Retract a memory (its history stays)",
)
async def retract(memory_id: UUID, owner: Owner, rt: ServiceRuntime) -> WriteReceipt:
    return await memories.retract(rt, owner, memory_id)


@router.patch(
    "/memories/{memory_id}",
    response_model=WriteReceipt,
    status_code=202,
    openapi_extra=body_of(MemoryEdit),
    name="edit",
    dependencies=[WRITE],
    summary="Edit a memory: a new version in the user's words; refused if it looks like a secret",
)
async def edit(
    memory_id: UUID,
    body: Annotated[ParsedBody[MemoryEdit], Depends(parse_body(MemoryEdit))],
    owner: Owner,
    rt: ServiceRuntime,
) -> Response:
    return json_of(await history.edit(rt, owner, memory_id, body.value), 202)


@router.put(
    "/memories/{memory_id}/pin",
    status_code=202,
    name="pin",
    dependencies=[WRITE],
    summary="Pin a memory: it leads every package, and upkeep does not change it",
)
async def pin(memory_id: UUID, owner: Owner, rt: ServiceRuntime) -> WriteReceipt:
    return await governing.pin(rt, owner, memory_id, pinned=True)


@router.delete(
    "/memories/{memory_id}/pin",
    status_code=202,
    name="unpin",
    dependencies=[WRITE],
    summary="Unpin a memory",
)
async def unpin(memory_id: UUID, owner: Owner, rt: ServiceRuntime) -> WriteReceipt:
    return await governing.pin(rt, owner, memory_id, pinned=False)


@router.post(
    "/memories/merge",
    response_model=WriteReceipt,
    status_code=202,
    openapi_extra=body_of(MergeRequest),
    name="merge",
    dependencies=[WRITE],
    summary="Merge several memories; restoring one of them undoes the merge",
)
async def merge(
    body: Annotated[ParsedBody[MergeRequest], Depends(parse_body(MergeRequest))], owner: Owner, rt: ServiceRuntime
) -> Response:
    return json_of(await governing.merge(rt, owner, body.value), 202)


@router.post(
    "/memories/bulk",
    response_model=BulkReceipt,
    status_code=202,
    openapi_extra=body_of(BulkRequest),
    name="bulk",
    dependencies=[WRITE],
    summary="Retract, pin, unpin or restore many memories at once",
)
async def act_on_many(
    body: Annotated[ParsedBody[BulkRequest], Depends(parse_body(BulkRequest))], owner: Owner, rt: ServiceRuntime
) -> Response:
    return json_of(await governing.act_on_many(rt, owner, body.value), 202)


@router.get(
    "/memories/{memory_id}/history",
    name="versions",
    dependencies=[READ],
    summary="Every version, oldest first, with the evidence, the upkeep and the conflicts behind it",
)
async def list_versions(memory_id: UUID, owner: Owner, rt: ServiceRuntime) -> MemoryHistory:
    return await history.load_history(rt, owner, memory_id)


@router.post(
    "/memories/{memory_id}/restore",
    status_code=202,
    name="restore",
    dependencies=[WRITE],
    summary="Restore the content of an older version as the newest; refused for the current version",
)
async def restore(memory_id: UUID, owner: Owner, rt: ServiceRuntime) -> WriteReceipt:
    return await history.restore(rt, owner, memory_id)


@router.get(
    "/writes/{receipt_id}",
    name="written",
    dependencies=[READ],
    summary="The receipt of a dictation, edit or retraction, with its predicted or final result",
)
async def get_write(receipt_id: UUID, owner: Owner, rt: ServiceRuntime) -> WriteReceipt:
    return await writes.load_receipt(rt, owner, receipt_id)


@router.get(
    "/conflicts",
    name="conflicts",
    dependencies=[READ],
    summary="Statements that contradict stronger memories, newest first",
)
async def list_conflicts(
    owner: Owner,
    rt: ServiceRuntime,
    state: Annotated[Literal["open", "kept", "replaced", "all"], Query()] = "open",
    limit: Limit = 50,
    offset: Offset = 0,
) -> ConflictPage:
    wanted = None if state == "all" else state
    return await history.list_conflicts(rt, owner, state=wanted, limit=limit, offset=offset)


@router.post(
    "/conflicts/{conflict_id}",
    response_model=WriteReceipt,
    status_code=202,
    openapi_extra=body_of(Settlement),
    name="settle",
    dependencies=[WRITE],
    summary="Settle a conflict: keep the memory or the new statement",
)
async def settle_conflict(
    conflict_id: UUID,
    body: Annotated[ParsedBody[Settlement], Depends(parse_body(Settlement))],
    owner: Owner,
    rt: ServiceRuntime,
) -> Response:
    return json_of(await history.settle_conflict(rt, owner, conflict_id, body.value), 202)


@feedback_router.post(
    "",
    response_model=WriteReceipt,
    status_code=202,
    openapi_extra=body_of(MemoryFeedback),
    name="give",
    dependencies=[WRITE],
    summary="Judge a memory: right, wrong, not useful, or never to be mentioned again",
)
async def give_feedback(
    body: Annotated[ParsedBody[MemoryFeedback], Depends(parse_body(MemoryFeedback))], rt: ServiceRuntime
) -> Response:
    return json_of(await governing.give_feedback(rt, body.value), 202)


@feedback_router.delete(
    "/{memory_id}",
    status_code=202,
    name="end",
    dependencies=[WRITE],
    summary="End a `never_again`",
)
async def end_silence(memory_id: UUID, owner: Owner, rt: ServiceRuntime) -> WriteReceipt:
    return await governing.end_silence(rt, owner, memory_id)


@answers_router.get(
    "", name="unread", dependencies=[READ], summary="Unreadable model answers about a user's turns, for 7 days"
)
async def list_unread_answers(owner: Owner, rt: ServiceRuntime, limit: Limit = 50) -> AnswerPage:
    return await memories.list_unread_answers(rt, owner, limit)


@router.get(
    "/changes",
    name="changes",
    dependencies=[READ],
    summary="Memories learnt, changed, ended, retracted, merged or confirmed, newest first",
)
async def list_changes(owner: Owner, rt: ServiceRuntime, limit: Limit = 50, offset: Offset = 0) -> ChangePage:
    return await history.load_page(rt, owner, limit, offset)


@router.get(
    "/export",
    name="export",
    dependencies=[READ],
    response_class=StreamingResponse,
    responses={200: {"content": {"application/json": {}, "text/markdown": {}}}},
    summary="Export everything about a user: JSON for import, or Markdown for reading",
)
async def export(
    owner: Owner,
    rt: ServiceRuntime,
    format: Annotated[Literal["json", "markdown"], Query(description="`json` can be imported")] = "json",
    lang: Annotated[
        Literal["zh", "en"] | None, Query(description="Language of Markdown; by default that of most memories")
    ] = None,
) -> StreamingResponse:
    headers = {"content-disposition": f'attachment; filename="memory.{"json" if format == "json" else "md"}"'}
    if format == "json":
        return StreamingResponse(write_json(rt, owner), media_type="application/json", headers=headers)
    pieces = write_markdown(rt, owner, lang)
    return StreamingResponse(pieces, media_type="text/markdown; charset=utf-8", headers=headers)


@router.post(
    "/import",
    status_code=202,
    openapi_extra=body_of(ExportDocument),
    name="import",
    dependencies=[WRITE],
    summary="Import an export for this user, completely or not at all; existing data stays",
)
async def take_in(request: Request, owner: Owner, by: ActsAs, rt: ServiceRuntime) -> ImportReceipt:
    return await importing.import_document(rt, owner, await request.body(), by)
