"""The HTTP side: routes parse, call and reply; every refusal has one shape (decision 10)."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.base import ExternalId
from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.evidence_pack import EvidencePack
from schemas.experience import ExperiencePage
from schemas.media import MediaState, MediaView
from schemas.messages import PackageMessages
from schemas.promotion import PromotionDecision, PromotionPage, PromotionStatus, PromotionView
from schemas.receipts import ContextPage, ContextReceipt
from schemas.resources import KnowledgeChanged, KnowledgeVersion, ResourcePage, ResourceState
from schemas.retrieve import PlanView, RetrieveRequest
from schemas.turn_events import CommitResult, ErrorReply, FieldProblem, TurnEvents
from schemas.views import (
    TurnOutcomeView,
    TurnView,
)
from services.compose.context import experience
from services.compose.context.pipeline import compose_context, execute_plan
from services.compose.intake import media
from services.compose.intake.commit import commit_turn
from services.compose.manage import library, memories, promotions
from services.compose.receipts import packages
from services.compose.receipts.recorder import Recorder
from services.compose.routes.bounds import Framing, allowed_methods, refuse_unknown_parameters
from services.compose.routes.erasures import erasure_routes
from services.compose.routes.memories import memory_routes
from services.compose.routes.openapi import body_of, describe
from services.compose.routes.requests import MediaPath, Offset, TenantId, UserId, json_of, parse_request
from services.compose.rules.packing.why import Told
from shared import clock, parsing
from shared.domain.subjects import Subject
from shared.errors import RefusedError, TransientError
from shared.metrics.packages import COMPOSE_SECONDS
from shared.metrics.turns import TURNS_REFUSED
from shared.policy import Policy
from shared.runtime import Runtime
from shared.telemetry import frames, logger

RETRY_AFTER = {"retry-after": "1"}


def create_app(rt: Runtime, recorder: Recorder) -> FastAPI:
    """The routes of version 1, bound to this runtime; the recorder hears of every package."""
    app = FastAPI(
        title="SmartBrain",
        version="1",
        docs_url="/docs",
        redoc_url=None,
        dependencies=[Depends(refuse_unknown_parameters)],
    )
    app.state.recorder = recorder
    _errors(app)
    _turns(app, rt, recorder)
    _compose(app, rt, recorder)
    _media(app, rt)
    memory_routes(app, rt)
    _promotions(app, rt)
    _contexts(app, rt, recorder)
    _library(app, rt)
    erasure_routes(app, rt, recorder)
    describe(app, (rt.policy if rt else Policy()).erasure.profiles)  # without a runtime it is only described
    return app


def _turns(app: FastAPI, rt: Runtime, recorder: Recorder) -> None:
    @app.post(
        "/v1/turns",
        response_model=CommitResult,
        status_code=201,
        openapi_extra=body_of(TurnEvents),
        tags=["turns"],
        summary="Commit one turn; the same idempotency key with the same body answers 200 with the first result",
    )
    async def commit(request: Request) -> Response:
        try:
            turn, ignored = await parse_request(request, TurnEvents)
        except RefusedError as error:
            TURNS_REFUSED.labels(error.code).inc()
            raise
        key = request.headers.get("idempotency-key")
        if key and turn.idempotency_key is None:
            turn = TurnEvents.model_validate({**turn.model_dump(), "idempotency_key": key})
        await recorder.wait_until_recorded(Subject(turn.tenant_id, turn.user_id), turn.session_id)
        committed = await commit_turn(turn, rt, transport="http", ignored=ignored)
        return json_of(committed.result, 201 if committed.fresh else 200)

    @app.get("/v1/turns/{turn_id}", tags=["turns"], summary="A turn as it was said")
    async def turn(turn_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> TurnView:
        return await memories.turn(rt, Subject(tenant_id, user_id), turn_id)

    @app.get("/v1/turns/{turn_id}/outcome", tags=["turns"], summary="What was learnt from a turn")
    async def outcome(turn_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> TurnOutcomeView:
        return await memories.outcome(rt, Subject(tenant_id, user_id), turn_id)

    del commit, turn, outcome


def _compose(app: FastAPI, rt: Runtime, recorder: Recorder) -> None:
    @app.post(
        "/v1/context",
        response_model=ContextPackage,
        openapi_extra=body_of(ComposeRequest),
        tags=["compose"],
        summary="Compose the smallest sufficient context for one message",
    )
    async def context(request: Request) -> Response:
        asked, ignored = await parse_request(request, ComposeRequest)
        with COMPOSE_SECONDS.labels("http").time():
            made = await compose_context(asked, rt, ignored=ignored)
            await recorder.note(made)
            return json_of(made.package, lean=True)

    @app.post(
        "/v1/retrieve",
        response_model=EvidencePack,
        openapi_extra=body_of(RetrieveRequest),
        tags=["compose"],
        summary="Execute a retrieval plan",
    )
    async def run_plan(request: Request) -> Response:
        asked, ignored = await parse_request(request, RetrieveRequest)
        made = await execute_plan(asked, rt, ignored=ignored)
        await recorder.note(made)
        return json_of(made.pack)

    del context, run_plan


def _contexts(app: FastAPI, rt: Runtime, recorder: Recorder) -> None:
    async def wait_until_recorded(tenant_id: str, user_id: str) -> Subject:
        """Whose packages are asked for, once those that were answered are recorded."""
        subject = Subject(tenant_id, user_id)
        await recorder.wait_until_recorded(subject)
        return subject

    @app.get("/v1/contexts", tags=["receipts"], summary="The packages of a user or of one session, newest first")
    async def page(
        user_id: UserId,
        tenant_id: TenantId = "default",
        session_id: Annotated[ExternalId | None, Query(description="Of this session only")] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        offset: Offset = 0,
    ) -> ContextPage:
        return await packages.page(rt, await wait_until_recorded(tenant_id, user_id), session_id, limit, offset)

    @app.get(
        "/v1/contexts/{context_id}",
        tags=["receipts"],
        summary="A package as it was answered, while it is stored; 410 `erased` once it was erased",
    )
    async def package(context_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> ContextPackage:
        return await packages.package(rt, await wait_until_recorded(tenant_id, user_id), context_id)

    @app.get(
        "/v1/contexts/{context_id}/messages",
        response_model=PackageMessages,
        tags=["receipts"],
        summary="The package as messages of a chat API",
    )
    async def chat(
        context_id: UUID,
        user_id: UserId,
        tenant_id: TenantId = "default",
        developer: Annotated[bool, Query(description="False: the developer's rules join the system message")] = True,
    ) -> Response:
        made = await packages.as_messages(
            rt, await wait_until_recorded(tenant_id, user_id), context_id, developer=developer
        )
        return json_of(made, lean=True)

    @app.get(
        "/v1/plans/{plan_id}",
        tags=["receipts"],
        summary="A plan as it was executed, while it is stored: by the `plan_id` of a pack or a package's `context_id`",
    )
    async def plan(plan_id: UUID, user_id: UserId, tenant_id: TenantId = "default") -> PlanView:
        return await packages.plan(rt, await wait_until_recorded(tenant_id, user_id), plan_id)

    @app.get(
        "/v1/receipts/{context_id}",
        tags=["receipts"],
        summary="Why each thing is in the package, and why others are not",
    )
    async def receipt(
        context_id: UUID,
        user_id: UserId,
        tenant_id: TenantId = "default",
        item: Annotated[str | None, Query(max_length=2048, description="An id or address; any memory may be asked")] = (
            None
        ),
        lang: Annotated[Told, Query(description="Of the sentences")] = "en",
    ) -> ContextReceipt:
        return await packages.receipt(rt, await wait_until_recorded(tenant_id, user_id), context_id, item, lang)

    del page, package, chat, plan, receipt


def _media(app: FastAPI, rt: Runtime) -> None:
    @app.put(
        "/v1/media/{media_id:external}",
        response_model=MediaView,
        openapi_extra=body_of(MediaState),
        tags=["media"],
        summary="Register what a scanner says of a media file; a message that names it is taken only while it is safe",
    )
    async def put(request: Request, media_id: MediaPath) -> Response:
        asked, _ = await parse_request(request, MediaState)
        return json_of(await media.put(rt, media_id, asked))

    @app.get("/v1/media/{media_id:external}", tags=["media"], summary="A registered media file")
    async def one(media_id: MediaPath, user_id: UserId, tenant_id: TenantId = "default") -> MediaView:
        return await media.view(rt, Subject(tenant_id, user_id), media_id)

    del put, one


def _promotions(app: FastAPI, rt: Runtime) -> None:
    @app.get("/v1/promotions", tags=["promotions"], summary="A user's memories that qualify to be offered to others")
    async def proposals(
        user_id: UserId,
        tenant_id: TenantId = "default",
        status: Annotated[PromotionStatus | None, Query()] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> PromotionPage:
        return await promotions.page(rt, Subject(tenant_id, user_id), status, limit)

    @app.post(
        "/v1/promotions/{proposal_id}",
        response_model=PromotionView,
        openapi_extra=body_of(PromotionDecision),
        tags=["promotions"],
        summary="Approve or reject; nothing is written elsewhere yet. One that was not decided in time is `expired`",
    )
    async def decide(proposal_id: UUID, request: Request) -> Response:
        asked, _ = await parse_request(request, PromotionDecision)
        return json_of(await promotions.decide(rt, proposal_id, asked))

    @app.get("/v1/experience", tags=["experience"], summary="What the agent of a tenant has learnt of its own tools")
    async def learnt(tenant_id: TenantId = "default", user_id: UserId | None = None) -> ExperiencePage:
        return await experience.page(rt, Subject(tenant_id, user_id or ""))

    del proposals, decide, learnt


def _library(app: FastAPI, rt: Runtime) -> None:
    @app.get("/v1/resources", tags=["knowledge"], summary="What of a user's turns went to knowledge, or why not")
    async def resources(
        user_id: UserId,
        tenant_id: TenantId = "default",
        state: Annotated[ResourceState | None, Query()] = None,
        turn_id: Annotated[UUID | None, Query(description="Of this turn only")] = None,
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
    ) -> ResourcePage:
        subject = Subject(tenant_id, user_id)
        return await library.page(rt, subject, state=state, turn_id=turn_id, limit=limit)

    @app.post(
        "/v1/knowledge/changed",
        response_model=KnowledgeVersion,
        openapi_extra=body_of(KnowledgeChanged),
        tags=["knowledge"],
        summary="Knowledge has changed beside us: no older answer of it is used again",
    )
    async def changed(request: Request) -> Response:
        asked, _ = await parse_request(request, KnowledgeChanged)
        return json_of(await library.note_change(rt, asked))

    del resources, changed


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

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode("ascii", "replace"))]
            await send(message)

        await self._app(scope, receive, named)


def _errors(app: FastAPI) -> None:
    app.add_middleware(Framing)
    app.add_middleware(Identify)

    @app.exception_handler(RefusedError)
    async def refused(request: Request, error: RefusedError) -> Response:
        return json_of(parsing.reply_of(error, request.state.request_id), error.status)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        details = tuple(
            FieldProblem(field=".".join(str(p) for p in e["loc"][1:]) or "query", problem=e["msg"])
            for e in error.errors()
        )
        message = f"{details[0].field}: {details[0].problem}"
        return _error(request, 422, "invalid_request", message, details)

    @app.exception_handler(ValidationError)
    async def misfit(request: Request, error: ValidationError) -> Response:
        details = tuple(parsing.problems(error))
        return _error(request, 422, "invalid_request", f"{details[0].field}: {details[0].problem}", details)

    @app.exception_handler(TransientError)
    async def away(request: Request, error: TransientError) -> Response:
        logger().warning("request_failed", error=str(error), path=request.url.path)
        return _error(request, 503, "unavailable", "a dependency is away; nothing was written; try again")

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Response:
        answer = _error(request, error.status_code, f"http_{error.status_code}", str(error.detail))
        if error.status_code == 405:
            answer.headers["allow"] = allowed_methods(app.routes, request.scope)
        return answer

    @app.exception_handler(ClientDisconnect)
    async def gone(request: Request, error: ClientDisconnect) -> Response:
        del error
        return _error(request, 400, "disconnected", "the body was not sent to its end")

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        logger().error("request_broke", path=request.url.path, **frames(error))
        return _error(request, 500, "internal", "an internal error; the log has it under this request_id")

    del refused, invalid, misfit, away, plain, gone, broken


def _error(request: Request, status: int, code: str, message: str, details: tuple[FieldProblem, ...] = ()) -> Response:
    request_id = getattr(request.state, "request_id", "") or clock.uuid7().hex
    reply: dict[str, Any] = ErrorReply(code=code, message=message, details=details, request_id=request_id).model_dump()
    return JSONResponse(reply, status, headers=RETRY_AFTER if status == 503 else None)
