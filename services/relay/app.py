"""Relay: wires the outbox to Kafka; woken by NOTIFY, with a poll behind it."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from datetime import timedelta
from typing import Any

from services.relay.handler import AheadNotice, Moved, Shards, relay_once
from services.relay.publisher import Publisher
from shared import clock
from shared.bus.topics import ensure_topics
from shared.db import Connection
from shared.errors import TransientError
from shared.loops import Loops
from shared.metrics.outbox import OUTBOX_AGE, OUTBOX_FAILED, OUTBOX_ROWS, TURNS_HELD
from shared.runtime import Runtime
from shared.service import Service
from shared.store import outbox, topics_made, turns_under_way
from shared.telemetry import logger

BALANCE_EVERY_S = 2.0
REST_S = 0.003
LEAST_POLL_S = 0.01
LOOP = "outbox"
FINISH_S = 10.0
"""A stop waits so long for the batch that is on its way: what the broker has would go out again."""


def build(rt: Runtime) -> Service:
    """The relay as a service: `run` goes on until cancelled."""
    relay = _Relay(rt)
    return Service("relay", run=relay.run, ready=relay.ready, measure=relay.measure, stalled=relay.list_stalled)


class _Relay:
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
        listener = asyncio.create_task(self._rt.db.listen(self._woken.set))
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
                    await turns_under_way.forget_ended(conn, timedelta(seconds=policy.tenant_about_s))
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
