"""The parts of a page. How to add one:

1. the function, in the package of its area: it takes a `ConsolePage`, asks compose, and answers. What compose
   refuses needs no handling: it becomes a page that says what to do

       async def show_notes(page: ConsolePage) -> Response:
           found = await page.get("/v1/memories", type="note")
           return page.render("memory/notes.html", title=page.tell("memory.overview"), memories=found["memories"])

2. its line in the `AREA` of that package: `PageEntry("/memory/notes", show_notes)`; with `"POST"` where it changes
   something, and then it ends with `page.redirect(...)`. A form of it holds `{{ form_token() }}`: without it the
   answer is 403
3. its template, `templates/<area>/notes.html`, which begins `{% extends "layout.html" %}`
4. what it says, in both languages, in `texts/<area>.toml`; templates write `{{ t("memory.overview") }}`
5. `make test-browser` opens it if it stands in `tests/browser/pages.py`
"""

import zoneinfo
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cache, cached_property
from typing import Any, Literal, NoReturn
from urllib.parse import quote
from uuid import uuid4

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from services.console.messages import MESSAGES
from services.console.rendering import render, write_lines
from services.console.rules.telling import (
    LANGUAGES,
    Spoken,
    choose_language,
    name_degree,
    read_moment,
    tell_day,
    tell_moment,
)
from services.console.sessions import Notice, Session
from shared.clock import now
from shared.fronts.caller import AgentCaller
from shared.fronts.client import ComposeClient, Json
from shared.fronts.problems import CallError

LANGUAGE_COOKIE, THEME_COOKIE, ZONE_COOKIE = "smartbrain_language", "smartbrain_theme", "smartbrain_zone"
THEMES = ("auto", "light", "dark")
Method = Literal["GET", "POST"]


@dataclass(frozen=True)
class Visit:
    """One admitted request: its session, if signed in, and the token for its forms."""

    session: Session | None
    session_token: str | None
    form_token: str
    secure: bool
    open_without_key: bool


@dataclass(frozen=True)
class ConsolePage:
    """The argument of a page function: the requester, the form, compose in their name, and ways to answer."""

    request: Request
    visit: Visit
    compose: ComposeClient
    areas: "tuple[Area, ...]"
    form: Mapping[str, list[str]]
    file: bytes = b""
    """The uploaded file, if the page takes one."""

    @property
    def session(self) -> Session:
        """Who is signed in; a page that is open to strangers has none."""
        assert self.visit.session  # noqa: S101 # the others are led to the sign-in before they come here
        return self.visit.session

    @property
    def caller(self) -> AgentCaller:
        """In whose name compose is asked."""
        return self.session.caller

    @cached_property
    def language(self) -> Spoken:
        """In which the page is written."""
        cookies, headers = self.request.cookies, self.request.headers
        setting = self.visit.session.language if self.visit.session else None
        return choose_language(cookies.get(LANGUAGE_COOKIE), setting, headers.get("accept-language", ""))

    @property
    def theme(self) -> str:
        """Light, dark, or as the system is."""
        chosen = self.request.cookies.get(THEME_COOKIE, "auto")
        return chosen if chosen in THEMES else "auto"

    @cached_property
    def zone(self) -> tzinfo:
        """The clock by which the reader lives, which the browser tells; UTC until it has."""
        return find_zone(self.request.cookies.get(ZONE_COOKIE, ""))

    @property
    def whom(self) -> dict[str, str]:
        """The tenant or user to which an operator's figures are limited, if the address names one."""
        named = {"tenant_id": self.ask("tenant"), "user_id": self.ask("user")}
        return {name: value for name, value in named.items() if value}

    @property
    def here(self) -> str:
        """The address of the page, to come back to; the one before it where this is the answer to a form."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query and self.request.method == "GET" else url.path

    @property
    def is_part(self) -> bool:
        """Whether only a part of a page is asked for, by a script of ours."""
        return "hx-request" in self.request.headers

    def tell(self, message: str, /, **values: object) -> str:
        """The message in the language of the page."""
        text = MESSAGES[message][LANGUAGES.index(self.language)]
        return text.format(**values) if values else text

    def tell_one(self, kind: str, name: str) -> str:
        """The message of this kind that has the name; the name where there is none."""
        message = f"{kind}.{name}"
        return self.tell(message) if message in MESSAGES else name

    def tell_moment(self, told: str) -> str:
        """The moment that compose wrote, in words."""
        return tell_moment(read_moment(told), now(), self.zone, self.language)

    def tell_day(self, told: str) -> str:
        """The day that compose wrote, in words."""
        return tell_day(read_moment(told), now(), self.zone, self.language)

    def tell_degree(self, confidence: float) -> str:
        """How sure it is, in words."""
        return self.tell(name_degree(confidence))

    def write_lines(self, text: str) -> Markup:
        """A text of several lines as paragraphs and lists."""
        return write_lines(text)

    def make_once(self) -> str:
        """What makes a form that is sent twice be done once."""
        return uuid4().hex

    def ask(self, field: str, default: str = "") -> str:
        """The value of the address's query."""
        return self.request.query_params.get(field, default)

    def ask_number(self, field: str, default: int, most: int) -> int:
        """The number of the address's query, within its bounds."""
        asked = self.ask(field)
        return min(int(asked), most) if asked.isdecimal() and len(asked) < 9 else default

    def part(self, name: str) -> str:
        """The part of the address that has this name, as compose's addresses have it."""
        return self.quote(self.request.path_params[name])

    def quote(self, given: str) -> str:
        """The id as one part of an address."""
        return quote(given, safe="")

    def require_scope(self, scope: str) -> None:
        """CallError where the key is not for this."""
        if not self.session.may(scope):
            self.refuse("forbidden", self.tell("error.lacks", scope=scope))

    def field(self, name: str, default: str = "") -> str:
        """The value that the form sent, without spaces around it."""
        values = self.form.get(name)
        return values[0].strip() if values else default

    async def get(self, path: str, **query: Any) -> Json:
        """What compose says of something of the user whose memory this is."""
        return await self.compose.get(self.caller, path, **query)

    async def post(self, path: str, body: Mapping[str, Any]) -> Json:
        """What compose says to a body in the user's name."""
        return await self.compose.post(self.caller, path, body)

    async def change(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """What compose says to a change of something of the user's."""
        return await self.compose.change(self.caller, method, path, body)

    async def write(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Json:
        """The receipt of a change of the user's memory, settled as far as a person should wait."""
        return await self.compose.write(self.caller, method, path, body)

    async def settle(self, receipt: Json) -> Json:
        """The receipt once the write is done, or after some seconds."""
        return await self.compose.settle(self.caller, receipt)

    async def get_any(self, path: str, **query: Any) -> Json:
        """What compose tells an operator of whom the query names, or of everybody."""
        named = {name: value for name, value in query.items() if value not in (None, "")}
        return await self.compose.change_any(self.caller, "GET", path, named)

    async def change_any(self, path: str, query: Mapping[str, Any], body: Mapping[str, Any]) -> Json:
        """What compose says to what an operator does with something of whom the query names."""
        named = {name: value for name, value in query.items() if value}
        return await self.compose.change_any(self.caller, "POST", path, named, body)

    def render(self, template: str, /, *, status: int = 200, **values: Any) -> Response:
        """The page, or the part of it that the template is."""
        shown = {"page": self, "t": self.tell, "form_token": self.write_form_token, **values}
        return HTMLResponse(render(template, shown), status)

    def write_form_token(self) -> Markup:
        """The hidden field without which no form is taken."""
        return Markup('<input type="hidden" name="csrf" value="{}">').format(self.visit.form_token)

    def take_notices(self) -> list[Notice]:
        """What is to be told once."""
        notices = self.visit.session.notices if self.visit.session else None
        taken = list(notices or ())
        if notices:
            notices.clear()
        return taken

    def redirect(self, path: str, notice: Notice | None = None) -> Response:
        """Leads to another page of the console, which then tells the notice."""
        if notice and self.visit.session:
            self.visit.session.notices.append(notice)
        if self.is_part:
            return Response(status_code=204, headers={"hx-redirect": path})
        return RedirectResponse(path, 303)

    def refuse(self, code: str, message: str) -> NoReturn:
        """The page is the one that tells of this refusal."""
        raise CallError(code, message)


Show = Callable[[ConsolePage], Awaitable[Response]]


@dataclass(frozen=True)
class PageEntry:
    """One page: its address, what makes it, and whether strangers see it."""

    path: str
    show: Show
    method: Method = "GET"
    for_strangers: bool = False
    file_most: int = 0
    """So many bytes a file has at most that is sent with the form; 0: it takes none."""


@dataclass(frozen=True)
class Area:
    """Pages that belong together: an entry of the navigation, and the scope without which nobody needs it.

    `tabs` are the messages and addresses of its own navigation.
    """

    name: str
    path: str
    scope: str
    pages: tuple[PageEntry, ...]
    tabs: tuple[tuple[str, str], ...] = ()
    of_one_user: bool = True
    """Whether it has to be known whose memory it is about."""

    def owns(self, path: str) -> bool:
        """Whether the page lies in this area."""
        return path == self.path or path.startswith(f"{self.path}/")


@dataclass(frozen=True)
class Turning:
    """The current part of a long list, and the addresses of its neighbours."""

    first: int
    last: int
    count: int
    newer: str | None
    older: str | None


def turn_pages(page: ConsolePage, offset: int, most: int, count: int) -> Turning:
    """The navigation of a paged list."""
    asked = page.request.url

    def lead(start: int) -> str:
        led = asked.include_query_params(offset=start)
        return f"{led.path}?{led.query}"

    newer = lead(max(0, offset - most)) if offset else None
    older = lead(offset + most) if offset + most < count else None
    return Turning(offset + 1, min(offset + most, count), count, newer, older)


@cache
def _list_zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def find_zone(name: str) -> tzinfo:
    """The zone of that name; UTC where there is none."""
    try:
        return zoneinfo.ZoneInfo(name) if name in _list_zones() else UTC
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return UTC
