"""Governor: wires the timers."""

import asyncio
from functools import partial

from services.governor import ageing, handler
from shared.errors import TransientError
from shared.runtime import Runtime
from shared.service import Service
from shared.telemetry import Loops, logger

LOOP = "rounds"
PRUNE_EVERY = 360
"""Rounds between two prunings of the inbox, redrives, model answers, usage, injections, packages, receipts and old
proofs; and between two searches for expired user data."""


def build(rt: Runtime) -> Service:
    """The governor as a service; several may run, only one acts at a time."""

    policy = rt.policy.delivery
    loops = Loops(policy.stalled_after_s + policy.redrive_every_s)

    async def run() -> None:
        until_pruning = 0
        while True:
            try:
                with loops.work(LOOP):
                    await handler.redrive(rt)
                    await handler.end_idle(rt)
                    if until_pruning <= 0:
                        await handler.prune_all(rt)
                        await ageing.erase_aged(rt)
                        until_pruning = PRUNE_EVERY
            except TransientError as error:
                logger().warning("governor_waits", error=str(error))
            until_pruning -= 1
            await asyncio.sleep(rt.policy.delivery.redrive_every_s)

    async def ready() -> dict[str, bool]:
        return {"database": await rt.db.ping()}

    measure = partial(handler.measure, rt)
    return Service("governor", run=run, ready=ready, measure=measure, stalled=lambda: loops.stalled)
