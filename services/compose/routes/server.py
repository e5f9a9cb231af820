"""The HTTP application: one router per resource."""

from fastapi import Depends, FastAPI

from services.compose.receipts.recorder import Recorder
from services.compose.routes import (
    contexts,
    dead_letters,
    erasures,
    knowledge,
    memories,
    operations,
    promotions,
    sessions,
    settings,
    turns,
)
from services.compose.routes.access import Authenticate, Limiter, LimitKeys, LimitRequests, refuse_lacking_scope
from services.compose.routes.openapi import describe
from services.compose.routes.requests import ERROR_HANDLERS, Framing, Identify, LeadToConsole, refuse_unknown_parameters
from shared.access.authenticator import Authenticator
from shared.bus.lags import GroupLags
from shared.policy import Policy
from shared.runtime import Runtime

ROUTERS = (
    turns.router,
    contexts.router,
    contexts.explain_router,
    turns.media_router,
    turns.commands_router,
    memories.router,
    memories.feedback_router,
    memories.answers_router,
    sessions.router,
    settings.router,
    promotions.router,
    knowledge.experience_router,
    contexts.receipts_router,
    knowledge.router,
    erasures.router,
    dead_letters.router,
    dead_letters.quarantine_router,
    operations.router,
    operations.users_router,
    settings.access_router,
)


def create_app(
    rt: Runtime, recorder: Recorder, authenticator: Authenticator, limiter: Limiter | None = None
) -> FastAPI:
    """The application of API version 1."""
    policy = rt.policy if rt else Policy()  # without a runtime it is only described
    limiter = limiter or Limiter(policy.limits)
    app = FastAPI(
        title="SmartBrain",
        version="1",
        docs_url="/docs",
        redoc_url=None,
        dependencies=[Depends(refuse_lacking_scope), Depends(refuse_unknown_parameters)],
        exception_handlers={**ERROR_HANDLERS},
    )
    app.state.runtime, app.state.recorder, app.state.limiter = rt, recorder, limiter
    app.state.lags = GroupLags(rt.kafka) if rt else None
    app.state.routes = [route for router in ROUTERS for route in router.routes]
    app.add_middleware(LimitKeys, limiter=limiter)
    app.add_middleware(Authenticate, authenticator=authenticator)
    app.add_middleware(LimitRequests, policy=policy.limits)
    app.add_middleware(Framing)
    app.add_middleware(Identify)
    if rt:
        app.add_middleware(LeadToConsole, settings=rt.settings)
    for router in ROUTERS:
        app.include_router(router)
    describe(app, policy.erasure.profiles)
    return app
