"""What every route is made of: whose data, bodies in, models out."""

from typing import Annotated, TypeVar

from fastapi import Path, Query, Request, Response
from pydantic import BaseModel
from starlette.convertors import PathConvertor, register_url_convertor

from schemas.base import ExternalId
from schemas.content import MediaId
from shared import parsing

TenantId = Annotated[ExternalId, Query(description="Tenant; `default` where there is only one")]
UserId = Annotated[ExternalId, Query(description="Whose data")]
SessionId = Annotated[ExternalId, Path(description="Slashes are part of it")]
MediaPath = Annotated[MediaId, Path(description="Slashes are part of it")]
Offset = Annotated[int, Query(ge=0, le=100_000, description="So many are skipped")]
Model = TypeVar("Model", bound=BaseModel)


class ExternalIdConvertor(PathConvertor):
    """An id in a path: addresses are unescaped before they are routed, so it may hold slashes and line breaks."""

    regex = "(?s:.+)"


register_url_convertor("external", ExternalIdConvertor())


def json_of(model: BaseModel, status: int = 200, *, lean: bool = False) -> Response:
    """The model as JSON; `lean` leaves out what is null, as the package's token budget counts it."""
    return Response(model.model_dump_json(by_alias=True, exclude_none=lean), status, media_type="application/json")


async def parse_request(request: Request, model: type[Model]) -> tuple[Model, tuple[str, ...]]:
    return parsing.parse(model, await read_bounded(request))


async def read_bounded(request: Request) -> bytes:
    """The body, read no further than what would be refused anyway."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > parsing.MAX_BODY_BYTES:
            break
    return bytes(body)
