"""Outbox to Kafka: the rows of the shards that this relay owns, in order, deleted once the broker has them."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson

from schemas.topics import AHEAD
from services.relay.publisher import INBOUND, Publisher
from services.relay.rules import choose_ahead, share_room
from shared import clock
from shared.bus.dead_letters import find_letter
from shared.bus.topics import ensure_topics
from shared.db import CHANNEL, Connection, Database
from shared.errors import TransientError
from shared.metrics.outbox import OUTBOX_AGE, OUTBOX_FAILED, OUTBOX_ROWS, RELAY_PUBLISHED, TURNS_HELD
from shared.policy import DeliveryPolicy
from shared.runtime import Runtime
from shared.store import api_keys, outbox, topics_made, turns
from shared.store.outbox import LETTER, SHARDS, OutboxRow
from shared.telemetry import Loops, logger

STALE = timedelta(seconds=6)
"""A relay not seen for so long is gone; its shards are free with its connection."""

BALANCE_EVERY_S = 2.0
REST_S = 0.003
LEAST_POLL_S = 0.01
LOOP = "outbox"
FINISH_S = 10.0
"""A stop waits so long for the batch that is on its way: what the broker has would go out again."""


class Shards:
    """The share of the key space that this relay owns, by session-level advisory locks on one connection."""

    def __init__(self, member: UUID) -> None:
        self.member = member
        self.owned: set[int] = set()

    async def balance(self, conn: Connection) -> None:
        """Takes free shards up to a fair share and gives up what exceeds it."""
        fair = math.ceil(SHARDS / await outbox.relays_alive(conn, self.member, STALE))
        for shard in sorted(self.owned)[fair:]:
            await outbox.release_shard(conn, shard)
            self.owned.discard(shard)
        for shard in range(SHARDS):
            if len(self.owned) >= fair:
                break
            if shard not in self.owned and await outbox.own_shard(conn, shard):
                self.owned.add(shard)


@dataclass(frozen=True)
class Moved:
    """How many rows left the outbox, for how many turns that were held back there may be room since, and whether turns
    wait.
    """

    rows: int = 0
    freed: int = 0
    held: bool = False


class AheadNotice:
    """Tells the workers that events go past others; what it told half a moment ago it does not tell again."""

    def __init__(self, db: Database, moment_s: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._moment_s = moment_s
        self._monotonic = monotonic
        self._told_at = float("-inf")

    async def tell(self) -> None:
        """The workers rest for at least half a moment from now."""
        if (now := self._monotonic()) >= self._told_at + self._moment_s / 2:
            await turns.tell_ahead(self._db)
            self._told_at = now


async def relay_once(
    conn: Connection, publisher: Publisher, shards: Sequence[int], policy: DeliveryPolicy, notice: AheadNotice
) -> Moved:
    """What left the outbox: published and deleted in one transaction. TransientError: nothing is deleted.

    Turns leave as the policy gives their tenants room; everything else leaves at once. What goes past others is told to
    the workers first.
    """
    async with conn.transaction():
        lately, most = timedelta(seconds=policy.tenant_about_s), timedelta(seconds=policy.turn_under_way_s)
        moment = timedelta(seconds=policy.others_first_s)
        flooding, many = policy.turns_beside_others + 1, policy.ahead_of_turns + 1
        queues = await turns.load_queues(conn, flooding, many, lately=lately, most=most, moment=moment)
        ahead = choose_ahead(queues, policy)
        rows = await outbox.take(conn, shards, policy.relay_batch, share_room(queues, policy), ahead)
        if not rows:
            return Moved(held=bool(queues.waiting))
        if any(row.ahead for row in rows):
            await notice.tell()
        house_hash = await api_keys.find_house_hash(conn) if any(row.topic in INBOUND for row in rows) else None
        outcomes = await _send_all(publisher, rows, house_hash)
        sent = [row for row, error in zip(rows, outcomes, strict=True) if error is None]
        going_past = [row.position for row in sent if row.ahead]
        freed = await outbox.delete(conn, [row.position for row in sent], going_past)
        for row, error in zip(rows, outcomes, strict=True):
            if error is not None:
                await outbox.note_refused(conn, [row.position], type(error).__name__, policy.outbox_max_retries)
                logger().error("event_refused_by_broker", event_id=str(row.event_id), error=type(error).__name__)
    for topic, count in Counter(name_topic(row) for row in sent).items():
        RELAY_PUBLISHED.labels(topic).inc(count)
    return Moved(len(rows), freed if queues.waiting else 0, held=bool(queues.waiting))


async def _send_all(publisher: Publisher, rows: Sequence[OutboxRow], house_hash: str | None) -> list[Exception | None]:
    events = [row for row in rows if row.event_type != LETTER]
    sent = iter(await publisher.send_all([_message(row) for row in events], house_hash))
    return [await _send_letter(publisher, row, house_hash) if row.event_type == LETTER else next(sent) for row in rows]


async def _send_letter(publisher: Publisher, row: OutboxRow, house_hash: str | None) -> Exception | None:
    """A dead letter goes back as it came, as of when it was sent: an erasure since then covers it. One that is gone is
    let go.
    """
    payload = orjson.loads(row.payload)
    letter_id = payload["letter_id"]
    letter = await find_letter(publisher.kafka, letter_id)
    if letter is None:
        logger().warning("dead_letter_gone", letter_id=letter_id)
        return None
    return await publisher.send_back(letter, house_hash if payload.get("vouched") else None)


def name_topic(row: OutboxRow) -> str:
    """Where it goes: past others, where its topic has one for that."""
    return AHEAD[row.topic].name if row.ahead and row.topic in AHEAD else row.topic


def _message(row: OutboxRow) -> tuple[str, bytes, bytes]:
    return name_topic(row), row.key.encode(), row.payload.encode()


class Relay:
    """The loop that publishes the outbox; woken by NOTIFY, with a poll behind it."""

    def __init__(self, rt: Runtime) -> None:
        self._rt = rt
        self._publisher = Publisher(rt.kafka)
        self._woken = asyncio.Event()
        self._loops = Loops(rt.policy.delivery.stalled_after_s)

    def list_stalled(self) -> list[str]:
        """Its loop, if it stands still."""
        return self._loops.stalled

    async def ready(self) -> dict[str, bool]:
        """Whether rows can leave: the database answers and the broker is connected."""
        return {"database": await self._rt.db.ping(), "kafka": await self._publisher.answers()}

    async def measure(self) -> None:
        """The outbox gauges are true as of now."""
        async with self._rt.db.system() as conn:
            depth = await outbox.depth(conn)
        OUTBOX_ROWS.set(depth.rows)
        OUTBOX_AGE.set(depth.age_s)
        TURNS_HELD.set(depth.held)
        OUTBOX_FAILED.set(depth.failed)

    async def run(self) -> None:
        """Publishes until cancelled; starts again on a fresh connection whenever a dependency was away."""
        listener = asyncio.create_task(self._rt.db.follow(CHANNEL, lambda _: self._woken.set()))
        try:
            while True:
                self._loops.move(LOOP)
                try:
                    async with self._rt.db.hold_connection() as conn:
                        await self._work(conn)
                except TransientError as error:
                    logger().warning("relay_waits", error=str(error))
                    await asyncio.sleep(0.5)
        finally:
            listener.cancel()
            with suppress(asyncio.CancelledError):
                await listener
            await self._publisher.stop()

    async def _work(self, conn: Connection) -> None:
        shards, policy = Shards(clock.uuid7()), self._rt.policy.delivery
        notice = AheadNotice(self._rt.db, policy.others_first_s)
        # a broker that has lost its data has lost its topics too
        await topics_made.note(conn, await ensure_topics(self._rt.kafka))
        await outbox.sync_later(conn)
        await self._publisher.start()
        loop = asyncio.get_running_loop()
        balance_at = 0.0
        try:
            while True:
                self._loops.move(LOOP)
                if loop.time() >= balance_at:
                    await shards.balance(conn)
                    await turns.forget_ended(conn, timedelta(seconds=policy.tenant_about_s))
                    balance_at = loop.time() + BALANCE_EVERY_S
                self._woken.clear()
                moved = await finish_batch(relay_once(conn, self._publisher, sorted(shards.owned), policy, notice))
                if moved.rows < policy.relay_batch:
                    # rows come in bursts: a moment's rest after a part of one makes the next batch worth its round trip
                    await asyncio.sleep(REST_S if moved.rows else 0)
                    if moved.freed:
                        continue  # turns that were held back may leave now
                    poll_s = policy.relay_poll_ms / 1000
                    if moved.held and policy.flood_pause_s:
                        poll_s = min(poll_s, max(policy.flood_pause_s / 2, LEAST_POLL_S))
                    with suppress(TimeoutError):
                        async with asyncio.timeout(poll_s):
                            await self._woken.wait()
        finally:
            with suppress(Exception):
                await outbox.leave(conn, shards.member)


async def finish_batch(batch: Coroutine[Any, Any, Moved]) -> Moved:
    """What the batch comes to; it is cut off only where a stop has waited for it in vain."""
    task = asyncio.create_task(batch)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait((task,), timeout=FINISH_S)
        task.cancel()
        with suppress(Exception, asyncio.CancelledError):
            await task
        raise
