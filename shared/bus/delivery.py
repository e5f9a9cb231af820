"""Delivery around every handler: precedence, grouping by user, retries, isolation, dead letters, fuse.

A topic whose events overtake those of another would win little if the worker first finished everything that it had
fetched from the other. So events that go first have the process to themselves, but not for long.
"""

import asyncio
import random
from collections import Counter, deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import ValidationError
from structlog.contextvars import bound_contextvars
from tenacity import AsyncRetrying, RetryCallState, retry_if_not_exception_type, stop_after_attempt

from schemas.envelope import Envelope
from schemas.events import Payload
from schemas.topics import PAYLOADS, Topic
from shared.domain.signatures import COVERED, FIRST, SIGNATURE
from shared.domain.subjects import Subject
from shared.errors import PoisonError, TransientError
from shared.metrics.delivery import EVENTS_CONSUMED, EVENTS_DEAD_LETTERED, EVENTS_FAILED, HANDLER_SECONDS
from shared.policy import DeliveryPolicy
from shared.telemetry import frames, logger

P = TypeVar("P", bound=Payload)


class Precedence:
    """While events that go first are at work, and for `moment_s` after, all others go on by one step a moment.

    The moment after is for what follows from them in other processes, and because who has just spoken is likely to
    speak again. The step a moment keeps others from standing still, however many go first one after the other.
    """

    def __init__(self, moment_s: float, clock: Callable[[], float]) -> None:
        self._moment_s = moment_s
        self._clock = clock
        self._first = 0
        self._first_until = float("-inf")
        self._stepped_at = float("-inf")
        self._stepping = asyncio.Lock()

    @contextmanager
    def go_first(self) -> Generator[None]:
        """Inside, what goes first is at work."""
        self.note_first()
        self._first += 1
        try:
            yield
        finally:
            self._first -= 1
            self.note_first()

    def note_first(self) -> None:
        """What goes first is at work here or elsewhere now."""
        now = self._clock()
        if not self._first and now >= self._first_until:
            self._stepped_at = now + self._moment_s
        self._first_until = now + self._moment_s

    async def wait(self) -> None:
        """It is the caller's turn for a step."""
        while (rest_s := self._rest_s()) > 0:  # noqa: ASYNC110 # time ends it too
            await asyncio.sleep(rest_s)
        self._stepped_at = self._clock()

    @asynccontextmanager
    async def take_step(self) -> AsyncGenerator[None]:
        """Inside, it is the caller's turn for a step, and nobody else's."""
        async with self._stepping:
            await self.wait()
            yield

    def _rest_s(self) -> float:
        now = self._clock()
        since_step = self._stepped_at + self._moment_s - now
        return since_step if self._first else min(since_step, self._first_until - now)


_BEHIND: ContextVar[Precedence | None] = ContextVar("behind", default=None)


@contextmanager
def stay_behind(precedence: Precedence | None) -> Generator[None]:
    """Inside, work gives way to what goes first; without a precedence it does not."""
    before = _BEHIND.set(precedence)
    try:
        yield
    finally:
        _BEHIND.reset(before)


async def give_way() -> None:
    """Before work of some length: what goes first has gone, or has had its moment."""
    if precedence := _BEHIND.get():
        await precedence.wait()


@asynccontextmanager
async def step() -> AsyncGenerator[None]:
    """Inside, a step of work that fills the processor: one at a time, so that what goes first waits for one at most."""
    if precedence := _BEHIND.get():
        async with precedence.take_step():
            yield
    else:
        yield


class Record(Protocol):
    """The attributes of a Kafka record that are used; aiokafka's has them."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes]]


@dataclass(frozen=True)
class Delivered:
    """One received event."""

    envelope: Envelope
    payload: Payload
    record: Record

    @property
    def subject(self) -> Subject:
        """The owner of the event."""
        return Subject(self.envelope.tenant_id, self.envelope.user_id)

    def read(self, kind: type[P]) -> P:
        """The payload, where the topic carries nothing else."""
        assert isinstance(self.payload, kind)  # noqa: S101
        return self.payload


Handle = Callable[[Subject, Sequence[Delivered]], Awaitable[None]]
GiveUp = Callable[[Subject, Delivered, str], Awaitable[None]]
SetAside = Callable[[Record, str], Awaitable[None]]


def parse(record: Record) -> Delivered:
    """The event in a record; PoisonError names a permanent fault."""
    try:
        envelope = Envelope.model_validate_json(record.value or b"")
        model = PAYLOADS.get(envelope.event_type)
        if model is None:
            raise PoisonError(f"event_type: unknown {envelope.event_type!r}")
        return Delivered(envelope, model.model_validate(envelope.payload), record)
    except ValidationError as error:
        raise PoisonError(describe(error)) from error


def describe(error: ValidationError) -> str:
    """The invalid fields and their faults, without their values."""
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'body'}: {e['msg']}" for e in error.errors()[:5])


@dataclass(frozen=True)
class Delivery:
    """Handles one fetched batch; raises TransientError if all of it must be redelivered."""

    service: str
    topic: Topic
    handle: Handle
    give_up: GiveUp
    set_aside: SetAside
    policy: DeliveryPolicy
    fuse: "Fuse"
    behind: Precedence | None = None
    """The precedence that its groups respect if events on a fast topic overtake them."""

    async def accept(self, records: Sequence[Record]) -> None:
        """Handles or sets aside every record; one user's events in order, users concurrently.

        Tenants alternate, so that a tenant's only user does not wait for all users of another.
        """
        self.fuse.check()
        groups: dict[Subject, list[Delivered]] = {}
        for record in records:
            try:
                delivered = parse(record)
            except PoisonError as error:
                await self._bury(record, str(error))
            else:
                groups.setdefault(delivered.subject, []).append(delivered)
        places = asyncio.Semaphore(self.policy.handler_concurrency)
        await finish_all(self._in_turn(places, subject, groups[subject]) for subject in alternate_tenants(groups))

    async def _in_turn(self, places: asyncio.Semaphore, subject: Subject, group: list[Delivered]) -> None:
        async with places:
            told = {"tenant_id": subject.tenant_id, "trace_id": group[0].envelope.trace_id}
            with bound_contextvars(service=self.service, **told), stay_behind(self.behind):
                await give_way()
                await self._group(subject, group)

    async def _group(self, subject: Subject, group: list[Delivered]) -> None:
        try:
            with HANDLER_SECONDS.labels(self.service, self.topic.name).time():
                await self._attempts(subject, group)
        except TransientError:
            raise
        except Exception as error:  # noqa: BLE001 # the partition must continue whatever a handler raises
            if len(group) > 1:
                for each in group:
                    await self._group(subject, [each])
            else:
                await self._lose(subject, group[0], error)
        else:
            EVENTS_CONSUMED.labels(self.service, self.topic.name).inc(len(group))
            self.fuse.note(len(group), dead=False)

    async def _attempts(self, subject: Subject, group: list[Delivered]) -> None:
        retrying = AsyncRetrying(
            wait=self._wait,
            stop=stop_after_attempt(len(self.policy.retry_delays_ms) + 1),
            retry=retry_if_not_exception_type((PoisonError, asyncio.CancelledError)),
            before_sleep=self.note_failure,
            reraise=True,
        )
        await retrying(self.handle, subject, group)

    def _wait(self, state: RetryCallState) -> float:
        delays = self.policy.retry_delays_ms
        delay = delays[min(state.attempt_number, len(delays)) - 1] / 1000
        return delay * (1 + random.uniform(-1, 1) * self.policy.retry_jitter)  # noqa: S311 # jitter

    def note_failure(self, state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        kind = type(error).__name__
        EVENTS_FAILED.labels(self.service, self.topic.name, kind).inc()
        logger().warning("handler_failed", topic=self.topic.name, error=kind, attempt=state.attempt_number)

    async def _lose(self, subject: Subject, delivered: Delivered, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}" if isinstance(error, PoisonError) else type(error).__name__
        logger().error(
            "event_given_up", topic=self.topic.name, event_id=str(delivered.envelope.event_id), **frames(error)
        )
        await self.give_up(subject, delivered, reason)
        await self._bury(delivered.record, reason)

    async def _bury(self, record: Record, reason: str) -> None:
        await self.set_aside(record, reason)
        EVENTS_DEAD_LETTERED.labels(self.service, self.topic.name).inc()
        logger().error("event_dead_lettered", topic=record.topic, partition=record.partition, offset=record.offset)
        self.fuse.note(1, dead=True)


def alternate_tenants(subjects: Iterable[Subject]) -> list[Subject]:
    """The first user of every tenant, then the second of each, and so on; within a tenant in the given order."""
    seen = Counter[str]()
    place: dict[Subject, int] = {}
    for subject in subjects:
        place[subject] = seen[subject.tenant_id]
        seen[subject.tenant_id] += 1
    return sorted(place, key=place.__getitem__)


class Fuse:
    """Opens when too large a share of recent events were dead letters, which suggests a fault of the system."""

    def __init__(self, policy: DeliveryPolicy, clock: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._latest: deque[bool] = deque(maxlen=policy.fuse_window)
        self._blown_at: float | None = None

    def note(self, events: int, *, dead: bool) -> None:
        """Counts handled events, or those given up."""
        self._latest.extend([dead] * min(events, self._policy.fuse_window))
        enough = len(self._latest) >= self._policy.fuse_window // 5
        if dead and enough and sum(self._latest) / len(self._latest) > self._policy.fuse_share:
            self._blown_at = self._clock()
            self._latest.clear()

    @property
    def blown(self) -> bool:
        """Whether events must wait now."""
        return self._blown_at is not None and self._clock() - self._blown_at < self._policy.fuse_cooldown_s

    def check(self) -> None:
        """Raises TransientError while the fuse is open."""
        if self.blown:
            raise TransientError("fuse open: too many dead letters")


async def finish_all(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Runs all of the work to its end, then raises the most severe of its errors, if any."""
    errors = [e for e in await asyncio.gather(*work, return_exceptions=True) if e is not None]
    if errors:
        raise next((e for e in errors if not isinstance(e, TransientError)), errors[0])


def headers_of(record: Record, reason: str) -> dict[str, str]:
    """The headers of a dead letter: origin, time, reason, and original signature."""
    place = f"{record.topic}/{record.partition}/{record.offset}"
    told = {"x-error": reason[:500], "x-origin": place, "x-sent-at": str(record.timestamp)}
    had = {name: value.decode(errors="replace") for name, value in record.headers if value}
    kept = (SIGNATURE, *COVERED) if SIGNATURE in had else (FIRST,)
    return {**told, **{name: had[name] for name in kept if name in had}}
