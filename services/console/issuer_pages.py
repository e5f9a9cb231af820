"""The pages that start and finish a sign-in with an issuer."""

from urllib.parse import quote

from starlette.responses import Response

from services.console.door import SESSION_COOKIE, write_cookie
from services.console.home import find_access, find_next, open_session
from services.console.issuer import WAIT_S, SignIns
from services.console.page import ConsolePage, PageEntry
from services.console.sessions import Sessions
from shared.fronts.caller import make_caller
from shared.fronts.origins import LOOPBACK, name_of_host
from shared.fronts.problems import CallError

SIGN_IN_COOKIE = "smartbrain_sign_in"
BACK = "/sign-in/back"
SAFE = "/?=&%"


class IssuerPages:
    """The two pages; none if people sign in only with keys."""

    def __init__(self, sessions: Sessions, sign_ins: SignIns, own_address: str | None) -> None:
        self._sessions = sessions
        self._sign_ins = sign_ins
        self._own_address = own_address

    @property
    def pages(self) -> tuple[PageEntry, ...]:
        """What they are."""
        return (
            PageEntry("/sign-in/issuer", self.lead_to_issuer, for_strangers=True),
            PageEntry(BACK, self.come_back, for_strangers=True),
        )

    async def lead_to_issuer(self, page: ConsolePage) -> Response:
        """Redirects to the issuer; a cookie ties the sign-in to this browser."""
        address, browser = self._sign_ins.begin(self._find_back(page), find_next(page))
        answer = page.redirect(address)
        answer.headers.append("set-cookie", _write_way_cookie(browser, secure=page.visit.secure))
        return answer

    async def come_back(self, page: ConsolePage) -> Response:
        """Opens a session with the issuer's token after compose accepted it. The answer is a page with a redirect,
        because a browser sends no strict cookie on a navigation from the issuer.
        """
        browser = page.request.cookies.get(SIGN_IN_COOKIE, "")
        token, wanted = await self._sign_ins.finish(dict(page.request.query_params), browser)
        caller = make_caller(token, {})
        try:
            access = await find_access(page.compose, caller)
        except CallError as problem:
            raise CallError("sign_in", problem.message) if problem.code == "unauthenticated" else problem from problem
        answer = page.render("home/signed_in.html", title=page.tell("sign_in.done"), next=wanted)
        answer.headers["refresh"] = f"0; url={quote(wanted, safe=SAFE)}"
        opened = await open_session(self._sessions, page, caller, access)
        secure = page.visit.secure
        answer.headers.append("set-cookie", write_cookie(SESSION_COOKIE, opened, secure=secure))
        answer.headers.append("set-cookie", _write_way_cookie("", secure=secure, most_s=0))
        return answer

    def _find_back(self, page: ConsolePage) -> str:
        """The redirect URI of the console."""
        host = page.request.headers.get("host", "")
        if self._own_address:
            return f"{self._own_address.rstrip('/')}{BACK}"
        if name_of_host(host) not in LOOPBACK:
            page.refuse("sign_in", "SMARTBRAIN_CONSOLE_URL is not set")
        return f"http://{host}{BACK}"


def _write_way_cookie(browser: str, *, secure: bool, most_s: int = WAIT_S) -> str:
    """A lax cookie, which is also sent on navigation from another site."""
    marks = f"Path=/sign-in; HttpOnly; SameSite=Lax; Max-Age={most_s}{'; Secure' if secure else ''}"
    return f"{SIGN_IN_COOKIE}={browser}; {marks}"
