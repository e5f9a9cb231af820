"""The console: wires access checks, the pages of every area and compose's client into a service."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from services.console.answering import Answering, show_absence
from services.console.areas import AREAS
from services.console.door import ConsoleDoor, ConsoleDoorPolicy
from services.console.home import Home
from services.console.issuer import SignIns, find_client
from services.console.issuer_pages import IssuerPages
from services.console.rendering import STATIC
from services.console.sessions import Sessions
from shared.access.loopback import is_loopback
from shared.fronts.client import ComposeClient
from shared.fronts.front import Front
from shared.policy_file import load_policy
from shared.service import Service
from shared.settings import Settings


def build(settings: Settings) -> Service:
    """The service; it has no database and no broker, and calls compose."""
    front = Front("the console", settings)
    policy = ConsoleDoorPolicy(settings.console_url, is_loopback(settings.http_host))
    client = find_client(settings, load_policy(settings.policy).access)
    app = make_app(front.compose, policy, SignIns(client) if client else None)
    return Service("console", run=front.run, ready=front.find_ready, http=app)


def make_app(compose: ComposeClient, policy: ConsoleDoorPolicy, sign_ins: SignIns | None = None) -> Starlette:
    """All pages with their access checks; `sign_ins` are those with an issuer, if the policy names one."""
    sessions = Sessions()
    answering = Answering(compose, sessions, AREAS)
    routes = [answering.make_route(entry) for entry in Home(sessions).pages]
    if sign_ins:
        issuer_pages = IssuerPages(sessions, sign_ins, policy.own_address).pages
        routes += [answering.make_route(entry) for entry in issuer_pages]
    routes += [answering.make_route(entry, area) for area in AREAS for entry in area.pages]
    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(directory=STATIC), name="static")],
        middleware=[Middleware(ConsoleDoor, sessions=sessions, policy=policy)],
        exception_handlers={HTTPException: show_absence},
    )
    app.state.answering = answering
    app.state.with_issuer = sign_ins is not None
    return app
