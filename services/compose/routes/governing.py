"""Routes for a user's whole memory: changes, export, import, bulk actions."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from schemas.changes import ChangePage
from schemas.exporting import ExportDocument, ImportReceipt
from services.compose.manage import changes, importing
from services.compose.manage.export_markdown import write_markdown
from services.compose.manage.exporting import write_json
from services.compose.routes.access import READ, WRITE, ActsAs
from services.compose.routes.openapi import body_of
from services.compose.routes.requests import Limit, Offset, Owner, ServiceRuntime

router = APIRouter(prefix="/v1", tags=["memories"])


@router.get(
    "/changes",
    name="changes",
    dependencies=[READ],
    summary="Memories learnt, changed, ended, retracted, merged or confirmed, newest first",
)
async def list_changes(owner: Owner, rt: ServiceRuntime, limit: Limit = 50, offset: Offset = 0) -> ChangePage:
    return await changes.load_page(rt, owner, limit, offset)


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
    format: Annotated[Literal["json", "markdown"], Query(description="json can be imported")] = "json",
    lang: Annotated[
        Literal["zh", "en"] | None, Query(description="Of Markdown; without it that of most memories")
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
