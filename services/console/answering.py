"""Turns page functions into routes: redirects to the sign-in, refuses foreign forms, explains refusals."""

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qs, quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.console.door import SESSION_COOKIE, write_cookie
from services.console.messages import MESSAGES
from services.console.page import Area, ConsolePage, PageEntry, Visit
from services.console.sessions import Sessions
from services.console.uploads import read_upload
from shared.fronts.client import ComposeClient
from shared.fronts.problems import CallError
from shared.telemetry import frames, logger

MOST_BYTES = 262_144
MOST_FIELDS = 2_000
STATUS: Mapping[str, int] = {
    "not_found": 404,
    "forbidden": 403,
    "form": 403,
    "sign_in": 401,
    "erased": 410,
    "rate_limited": 429,
    "unreachable": 503,
    "unavailable": 503,
    "broke": 500,
}
"""All other codes are 422: the request cannot be carried out."""
AGAIN = frozenset(("unreachable", "unavailable", "rate_limited"))


class Answering:
    """State that routes share: compose, the sessions, and the areas of the navigation."""

    def __init__(self, compose: ComposeClient, sessions: Sessions, areas: tuple[Area, ...]) -> None:
        self.compose = compose
        self.sessions = sessions
        self.areas = areas

    def make_route(self, entry: PageEntry, area: Area | None = None) -> Route:
        """The route of a page."""

        async def answer(request: Request) -> Response:
            return await self._answer(request, entry, area)

        return Route(entry.path, answer, methods=[entry.method], name=entry.show.__name__)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType, reportUnknownMemberType] # functions have a name

    async def _answer(self, request: Request, entry: PageEntry, area: Area | None) -> Response:
        visit: Visit = request.state.visit
        page = ConsolePage(request, visit, self.compose, self.areas, {})
        try:
            if entry.file_most and visit.session is None:
                raise CallError("form", "")  # no file is read of whoever is not signed in
            if entry.method == "POST":
                form, file = await (read_upload(request, entry.file_most) if entry.file_most else _read_form(request))
                page = ConsolePage(request, visit, self.compose, self.areas, form, file)
                _refuse_foreign_form(page)
            if not entry.for_strangers and (elsewhere := _lead_stranger(page, area)):
                return elsewhere
            return await entry.show(page)
        except CallError as problem:
            if problem.code == "unauthenticated":
                return self._sign_out(page)
            return explain_refusal(page, problem)
        except Exception as error:  # noqa: BLE001 # whatever one page brings about, the others are answered
            logger().error("page_broke", path=request.url.path, **frames(error))
            return explain_refusal(page, CallError("broke", type(error).__name__))

    def _sign_out(self, page: ConsolePage) -> Response:
        """The key is no longer accepted."""
        self.sessions.end(page.visit.session_token)
        answer = page.redirect("/sign-in")
        answer.headers.append("set-cookie", write_cookie(SESSION_COOKIE, "", secure=page.visit.secure))
        return answer


async def _read_form(request: Request) -> tuple[Mapping[str, list[str]], bytes]:
    """The fields of the form, without a file; CallError if the body is not a form."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise CallError("invalid_request", "the form is too long")
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS), b""
    except ValueError as error:
        raise CallError("invalid_request", "this is no form") from error


def _refuse_foreign_form(page: ConsolePage) -> None:
    """Raises CallError if the form was made for another session."""
    given = page.request.headers.get("x-csrf-token") or page.field("csrf")
    if not hmac.compare_digest(given.encode(), page.visit.form_token.encode()):
        raise CallError("form", "")


def _lead_stranger(page: ConsolePage, area: Area | None) -> Response | None:
    """The page for visitors who are not signed in, or have not chosen a user."""
    session = page.visit.session
    path = page.request.url.path
    wanted = f"?next={quote(path)}" if page.request.method == "GET" and path != "/" else ""
    if session is None:
        return page.redirect(f"/sign-in{wanted}")
    if area is None:
        return None
    if not session.may(area.scope):
        raise CallError("forbidden", page.tell("error.lacks", scope=area.scope))
    if area.of_one_user and session.caller.user_id is None:
        return page.redirect(f"/whose{wanted}")
    return None


def explain_refusal(page: ConsolePage, problem: CallError) -> Response:
    """The page with the error and the next step."""
    code = problem.code if f"error.{problem.code}" in MESSAGES else "other"
    message = "" if code in ("form", "broke", "not_found") else problem.message
    status = STATUS.get(problem.code, 422)
    if page.is_part:
        return page.render("error_part.html", status=status, code=code, told=message)
    again = page.request.url.path if code in AGAIN and page.request.method == "GET" else None
    title = page.tell(f"error.{code}")
    return page.render("error.html", status=status, title=title, code=code, told=message, again=again)


async def show_absence(request: Request, error: Exception) -> Response:
    """The page for an unknown address."""
    del error
    compose, areas = request.app.state.answering.compose, request.app.state.answering.areas
    page = ConsolePage(request, request.state.visit, compose, areas, {})
    return explain_refusal(page, CallError("not_found", ""))
