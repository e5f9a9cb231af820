"""The parts and middleware of all routes: owner, runtime, body parsing, request id, error format.

Refuses ambiguous or large bodies and unknown parameters, and redirects browsers to the console.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Path, Query, Request, Response, params
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.datastructures import URL, Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.base import ExternalId
from schemas.content import MediaId
from schemas.erasure import ErasureRequest
from schemas.exporting import IMPORT_MAX_BYTES
from schemas.turn_events import MAX_BODY_BYTES, ErrorReply, FieldProblem, TurnEvents
from services.compose.receipts.recorder import Recorder
from services.compose.routes.access import AskedBy, choose_owner, count_user
from shared import clock, parsing
from shared.access.authenticator import apply_key, find_owner
from shared.domain.subjects import Requester, Subject
from shared.errors import RefusedError, TransientError, refuse_fields
from shared.metrics.access import REQUESTS_DENIED
from shared.runtime import Runtime
from shared.settings import Settings
from shared.telemetry import frames, logger

TenantId = Annotated[
    ExternalId, Query(description="Tenant; by default that of the key, or `default` if no key is needed")
]
UserId = Annotated[ExternalId, Query(description="User whose data is requested")]
SessionId = Annotated[ExternalId, Path(description="May contain slashes")]
MediaPath = Annotated[MediaId, Path(description="May contain slashes")]
Limit = Annotated[int, Query(ge=1, le=200)]
Offset = Annotated[int, Query(ge=0, le=100_000, description="How many entries to skip")]
Model = TypeVar("Model", bound=BaseModel)


class ExternalIdConvertor(PathConvertor):
    """An id in a path. Paths are unescaped before routing, so it may hold slashes and line breaks."""

    regex = "(?s:.+)"


register_url_convertor("external", ExternalIdConvertor())


async def get_runtime(request: Request) -> Runtime:
    return request.app.state.runtime


async def get_recorder(request: Request) -> Recorder:
    return request.app.state.recorder


async def get_subject(
    request: Request, requester: AskedBy, user_id: UserId, tenant_id: TenantId | None = None
) -> Subject:
    """The user whose data is requested; RefusedError 429 if it is requested too often."""
    owner = choose_owner(requester, tenant_id, user_id)
    count_user(request, requester, owner)
    return owner


ServiceRuntime = Annotated[Runtime, Depends(get_runtime)]
PackageRecorder = Annotated[Recorder, Depends(get_recorder)]
Owner = Annotated[Subject, Depends(get_subject)]


async def wait_until_recorded(owner: Owner, recorder: PackageRecorder) -> Subject:
    """The owner, once the packages already answered are recorded."""
    await recorder.wait_until_recorded(owner)
    return owner


RecordedOwner = Annotated[Subject, Depends(wait_until_recorded)]


@dataclass(frozen=True, slots=True)
class ParsedBody(Generic[Model]):
    """A parsed body, and the names of its unknown fields."""

    value: Model
    ignored: tuple[str, ...] = ()


def parse_body(model: type[Model]) -> Callable[[Request], Awaitable[ParsedBody[Model]]]:
    """A dependency that parses the body as this model, in the requester's tenant and about a permitted user."""

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
    """The request with the idempotency key of the headers, if it has none."""
    key = request.headers.get("idempotency-key")
    if not key or model.idempotency_key is not None:
        return model
    return type(model).model_validate({**model.model_dump(), "idempotency_key": key})


def json_of(model: BaseModel, status: int = 200, *, lean: bool = False) -> Response:
    """The model as JSON; `lean` leaves out nulls, as the package's token budget assumes."""
    return Response(model.model_dump_json(by_alias=True, exclude_none=lean), status, media_type="application/json")


class LeadToConsole:
    """Redirects the path `/` to the console."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirects, or answers with addresses as JSON if there is no console; passes on other paths."""
        if scope["type"] != "http" or scope["path"] != "/" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        await self._lead(URL(scope=scope))(scope, receive, send)

    def _lead(self, asked: URL) -> Response:
        port = self._settings.port_of_console
        address = self._settings.console_url or (str(asked.replace(port=port, query="")) if port else None)
        if address is None:
            return JSONResponse({"name": "SmartBrain", "console": "`smartbrain up` prints its address", "api": "/docs"})
        return RedirectResponse(address, 307)


LARGE = {"/v1/import": IMPORT_MAX_BYTES}
"""Paths whose bodies may be larger."""
WHOSE = ("user_id", "tenant_id")
"""The parameters that name the owner; they come first in lists of parameters."""


class Framing:
    """Refuses bodies with ambiguous framing and bodies that are too large."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 400 or 413 at once, or calls the application."""
        most = LARGE.get(scope.get("path", ""), MAX_BODY_BYTES)
        refusal = find_framing_problem(Headers(scope=scope), most) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive_bounded(receive, most), send)
            return
        status, code, details, headers = refusal
        reply = ErrorReply(
            code=code,
            message=f"{details.field}: {details.problem}",
            details=(details,),
            request_id=scope.get("state", {}).get("request_id", ""),
        )
        answer = Response(reply.model_dump_json(), status, headers, media_type="application/json")
        await answer(scope, receive, send)


def receive_bounded(receive: Receive, most: int = MAX_BODY_BYTES) -> Receive:
    """The same stream; raises RefusedError 413 when the body exceeds the limit."""
    received = 0

    async def receive_part() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise parsing.refuse_size(received, most)
        return message

    return receive_part


def find_framing_problem(
    headers: Headers, most: int = MAX_BODY_BYTES
) -> tuple[int, str, FieldProblem, dict[str, str]] | None:
    """Status, code, problem and headers of the refusal, if any.

    A proxy that trusts the length while we trust the encoding would see other requests than we do, so that the
    connection is closed.
    """
    length = headers.get("content-length")
    if length is None:
        return None
    if "transfer-encoding" in headers:
        problem = "cannot stand beside transfer-encoding: where the body ends would be a matter of opinion"
        return 400, "invalid_framing", FieldProblem(field="content-length", problem=problem), {"connection": "close"}
    if length.isdecimal() and int(length) > most:
        return 413, "too_large", FieldProblem(field="body", problem=f"{length} bytes, at most {most}"), {}
    return None


async def refuse_unknown_parameters(request: Request) -> None:
    """RefusedError names unknown and repeated query parameters."""
    route = request.scope.get("route")
    if not request.url.query or not isinstance(route, APIRoute):
        return
    allowed = list_query_parameters(route)
    given = Counter(name for name, _ in request.query_params.multi_items())
    problems = [FieldProblem(field=name, problem=_unknown(name, allowed)) for name in given if name not in allowed]
    problems += [
        FieldProblem(field=name, problem="is given more than once")
        for name, times in given.items()
        if times > 1 and name in allowed
    ]
    if problems:
        raise refuse_fields("invalid_request", problems[:20])


def list_query_parameters(route: APIRoute) -> list[str]:
    """The query parameters of the route, the owner first."""
    names = [field.alias for field in get_flat_params(route.dependant) if isinstance(field.field_info, params.Query)]
    return sorted(names, key=lambda name: name not in WHOSE)


_OTHER_NAMES = {"memory_type": "type", "q": "query", "tenant": "tenant_id", "user": "user_id"}


def _unknown(name: str, allowed: list[str]) -> str:
    likely = [_OTHER_NAMES[name]] if _OTHER_NAMES.get(name) in allowed else get_close_matches(name, allowed, 1)
    if likely:
        return f"unknown parameter; did you mean {likely[0]}?"
    return (
        f"unknown parameter; there are {', '.join(allowed)}" if allowed else "unknown parameter; the body says it all"
    )


def allowed_methods(routes: list[BaseRoute], scope: Scope) -> str:
    """The methods of the path, for the header Allow."""
    here = [route for route in routes if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE]
    same = [route for route in here if route.path == here[0].path]
    return ", ".join(sorted({method for route in same for method in route.methods or ()}))


RETRY_AFTER = {"retry-after": "1"}


class Identify:
    """Gives every request an id, the caller's or a new one, and returns it in the response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Adds the header x-request-id."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        request_id = given.decode("ascii", "replace")[:128] or clock.uuid7().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode("ascii", "replace"))]
            await send(message)

        await self._app(scope, receive, send_named)


async def answer_refusal(request: Request, error: RefusedError) -> Response:
    if error.status == 403:
        REQUESTS_DENIED.labels(error.code).inc()
    answer = json_of(parsing.reply_of(error, request.state.request_id), error.status)
    if error.retry_after_s is not None:
        answer.headers["retry-after"] = str(error.retry_after_s)
    return answer


async def answer_invalid_parameter(request: Request, error: RequestValidationError) -> Response:
    # the path decides before the method
    errors = sorted(error.errors(), key=lambda each: each["loc"][0] != "path")
    details = tuple(
        FieldProblem(field=".".join(str(p) for p in e["loc"][1:]) or "query", problem=e["msg"]) for e in errors
    )
    message = f"{details[0].field}: {details[0].problem}"
    return _error(request, 422, "invalid_request", message, details)


async def answer_invalid_value(request: Request, error: ValidationError) -> Response:
    details = tuple(parsing.problems(error))
    return _error(request, 422, "invalid_request", f"{details[0].field}: {details[0].problem}", details)


async def answer_absence(request: Request, error: TransientError) -> Response:
    logger().warning("request_failed", error=str(error), path=request.url.path)
    return _error(request, 503, "unavailable", "a dependency is away; nothing was written; try again")


async def answer_http_error(request: Request, error: HTTPException) -> Response:
    answer = _error(request, error.status_code, f"http_{error.status_code}", str(error.detail))
    if error.status_code == 405:
        answer.headers["allow"] = allowed_methods(request.app.state.routes, request.scope)
    return answer


async def answer_disconnect(request: Request, _: ClientDisconnect) -> Response:
    return _error(request, 400, "disconnected", "the body was not sent to its end")


async def answer_failure(request: Request, error: Exception) -> Response:
    logger().error("request_broke", path=request.url.path, **frames(error))
    return _error(request, 500, "internal", "an internal error; the log has it under this request_id")


def _error(request: Request, status: int, code: str, message: str, details: tuple[FieldProblem, ...] = ()) -> Response:
    request_id = getattr(request.state, "request_id", "") or clock.uuid7().hex
    reply: dict[str, Any] = ErrorReply(code=code, message=message, details=details, request_id=request_id).model_dump()
    return JSONResponse(reply, status, headers=RETRY_AFTER if status == 503 else None)


ERROR_HANDLERS: Mapping[type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    RefusedError: answer_refusal,
    RequestValidationError: answer_invalid_parameter,
    ValidationError: answer_invalid_value,
    TransientError: answer_absence,
    HTTPException: answer_http_error,
    ClientDisconnect: answer_disconnect,
    Exception: answer_failure,
}
"""Handlers that turn every exception of a route into the error format."""
