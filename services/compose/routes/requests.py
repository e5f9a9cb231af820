"""What every route is made of: whose data, what serves it, the body that it reads, and models out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Path, Query, Request, Response
from pydantic import BaseModel
from starlette.convertors import PathConvertor, register_url_convertor

from schemas.base import ExternalId
from schemas.content import MediaId
from schemas.erasure import ErasureRequest
from schemas.turn_events import TurnEvents
from services.compose.receipts.recorder import Recorder
from services.compose.routes.access import AskedBy, choose_owner, count_user
from shared import parsing
from shared.access.authenticator import apply_key, find_owner
from shared.domain.requesters import Requester
from shared.domain.subjects import Subject
from shared.runtime import Runtime

TenantId = Annotated[
    ExternalId, Query(description="Tenant; without it that of the key, or `default` where no key is needed")
]
UserId = Annotated[ExternalId, Query(description="Whose data")]
SessionId = Annotated[ExternalId, Path(description="Slashes are part of it")]
MediaPath = Annotated[MediaId, Path(description="Slashes are part of it")]
Limit = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int, Query(ge=0, le=100_000, description="So many are skipped")]
Model = TypeVar("Model", bound=BaseModel)


class ExternalIdConvertor(PathConvertor):
    """An id in a path: addresses are unescaped before they are routed, so it may hold slashes and line breaks."""

    regex = "(?s:.+)"


register_url_convertor("external", ExternalIdConvertor())


async def get_runtime(request: Request) -> Runtime:
    """The runtime that the application was made for."""
    return request.app.state.runtime


async def get_recorder(request: Request) -> Recorder:
    """Who records what is answered."""
    return request.app.state.recorder


async def get_subject(
    request: Request, requester: AskedBy, user_id: UserId, tenant_id: TenantId | None = None
) -> Subject:
    """Whose data is asked for; RefusedError 429 where it is asked for too often."""
    owner = choose_owner(requester, tenant_id, user_id)
    count_user(request, requester, owner)
    return owner


ServiceRuntime = Annotated[Runtime, Depends(get_runtime)]
PackageRecorder = Annotated[Recorder, Depends(get_recorder)]
Owner = Annotated[Subject, Depends(get_subject)]


async def wait_until_recorded(owner: Owner, recorder: PackageRecorder) -> Subject:
    """Whose packages are asked for, once those that were answered are recorded."""
    await recorder.wait_until_recorded(owner)
    return owner


RecordedOwner = Annotated[Subject, Depends(wait_until_recorded)]


@dataclass(frozen=True, slots=True)
class ParsedBody(Generic[Model]):
    """A body that was read, and the names of those of its fields that nobody knows."""

    value: Model
    ignored: tuple[str, ...] = ()


def parse_body(model: type[Model]) -> Callable[[Request], Awaitable[ParsedBody[Model]]]:
    """A dependency: the body as this model, of the requester's tenant and about a user of theirs."""

    async def parse(request: Request) -> ParsedBody[Model]:
        requester: Requester = request.state.requester
        raw = apply_key(requester, model, parsing.read_object(await request.body()))
        message, ignored = parsing.validate(model, raw)
        if owner := find_owner(requester, message):
            count_user(request, requester, owner)
        return ParsedBody(message, ignored)

    return parse


Keyed = TypeVar("Keyed", TurnEvents, ErasureRequest)


def with_key(model: Keyed, request: Request) -> Keyed:
    """The same with the idempotency key of the headers, where it has none of its own."""
    key = request.headers.get("idempotency-key")
    if not key or model.idempotency_key is not None:
        return model
    return type(model).model_validate({**model.model_dump(), "idempotency_key": key})


def json_of(model: BaseModel, status: int = 200, *, lean: bool = False) -> Response:
    """The model as JSON; `lean` leaves out what is null, as the package's token budget counts it."""
    return Response(model.model_dump_json(by_alias=True, exclude_none=lean), status, media_type="application/json")
