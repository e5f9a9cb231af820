"""Every refusal and failure has one shape, and every answer the id of its request (decision 10)."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.turn_events import ErrorReply, FieldProblem
from services.compose.routes.bounds import allowed_methods
from services.compose.routes.requests import json_of
from shared import clock, parsing
from shared.errors import RefusedError, TransientError
from shared.metrics.access import REQUESTS_DENIED
from shared.telemetry import frames, logger

RETRY_AFTER = {"retry-after": "1"}


class Identify:
    """Every request has an id, the caller's or a fresh one, and every answer carries it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application's answer with the header x-request-id."""
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
    # the address first, whoever asked for which part of it
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
"""What answers whatever a route raises, in the one shape of errors."""
