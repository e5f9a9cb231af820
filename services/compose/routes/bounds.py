"""What is refused before a route is asked: bodies without one end, bodies too large, parameters that nobody reads."""

from collections import Counter
from difflib import get_close_matches

from fastapi import Request, params
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.exporting import IMPORT_MAX_BYTES
from schemas.turn_events import MAX_BODY_BYTES, ErrorReply, FieldProblem
from shared import parsing
from shared.errors import refuse_fields

LARGE = {"/v1/import": IMPORT_MAX_BYTES}
"""The addresses whose bodies may be larger than others."""
WHOSE = ("user_id", "tenant_id")
"""The parameters that say whose data a request is about: they stand first wherever parameters are listed."""


class Framing:
    """A body ends in one way only, and one that is too large is read no further, or not at all where it says so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application's answer, or 400 or 413 at once."""
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
    """The same; RefusedError 413 to the route that reads a body beyond the limit, however it is sent."""
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
    """Status, code, problem and headers of the refusal, if there is one.

    A proxy in front may believe the length where we believe the encoding, and then sees other requests than we do: such
    a connection ends here.
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
    """RefusedError names the parameters of the address that the route does not know, and those given twice."""
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
    """The names of what the route reads of the address behind the question mark, whose data first."""
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
    """The methods of the route that this address leads to, as the header Allow has them."""
    here = [route for route in routes if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE]
    same = [route for route in here if route.path == here[0].path]
    return ", ".join(sorted({method for route in same for method in route.methods or ()}))
