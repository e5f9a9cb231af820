"""Compose as a service: HTTP, request and reply over Kafka, and the inbound topic of turns."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from pydantic import BaseModel

from schemas.compose import ComposeRequest, IncomingMessage
from schemas.erasure import ErasureRequest
from schemas.topics import COMPOSE_REQUEST, TURN_COMMIT
from schemas.turn_events import ErrorReply, TurnEvents
from services.compose.context.changes import read_statements, to_turn
from services.compose.context.pipeline import compose_context
from services.compose.intake.commit import commit_turn
from services.compose.intake.records import find_first_position, is_erasure, make_key
from services.compose.manage import erasures
from services.compose.receipts.recorder import Recorder
from services.compose.routes.access import Limiter
from services.compose.routes.server import create_app
from services.compose.rules.planning import cues
from services.compose.rules.planning.plan import PlanPolicy, plan_search
from services.compose.rules.searching.nearness import compare_nearness
from shared import clock, parsing, presence
from shared.access.authenticator import Authenticator, read_record
from shared.bus.delivery import Record, finish_all
from shared.bus.requests import Replier, Request, request_of
from shared.domain.signatures import SentRecord
from shared.domain.subjects import AT_DOOR, Requester, Subject
from shared.errors import RefusedError, TransientError
from shared.metrics.access import REQUESTS_DENIED
from shared.metrics.delivery import EVENTS_CONSUMED, EVENTS_DEAD_LETTERED, EVENTS_FAILED
from shared.metrics.packages import COMPOSE_SECONDS
from shared.metrics.turns import TURNS_REFUSED
from shared.models.provider import ModelProvider
from shared.policy import ConfidencePolicy
from shared.runtime import Runtime
from shared.screening.sanitize import screen, show_own
from shared.service import Service
from shared.telemetry import frames, logger
from shared.worker import worker


def build(rt: Runtime) -> Service:
    recorder = Recorder(rt.db, rt.policy, rt.version)
    authenticator = Authenticator(rt.db, rt.policy.access, rt.settings.http_host)
    limiter = Limiter(rt.policy.limits)
    door = _Door(rt, recorder, authenticator, limiter)
    rt.bus.consume_raw(TURN_COMMIT, service="compose", group=TURN_COMMIT.group_of("compose"), accept=door.commit_all)
    base = worker("compose", rt, longest_s=rt.policy.compose.deadline_max_ms / 1000)

    async def run() -> None:
        warm()
        await door.replier.start()
        beside = (
            asyncio.create_task(see_models(rt.models), name="see models"),
            asyncio.create_task(authenticator.listen(), name="changes of keys"),
        )
        try:
            async with recorder:
                await base.run()
        finally:
            for task in beside:
                task.cancel()
            await door.replier.stop()

    async def ready() -> dict[str, bool]:
        return {**await base.ready(), COMPOSE_REQUEST.name: door.replier.ready, "serving": await rt.db.as_serving()}

    return replace(
        base,
        run=run,
        ready=ready,
        http=create_app(rt, recorder, authenticator, limiter),
        whole=partial(presence.load_problems, rt.db, rt.policy.delivery.silent_after_s),
    )


def warm() -> None:
    """Loads dictionaries and static vectors of both languages, so that the first request is not slower than others."""
    for question in ("我上周说喜欢喝什么茶？", "What did I say I prefer to drink last week?"):
        plan_search(question, (question,), clock.now(), PlanPolicy())
        read_statements(to_turn(IncomingMessage(content=question), "warm", clock.now()), ConfidencePolicy(), now=True)
        cues.read_cues(question, ("Anna", "李明"), clock.now())
    texts = ("我和李明去了杭州。", "Anna and I went to Melbourne in spring.")
    compare_nearness(*texts)
    for text in texts:
        cues.score_names(text, ())
        screen(text)
        show_own(text)


async def see_models(models: ModelProvider) -> None:
    """Logs which of the configured models are available, and loads early those that every package needs."""
    named = {"embedding": models.embedding_model_id, "chat": models.chat_model_id, "rerank": models.rerank_model_id}
    if not any(named.values()):
        return
    seen = await models.probe()
    missing = [each for each in seen.missing if named[each.partition(":")[0]]]
    if missing:
        logger().warning("models_missing", missing=missing, **named)
    else:
        logger().info("models_ready", **named)


class _Door:
    def __init__(self, rt: Runtime, recorder: Recorder, authenticator: Authenticator, limiter: Limiter) -> None:
        self._rt = rt
        self._recorder = recorder
        self._authenticator = authenticator
        self._limiter = limiter
        self._fuse = rt.bus.new_fuse()
        self.replier = Replier(
            rt.kafka,
            COMPOSE_REQUEST,
            COMPOSE_REQUEST.group_of("compose"),
            self.answer,
            partial(rt.bus.set_unreadable_aside, "compose"),
            stall_s=rt.policy.delivery.stall_s,
        )

    async def answer(self, request: Request) -> bytes:
        """Returns the package or the error for one request; never raises."""
        with COMPOSE_SECONDS.labels("kafka").time():
            reply = await self.answer_request(request)
        return reply.model_dump_json(by_alias=True, exclude_none=True).encode()

    async def answer_request(self, request: Request) -> BaseModel:
        request_id = request.correlation_id or clock.uuid7().hex
        try:
            requester = await self._authenticator.identify_sender(sent_record(request.record))
            with self._limiter.count_key(requester):
                return await self._compose(request, requester)
        except RefusedError as error:
            if is_at_door(error):
                await self._bury(request.record, error)
            return parsing.reply_of(error, request_id)
        except TransientError as error:
            logger().warning("request_failed", error=str(error))
            return ErrorReply(code="unavailable", message="a dependency is away; try again", request_id=request_id)
        except Exception as error:  # noqa: BLE001 # the asker must hear something
            logger().error("request_broke", **frames(error))
            return ErrorReply(code="internal", message="an internal error", request_id=request_id)

    async def _compose(self, request: Request, requester: Requester) -> BaseModel:
        question, ignored = read_record(requester, COMPOSE_REQUEST, ComposeRequest, request.value)
        self._limiter.count_user(requester, Subject(question.tenant_id, question.user_id))
        composition = await compose_context(question, self._rt, ignored=ignored)
        await self._recorder.note(composition)
        return composition.package

    async def commit_all(self, records: Sequence[Record]) -> None:
        """Handles every record: commits a turn, requests an erasure, or writes a dead letter.

        TransientError: all records are delivered again.
        """
        self._fuse.check()
        by_key: dict[bytes | None, list[Record]] = {}
        for record in records:
            by_key.setdefault(record.key, []).append(record)
        places = asyncio.Semaphore(self._rt.policy.delivery.handler_concurrency)
        await finish_all(self._commit_in_order(places, each) for each in by_key.values())

    async def _commit_in_order(self, places: asyncio.Semaphore, records: Sequence[Record]) -> None:
        async with places:
            for record in records:
                await self._commit(record)

    async def _commit(self, record: Record) -> None:
        request = request_of(record)
        wants_reply = any(name == "reply_to" for name, _ in record.headers)
        request_id = request.correlation_id or clock.uuid7().hex
        try:
            reply = await self._attempts(record, request.value)
            EVENTS_CONSUMED.labels("compose", record.topic).inc()
            self._fuse.note(1, dead=False)
        except RefusedError as error:
            if error.code != ERASED:
                await self._bury(record, error)
            reply = parsing.reply_of(error, request_id)
        except TransientError:
            raise
        except Exception as error:  # noqa: BLE001 # whatever one record brings about, the others must go on
            logger().error("commit_broke", topic=record.topic, offset=record.offset, **frames(error))
            await self._bury(record, error)
            self._fuse.note(1, dead=True)
            reply = ErrorReply(code="internal", message="an internal error", request_id=request_id)
        if wants_reply:
            self.replier.send_soon(request, reply.model_dump_json().encode())

    async def _bury(self, record: Record, error: Exception) -> None:
        refused = isinstance(error, RefusedError)
        if refused and is_at_door(error):
            REQUESTS_DENIED.labels(error.code).inc()
        reason = f"{error.code}: {error.message}" if refused else type(error).__name__
        await self._rt.bus.set_aside(record, reason)
        EVENTS_DEAD_LETTERED.labels("compose", record.topic).inc()

    async def _attempts(self, record: Record, body: bytes) -> BaseModel:
        try:
            return await self._do(record, body)
        except (RefusedError, TransientError):
            raise
        except Exception as error:  # noqa: BLE001 # once more and no oftener: others wait meanwhile
            EVENTS_FAILED.labels("compose", record.topic, type(error).__name__).inc()
            await asyncio.sleep((*self._rt.policy.delivery.retry_delays_ms, 0)[0] / 1000)
        return await self._do(record, body)

    async def _do(self, record: Record, body: bytes) -> BaseModel:
        requester = await self._authenticator.identify_sender(sent_record(record))
        if is_erasure(body):
            return await self._erase(body, record, requester)
        return await self._keep(body, record, requester)

    async def _keep(self, body: bytes, record: Record, requester: Requester) -> BaseModel:
        """Commits the turn with the time at which it was put on the topic; drops it if a later erasure covers it."""
        turn, ignored = read_turn(requester, body)
        key = turn.idempotency_key or make_key(find_first_position(record), body)
        keyed = turn.model_copy(update={"idempotency_key": key})
        await self._recorder.wait_until_recorded(Subject(turn.tenant_id, turn.user_id), turn.session_id)
        committed = await commit_turn(keyed, self._rt, transport="kafka", ignored=ignored, sent_at=_sent_at(record))
        return committed.result

    async def _erase(self, body: bytes, record: Record, requester: Requester) -> BaseModel:
        """Requests the erasure before the next record of the same user, which it does not cover, is read."""
        asked, _ = read_record(requester, TURN_COMMIT, ErasureRequest, body)
        key = asked.idempotency_key or make_key(find_first_position(record), body)
        keyed = asked.model_copy(update={"idempotency_key": key})
        return await erasures.request_erasure(self._rt, self._recorder, keyed, sent_at=_sent_at(record))


ERASED = "erased"
"""The error code of a record that was sent before an erasure. No dead-letter topic may keep it."""


def read_turn(requester: Requester, body: bytes) -> tuple[TurnEvents, tuple[str, ...]]:
    try:
        return read_record(requester, TURN_COMMIT, TurnEvents, body)
    except RefusedError as error:
        TURNS_REFUSED.labels(error.code).inc()
        raise


def sent_record(record: Record) -> SentRecord:
    return SentRecord(record.topic, record.key, record.value, dict(record.headers))


def is_at_door(error: RefusedError) -> bool:
    return error.code in AT_DOOR


def _sent_at(record: Record) -> datetime:
    """The producer's timestamp of the record; now, if that is not a valid time.

    A signed record is never younger than its signature, so that an erasure still covers a record that is sent again.
    """
    times = (record.timestamp, sent_record(record).signed_ms)
    sent_ms = min((each for each in times if each is not None and each >= 0), default=-1)
    try:
        return datetime.fromtimestamp(sent_ms / 1000, UTC) if sent_ms >= 0 else clock.now()
    except (ValueError, OverflowError, OSError):
        return clock.now()
