"""Delivery around every handler: grouping, retries, isolation, dead letters, the fuse."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import orjson
import pytest

from schemas.envelope import Envelope
from schemas.topics import TURN_COMMITTED
from shared.bus import delivery as under_test
from shared.bus.delivery import Delivered, Delivery, Fuse, Record, headers_of, parse
from shared.clock import uuid7
from shared.domain.subjects import Subject
from shared.errors import PoisonError, TransientError
from shared.policy import DeliveryPolicy
from tests.system.kafka import Stored

POLICY = DeliveryPolicy(retry_delays_ms=(0, 0), retry_jitter=0, fuse_window=20, fuse_cooldown_s=30)


def record(user: str = "u", seq: int = 1, offset: int = 0, tenant: str = "t") -> Stored:
    """A turn.committed event of this user."""
    envelope = Envelope(
        event_id=uuid7(),
        event_type="turn.committed",
        idempotency_key="k",
        trace_id="trace",
        tenant_id=tenant,
        user_id=user,
        occurred_at=datetime(2026, 1, 1, tzinfo=UTC),
        policy_version="p",
        payload={"turn_id": str(uuid7()), "seq": seq},
    )
    value = envelope.model_dump_json().encode()
    return Stored(TURN_COMMITTED.name, offset=offset, key=envelope.key.encode(), value=value)


def seqs(events: Sequence[Delivered]) -> list[int]:
    """The numbers of the turns."""
    return [event.envelope.payload["seq"] for event in events]


@dataclass
class World:
    """A handler with scripted failures that records its calls and those for failed events."""

    faults: dict[int, list[Exception]] = field(default_factory=dict)
    handled: list[tuple[str, list[int]]] = field(default_factory=list)
    attempts: list[list[int]] = field(default_factory=list)
    given_up: list[tuple[int, str]] = field(default_factory=list)
    buried: list[tuple[int, str]] = field(default_factory=list)
    dead_letters_work: bool = True
    now: float = 0.0
    policy: DeliveryPolicy = POLICY

    def __post_init__(self) -> None:
        self.fuse = Fuse(self.policy, lambda: self.now)
        self.delivery = Delivery(
            "observer", TURN_COMMITTED, self.handle, self.give_up, self.set_aside, self.policy, self.fuse
        )

    async def handle(self, subject: Subject, events: Sequence[Delivered]) -> None:
        """Raises the next scripted error of the first event that has one."""
        self.attempts.append(seqs(events))
        for seq in seqs(events):
            if self.faults.get(seq):
                raise self.faults[seq].pop(0) if len(self.faults[seq]) > 1 else self.faults[seq][0]
        self.handled.append((subject.user_id, seqs(events)))

    async def give_up(self, subject: Subject, event: Delivered, reason: str) -> None:
        """Records it."""
        self.given_up.append((event.envelope.payload["seq"], reason))

    async def set_aside(self, record: Record, reason: str) -> None:
        """Records it."""
        if not self.dead_letters_work:
            raise TransientError("no dead-letter topic")
        self.buried.append((record.offset, reason))


async def test_events_of_one_user_are_grouped_in_order() -> None:
    world = World()
    await world.delivery.accept([record("a", 1), record("b", 1), record("a", 2), record("b", 2), record("a", 3)])
    assert sorted(world.handled) == [("a", [1, 2, 3]), ("b", [1, 2])]


async def test_a_tenants_only_user_does_not_wait_for_all_users_of_another() -> None:
    world = World(policy=POLICY.model_copy(update={"handler_concurrency": 1}))
    flood = [record(f"f{n}", n, tenant="flood") for n in range(6)]
    await world.delivery.accept([*flood, record("q", 1, tenant="quiet"), record("q", 2, tenant="quiet")])
    assert world.handled[:3] == [("f0", [0]), ("q", [1, 2]), ("f1", [1])]
    assert [user for user, _ in world.handled[3:]] == ["f2", "f3", "f4", "f5"]


async def test_concurrent_users_are_limited_by_policy() -> None:
    world = World(policy=POLICY.model_copy(update={"handler_concurrency": 3}))
    running, most = 0, 0

    async def handle(subject: Subject, events: Sequence[Delivered]) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1

    world.handle = handle  # type: ignore[method-assign]
    world.__post_init__()
    await world.delivery.accept([record(f"u{n}") for n in range(20)])
    assert most == 3


async def test_a_transient_error_is_retried_until_it_passes() -> None:
    world = World(faults={1: [TransientError("away"), TransientError("away")]})
    world.faults[1].append(TransientError("once more than there are retries"))
    tries = iter(world.faults[1][:2])

    async def handle(subject: Subject, events: Sequence[Delivered]) -> None:
        error = next(tries, None)
        if error:
            raise error
        world.handled.append((subject.user_id, seqs(events)))

    world.handle = handle  # type: ignore[method-assign]
    world.__post_init__()
    await world.delivery.accept([record()])
    assert world.handled == [("u", [1])]


async def test_a_lasting_transient_error_returns_the_batch_and_loses_no_event() -> None:
    world = World(faults={1: [TransientError("away")]})
    with pytest.raises(TransientError):
        await world.delivery.accept([record("a", 1), record("b", 2)])
    assert world.attempts.count([1]) == 1 + len(POLICY.retry_delays_ms)
    assert world.handled == [("b", [2])]
    assert (world.given_up, world.buried) == ([], [])


async def test_one_bad_event_is_isolated_from_its_neighbours() -> None:
    world = World(faults={2: [ZeroDivisionError("private words")]})
    await world.delivery.accept([record(seq=n, offset=n) for n in (1, 2, 3)])
    assert world.handled == [("u", [1]), ("u", [3])]
    assert world.given_up == [(2, "ZeroDivisionError")]
    assert world.buried == [(2, "ZeroDivisionError")]


async def test_poison_is_not_retried_and_its_reason_is_recorded() -> None:
    world = World(faults={1: [PoisonError("seq: too odd")]})
    await world.delivery.accept([record()])
    assert world.attempts == [[1]]
    assert world.buried == [(0, "PoisonError: seq: too odd")]


async def test_an_event_that_cannot_be_set_aside_is_redelivered() -> None:
    world = World(faults={1: [PoisonError("odd")]}, dead_letters_work=False)
    with pytest.raises(TransientError):
        await world.delivery.accept([record()])


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "JSON"),
        (b"", "JSON"),
        (b"{", "JSON"),
        (b"[]", "body"),
        (b"\xff", "JSON"),
        (b"{}", "event_id"),
        (record().value.replace(b'"turn.committed"', b'"turn.dreamt"'), "event_type: unknown"),  # type: ignore[union-attr]
        (record().value.replace(b'"seq":1', b'"seq":"private words"'), "seq"),  # type: ignore[union-attr]
        (record("x" * 128).value.replace(b"x" * 128, b"x" * 129), "user_id"),  # type: ignore[union-attr]
    ],
)
async def test_an_invalid_event_is_a_dead_letter_that_names_the_field(value: bytes | None, says: str) -> None:
    bad = Stored(TURN_COMMITTED.name, value=value, offset=7)
    with pytest.raises(PoisonError) as caught:
        parse(bad)
    assert says in str(caught.value)
    assert "private words" not in str(caught.value)
    world = World()
    await world.delivery.accept([bad, record(seq=2)])
    assert world.handled == [("u", [2])]
    assert [offset for offset, _ in world.buried] == [7]


def test_an_event_of_a_later_version_with_more_fields_is_read() -> None:
    raw = orjson.loads(record().value or b"")
    raw["payload"]["mood"] = "fine"
    assert parse(Stored(TURN_COMMITTED.name, value=orjson.dumps({**raw, "colour": "red"}))).subject == ("t", "u")


@pytest.mark.parametrize(("attempt", "least", "most"), [(1, 80, 120), (2, 400, 600), (3, 1600, 2400), (9, 1600, 2400)])
def test_delays_grow_with_jitter(attempt: int, least: float, most: float) -> None:
    world = World(policy=DeliveryPolicy())
    state = type("State", (), {"attempt_number": attempt})()
    waits = [world.delivery._wait(state) * 1000 for _ in range(200)]  # pyright: ignore[reportArgumentType] # only these attributes are read
    assert least <= min(waits) < max(waits) <= most


def test_the_fuse_opens_at_too_high_a_share_and_closes_with_time() -> None:
    world = World()
    world.fuse.note(10, dead=False)
    for _ in range(10):
        world.fuse.note(1, dead=True)
    assert not world.fuse.blown, "half is not yet too much"
    world.fuse.note(1, dead=True)
    assert world.fuse.blown
    with pytest.raises(TransientError):
        world.fuse.check()
    world.now = 30.0
    assert not world.fuse.blown
    world.fuse.check()


@pytest.mark.parametrize(("good", "bad", "blown"), [(0, 3, False), (0, 4, True), (100, 10, False), (100, 11, True)])
def test_the_fuse_needs_a_minimum_of_recent_events(good: int, bad: int, blown: bool) -> None:
    world = World()
    world.fuse.note(good, dead=False)
    for _ in range(bad):
        world.fuse.note(1, dead=True)
    assert world.fuse.blown is blown


async def test_nothing_is_handled_while_the_fuse_is_open() -> None:
    world = World()
    world.fuse.note(0, dead=False)
    for _ in range(20):
        world.fuse.note(1, dead=True)
    with pytest.raises(TransientError):
        await world.delivery.accept([record()])
    assert (world.attempts, world.buried) == ([], [])


async def test_every_group_finishes_before_an_error_is_raised() -> None:
    done: list[int] = []

    async def work(n: int) -> None:
        await asyncio.sleep(0)
        done.append(n)
        if n == 1:
            raise TransientError("one")
        if n == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await under_test.finish_all(work(n) for n in range(4))
    assert done == [0, 1, 2, 3]


def test_a_dead_letter_records_its_origin_and_reason() -> None:
    found = headers_of(Stored("topic", partition=3, offset=9), "x" * 1000)
    assert found == {"x-error": "x" * 500, "x-origin": "topic/3/9", "x-sent-at": "0"}


def test_a_dead_letter_of_a_redriven_record_has_its_first_origin() -> None:
    again = Stored("topic", partition=3, offset=9, headers=[("x-first", b"1/2/3"), ("other", b"x")])
    assert headers_of(again, "why")["x-first"] == "1/2/3"
