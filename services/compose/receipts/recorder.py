"""What packages carried and why, recorded after they were answered: no reply waits for it or fails with it."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import orjson

from schemas.context_package import ContextPackage
from schemas.events import DecisionEvent
from schemas.topics import RECEIPT_RECORDED
from schemas.turn_events import Redaction
from services.compose.context.composition import Composition, Retrieved
from services.compose.intake.redact import clean_json
from services.compose.rules.packing import receipts
from services.compose.rules.packing.spoken import UNSUPPORTED
from shared.db import Database
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.language.fingerprint import prints
from shared.metrics.packages import INJECTIONS_DROPPED
from shared.policy import Policy
from shared.secrets import placeholder, redact
from shared.store import contexts, outbox
from shared.telemetry import frames, logger

STANDING = frozenset({UNSUPPORTED})
"""Reasons that say how an installation or a session is, not that a part failed."""
BATCH = 32
WRITE_S = 5.0
"""The longest that one writing may take, and the stop may wait for the last."""
PLACE_S = 1.0
"""The longest that a reply waits for a place where too many packages wait to be written."""
GATHER_S = 0.4
"""So long packages are gathered before any is written, unless somebody waits for one: few replies meet the work."""
SETTLE_S = 2.0
"""The longest that a turn waits for the packages before it to be recorded."""
PAUSES_S = (0.2, 1.0, 3.0)
"""Between attempts while the database is away; what comes meanwhile waits."""

Waiting = tuple[Composition | Retrieved, float]
"""A package or a plan and when it was answered."""
Row = dict[str, Any]
NO_SESSION = ""
"""In which a plan stands that was given."""


def to_row(made: Composition, policy: Policy, version: str) -> Row:
    """The row of `record_contexts` for a package, but for its age."""
    package, asked = made.package, made.asked
    prints_of, pieces = _fingerprints(package)
    injection = _injection(made, version)
    observability = policy.observability
    secrets = _secrets(package.user_message.content)
    # the plan holds the message's words in other shapes, so that no secret of it could be found there for sure
    plan = _plan(made) if observability.store_plans and not secrets else None
    body = blank_secrets(_body(package), secrets) if observability.store_contexts else None
    return {
        "tenant_id": asked.tenant_id,
        "user_id": asked.user_id,
        "epoch": made.epoch,
        "context_id": package.context_id,
        "session_id": asked.session_id,
        "request_id": package.request_id,
        "core_ids": _core(package),
        "evidence_ids": _evidence(package),
        "degraded": not STANDING.issuperset(package.degraded_reason),
        "policy_version": version,
        "fingerprints": prints_of,
        "pieces": pieces,
        "schema_version": receipts.SCHEMA_VERSION,
        "retrieval": _retrieval(made),
        "injection": injection,
        "plan": plan and orjson.Fragment(plan),
        "package": body and orjson.Fragment(body),
        "event": _event(made, injection, version),
    }


def kept_plan(made: Retrieved, policy: Policy) -> Row | None:
    """The row of `record_contexts` for a plan that was given, but for its age; None where policy keeps none.

    Nor is one kept that holds a secret, as of packages.
    """
    asked = made.asked
    if not policy.observability.store_plans:
        return None
    plan = asked.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"tenant_id", "user_id"})
    found: list[Redaction] = []
    clean_json(plan, "plan", found)
    if found:
        return None
    whose = {"tenant_id": asked.tenant_id, "user_id": asked.user_id, "session_id": NO_SESSION}
    return {**whose, "epoch": made.epoch, "context_id": made.pack.plan_id, "plan": plan}


def _core(package: ContextPackage) -> list[str]:
    ids = (block.source.memory_item_id for block in package.system_blocks)
    return list(dict.fromkeys(each for each in ids if each))


def _evidence(package: ContextPackage) -> list[str]:
    """The memories among the evidence, the best first."""
    ranked = sorted(package.evidence, key=lambda each: -each.score)
    ids = (each.ref.memory_item_id for each in ranked if each.source == "memory")
    return list(dict.fromkeys(each for each in ids if each))


def _fingerprints(package: ContextPackage) -> tuple[list[int], list[int]]:
    """The sentences that the package shows, each with the number of the piece that it stands in first."""
    texts = [block.text for block in package.system_blocks if block.type != "policies"]
    texts += [*package.working_summary.splitlines(), *(each.content for each in package.recent_turns)]
    texts += [text for each in package.evidence for text in (each.snippet, each.title)]
    found: dict[int, int] = {}
    for piece, text in enumerate(texts):
        for each in prints(text):
            found.setdefault(each.hash, piece)
    return list(found), list(found.values())


def _retrieval(made: Composition) -> Row:
    planned, found, kinds = made.thought.planned, made.found, {c.kind for c in made.found.candidates}
    return {
        "candidates": receipts.candidates(made.fused),
        "candidates_count": made.fused.candidates,
        "selected_count": len(made.package.evidence),
        "latency_ms": round(made.took_ms, 3),
        "modes": sorted({query.mode for query in planned.plan.queries}),
        "stores_used": receipts.stores_used(sorted(kinds)),
        "ignored_fields": list(found.ignored),
        "degraded_reason": list(found.degraded),
        "experiment": _experiment(made),
        "intent": planned.intent,
        "planner": made.thought.planner,
        "reranked": found.reranked,
        "ranking": receipts.describe_ranking(made.policy),
        "arms": [{"arm": a.name, "status": a.status, "count": a.count, "ms": round(a.took_ms, 2)} for a in found.arms],
    }


def _injection(made: Composition, version: str) -> Row:
    package, stale = made.package, {key: made.found.overlay.cause(key) for key in made.found.stale}
    return {
        "decisions": receipts.decisions(made.fused, made.packed, stale, version),
        "threshold": made.policy.least_score,
        "budget_allocation": made.packed.allocation.as_json(),
        "token_budget": package.constraints.token_budget.model_dump(),
        "budget_exceeded": made.packed.budget_exceeded,
        "degraded_reason": list(package.degraded_reason),
        "policy_version": version,
    }


def _experiment(made: Composition) -> Row | None:
    context = made.asked.experiment_context
    return {"experiment_id": str(context.experiment_id), "variant": context.variant} if context else None


def _plan(made: Composition) -> bytes:
    return made.thought.planned.plan.model_dump_json(exclude_none=True).encode()


def _body(package: ContextPackage) -> bytes:
    """The package as it was answered, without its explanation."""
    return package.model_dump_json(by_alias=True, exclude_none=True, exclude={"debug"}).encode()


def _secrets(message: str) -> dict[str, str]:
    """The credentials in what is being asked, each with what stands for it in what is kept."""
    _, hits = redact(message, pii=False)
    return {message[hit.start : hit.end]: placeholder(hit.kind) for hit in hits}


def blank_secrets(body: bytes, secrets: Mapping[str, str]) -> bytes:
    for secret in sorted(secrets, key=len, reverse=True):
        body = body.replace(orjson.dumps(secret)[1:-1], orjson.dumps(secrets[secret])[1:-1])
    return body


def _event(made: Composition, injection: Row, version: str) -> Row:
    package, experiment = made.package, made.asked.experiment_context
    payload = DecisionEvent(
        context_id=UUID(package.context_id),
        request_id=package.request_id or package.context_id,
        counts=receipts.counts(injection["decisions"]),
        latency_ms=round(made.took_ms, 3),
        budget_exceeded=made.packed.budget_exceeded,
        experiment=f"{experiment.experiment_id}:{experiment.variant}" if experiment else None,
    )
    subject, trace = _session(made)[0], package.request_id or package.context_id
    told = {"trace_id": trace, "policy_version": version, "session_id": made.asked.session_id}
    return outbox.as_row(RECEIPT_RECORDED, outbox.event(payload, subject, package.context_id, **told), key=trace)


class Recorder:
    """A bounded queue in front of the tables; `async with` writes it until the end, and what is left at the end.

    Who composes faster than the tables take it waits for a place: nothing is lost but what a kill takes with it.
    """

    def __init__(self, db: Database, policy: Policy, policy_version: str) -> None:
        self._db = db
        self._waiting: asyncio.Queue[Waiting] = asyncio.Queue(policy.feedback.injections_waiting_max)
        self._policy = policy
        self._version = policy_version
        self._writer: asyncio.Task[None] | None = None
        self._batch: list[tuple[Row, float]] = []
        self._open: Counter[tuple[Subject, str]] = Counter()
        self._wrote = asyncio.Event()
        self._wanted = asyncio.Event()
        self._first: list[Waiting] = []

    async def note(self, made: Composition | Retrieved) -> None:
        """It will be recorded: at once but where too many wait; counted as dropped where nothing is written."""
        self._open[_session(made)] += 1
        if self._waiting.full():
            self._wanted.set()
        try:
            async with asyncio.timeout(PLACE_S):
                await self._waiting.put((made, time.monotonic()))
        except TimeoutError:
            INJECTIONS_DROPPED.labels("waiting").inc()
            self._close(_session(made))

    @property
    def open(self) -> int:
        """How many packages were answered and are neither recorded nor given up."""
        return self._open.total()

    async def wait_until_recorded(self, subject: Subject, session_id: str | None = None) -> None:
        """What this session, or any of the user, was told is recorded: whoever reads it or answers it finds it.

        Waits no longer than that usually takes.
        """
        if not self._waits(subject, session_id):
            return
        self._wanted.set()
        try:
            async with asyncio.timeout(SETTLE_S):
                while self._waits(subject, session_id):
                    self._wanted.set()
                    self._wrote.clear()
                    await self._wrote.wait()
        except TimeoutError:
            logger().warning("contexts_not_settled", waiting=self._waiting.qsize())

    def _waits(self, subject: Subject, session_id: str | None) -> bool:
        if session_id is not None:
            return (subject, session_id) in self._open
        return any(each == subject for each, _ in self._open)

    async def __aenter__(self) -> Self:
        self._writer = asyncio.create_task(self._write_forever(), name="contexts")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        try:
            async with asyncio.timeout(WRITE_S):
                while await self._fill():
                    await self._write(self._batch)
                    self.note_done()
        except (TransientError, TimeoutError):
            INJECTIONS_DROPPED.labels("stopped").inc(len(self._batch) + self._waiting.qsize())

    async def _write_forever(self) -> None:
        while True:
            if not self._batch:
                self._first.append(await self._waiting.get())
                await self._gather()
            await self._fill()
            await self.write_batch()

    async def _gather(self) -> None:
        await asyncio.sleep(0)
        if self._waiting.full():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(GATHER_S):
                await self._wanted.wait()
        self._wanted.clear()

    async def _fill(self) -> bool:
        """Whether there is anything to write now; between two packages whoever waits for the loop has it."""
        while self._first:
            self._take(self._first.pop())
        while len(self._batch) < BATCH and not self._waiting.empty():
            await asyncio.sleep(0)
            self._take(self._waiting.get_nowait())
        return bool(self._batch)

    def _take(self, waiting: Waiting) -> None:
        made, at = waiting
        try:
            row = (
                kept_plan(made, self._policy)
                if isinstance(made, Retrieved)
                else to_row(made, self._policy, self._version)
            )
        except Exception as error:  # noqa: BLE001 # the other packages must be recorded
            self.note_refused(1, error)
            self._close(_session(made))
            return
        if row is None:
            self._close(_session(made))
        else:
            self._batch.append((row, at))

    async def write_batch(self) -> None:
        """The batch stands in the tables, or has been dropped because they refuse it; waits out an absence."""
        tries = 0
        while self._batch:
            try:
                async with asyncio.timeout(WRITE_S):
                    await self._write(self._batch)
                self.note_done()
            except (TransientError, TimeoutError) as error:
                pause = PAUSES_S[min(tries, len(PAUSES_S) - 1)]
                logger().warning("injections_wait", error=type(error).__name__, waiting=self._waiting.qsize())
                tries += 1
                await asyncio.sleep(pause)

    def note_done(self) -> None:
        for row, _ in self._batch:
            self._close((Subject(row["tenant_id"], row["user_id"]), row["session_id"]))
        self._batch = []

    def _close(self, session: tuple[Subject, str]) -> None:
        self._open[session] -= 1
        if self._open[session] <= 0:
            del self._open[session]
        self._wrote.set()

    async def _write(self, batch: list[tuple[Row, float]]) -> None:
        """Recorded, but for those that the database refuses; a refusal of one does not take the others with it.

        Where they are written one by one, each leaves the batch when it is done: who stops here writes the rest alone.
        """
        now = time.monotonic()
        rows: list[Mapping[str, Any]] = [{**row, "age_s": now - at} for row, at in batch]
        try:
            async with self._db.single() as conn:
                await contexts.record(conn, rows)
        except TransientError:
            raise
        except Exception as error:  # noqa: BLE001 # whatever the database says, the next package must go on
            if len(batch) == 1:
                self.note_refused(1, error)
                return
            while batch:
                await self._write(batch[:1])
                row, _ = batch.pop(0)
                self._close((Subject(row["tenant_id"], row["user_id"]), row["session_id"]))

    @staticmethod
    def note_refused(count: int, error: Exception) -> None:
        INJECTIONS_DROPPED.labels("refused").inc(count)
        logger().error("injections_refused", count=count, **frames(error))


def _session(made: Composition | Retrieved) -> tuple[Subject, str]:
    session_id = NO_SESSION if isinstance(made, Retrieved) else made.asked.session_id
    return Subject(made.asked.tenant_id, made.asked.user_id), session_id
