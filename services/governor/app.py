"""Governor: wires the timers."""

import asyncio
from functools import partial

from services.governor import handler
from shared.errors import TransientError
from shared.runtime import Runtime
from shared.service import Service
from shared.telemetry import logger

PRUNE_EVERY = 360
"""Rounds between two prunings of the inbox and of injections."""


def build(rt: Runtime) -> Service:
    """The governor as a service; several may run, one at a time acts."""

    async def run() -> None:
        rounds = 0
        while True:
            try:
                await handler.redrive(rt)
                await handler.end_idle(rt)
                if rounds % PRUNE_EVERY == 0:
                    await handler.prune_all(rt)
            except TransientError as error:
                logger().warning("governor_waits", error=str(error))
            rounds += 1
            await asyncio.sleep(rt.policy.delivery.redrive_every_s)

    async def ready() -> dict[str, bool]:
        return {"database": await rt.db.ping()}

    return Service("governor", run=run, ready=ready, measure=partial(handler.measure, rt))
