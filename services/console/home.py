"""Sign-in and sign-out, the choice of the user, the language and the appearance."""

from dataclasses import replace

from starlette.responses import Response

from services.console.door import SESSION_COOKIE, write_cookie
from services.console.page import LANGUAGE_COOKIE, THEME_COOKIE, THEMES, ConsolePage, PageEntry
from services.console.rules.telling import LANGUAGES
from services.console.sessions import Session, Sessions
from shared.fronts.caller import AgentCaller, make_caller
from shared.fronts.client import ComposeClient, Json
from shared.fronts.problems import CallError

YEAR_S = 365 * 24 * 3600


class Home:
    """The pages before and beside all areas."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    @property
    def pages(self) -> tuple[PageEntry, ...]:
        """What they are."""
        return (
            PageEntry("/", lead_home),
            PageEntry("/sign-in", self.show_sign_in, for_strangers=True),
            PageEntry("/sign-in", self.sign_in, "POST", for_strangers=True),
            PageEntry("/sign-out", self.sign_out, "POST"),
            PageEntry("/whose", show_whose),
            PageEntry("/whose", self.choose_user, "POST"),
            PageEntry("/appearance", switch_appearance, "POST", for_strangers=True),
        )

    async def show_sign_in(self, page: ConsolePage) -> Response:
        """The form for a key, or for a user id while no key is required."""
        return await _render_sign_in(page, refused=False)

    async def sign_in(self, page: ConsolePage) -> Response:
        """Opens a session with the key, or with the user id while no key is required."""
        key = page.field("key")
        no_key = not (key.isascii() and key.isprintable()) or not (key or await may_enter_without_key(page))
        if no_key:
            return await _render_sign_in(page, refused=True)
        caller = make_caller(key or None, {})
        try:
            access = await find_access(page.compose, caller)
        except CallError as problem:
            if problem.code != "unauthenticated":
                raise
            return await _render_sign_in(page, refused=True)
        answer = page.redirect(find_next(page))
        token = await open_session(self._sessions, page, caller, access)
        answer.headers.append("set-cookie", write_cookie(SESSION_COOKIE, token, secure=page.visit.secure))
        return answer

    async def sign_out(self, page: ConsolePage) -> Response:
        """Ends the session."""
        self._sessions.end(page.visit.session_token)
        answer = page.redirect("/sign-in")
        answer.headers.append("set-cookie", write_cookie(SESSION_COOKIE, "", secure=page.visit.secure))
        return answer

    async def choose_user(self, page: ConsolePage) -> Response:
        """Switches the session to another user of the key."""
        session = page.session
        user, tenant = page.field("user"), page.field("tenant")
        if session.of_one or not user:
            page.refuse("invalid_request", "user: is missing")
        named = {"user_id": user, "tenant_id": tenant or session.caller.tenant_id}
        session.caller = replace(make_caller(session.caller.bearer, named), session_id=session.caller.session_id)
        session.language = await find_language(page.compose, session)
        session.notices.clear()
        return page.redirect(find_next(page))


async def open_session(sessions: Sessions, page: ConsolePage, caller: AgentCaller, access: Json) -> str:
    """The token of a new session for a requester that compose accepted; ends the previous session."""
    user = access["user_id"] or page.field("user") or None
    tenant = access["tenant_id"] or page.field("tenant") or None
    named = make_caller(caller.bearer, {"user_id": user, "tenant_id": tenant})
    session = Session(named, access["name"], frozenset(access["scopes"]), access["user_id"] is not None)
    session.language = await find_language(page.compose, session)
    sessions.end(page.visit.session_token)
    return sessions.begin(session)


async def lead_home(page: ConsolePage) -> Response:
    """The first area that the key is for."""
    return page.redirect(next((area.path for area in page.areas if page.session.may(area.scope)), "/whose"))


async def show_whose(page: ConsolePage) -> Response:
    """The form that asks for the user."""
    if page.session.of_one:
        return page.redirect("/")
    return page.render("home/whose.html", title=page.tell("whose.title"), next=find_next(page))


async def switch_appearance(page: ConsolePage) -> Response:
    """Stores the chosen language and appearance in this browser."""
    answer = page.redirect(find_next(page))
    for name, field, known in ((LANGUAGE_COOKIE, "language", LANGUAGES), (THEME_COOKIE, "theme", THEMES)):
        chosen = page.field(field)
        if chosen in known:
            answer.set_cookie(name, chosen, max_age=YEAR_S, httponly=True, samesite="strict", secure=page.visit.secure)
    return answer


async def may_enter_without_key(page: ConsolePage) -> bool:
    """Whether compose requires no key and only this machine can reach the console."""
    return page.visit.open_without_key and await page.compose.is_open()


async def find_access(compose: ComposeClient, caller: AgentCaller) -> Json:
    """The access of the key; CallError if it is not accepted. A key without the scope read counts as an operator's, and
    compose refuses everything else.
    """
    try:
        return await compose.find_access(caller)
    except CallError as problem:
        if problem.code != "forbidden":
            raise
        return {"name": "", "tenant_id": None, "user_id": None, "scopes": ("operate",)}


async def find_language(compose: ComposeClient, session: Session) -> str | None:
    """The language in the user's settings; None if it is not set or the key may not read them."""
    if session.caller.user_id is None or not session.may("read"):
        return None
    try:
        settings = (await compose.get(session.caller, "/v1/settings"))["settings"]
    except CallError:
        return None
    return next((each["value"] for each in settings if each["name"] == "language" and each["value"] != "auto"), None)


def find_next(page: ConsolePage) -> str:
    """The requested page of the console, never one of another server."""
    wanted = page.field("next") or page.ask("next")
    own = wanted.startswith("/") and not wanted.startswith("//") and "\\" not in wanted and wanted.isprintable()
    return wanted if own else "/"


async def _render_sign_in(page: ConsolePage, *, refused: bool) -> Response:
    is_open = await may_enter_without_key(page)
    title = page.tell("whose.title" if is_open else "sign_in.title")
    shown = {"title": title, "is_open": is_open, "refused": refused, "next": find_next(page)}
    return page.render("home/sign_in.html", status=401 if refused else 200, **shown)
