"""A service that only consumes: it starts with its bus, and is ready when every consumer has partitions."""

import asyncio
from collections.abc import Awaitable, Callable

from shared import cache
from shared.metrics.delivery import TEXTS_KEPT
from shared.runtime import Runtime
from shared.service import Service
from shared.store.turns import follow_ahead
from shared.telemetry import LONGEST_WORK_S

DROP_EVERY_S = 15.0
"""So often what was kept for its time goes, also where nobody asks any more."""


def worker(
    name: str, rt: Runtime, *timers: Callable[[], Awaitable[None]], longest_s: float = LONGEST_WORK_S
) -> Service:
    """The worker as a service; `timers` run beside its consumers until it stops.

    Of an erased user it keeps nothing in memory, also of work that had begun before and took at most `longest_s`.
    """

    async def run() -> None:
        await rt.bus.start()
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(rt.follow_erasures(longest_s))
                tasks.create_task(_drop_old(rt))
                if rt.bus.gives_way:
                    tasks.create_task(follow_ahead(rt.db, rt.bus.note_ahead))
                if rt.user_settings:
                    tasks.create_task(rt.user_settings.listen())
                for timer in timers:
                    tasks.create_task(_coroutine(timer))
                await asyncio.Event().wait()
        finally:
            await rt.bus.stop()

    async def ready() -> dict[str, bool]:
        return {"database": await rt.db.ping(), **await rt.bus.ready()}

    async def measure() -> None:
        TEXTS_KEPT.set(cache.kept_texts())
        await rt.bus.measure_lag()

    return Service(name, run=run, ready=ready, measure=measure, stalled=lambda: rt.bus.stalled)


async def _coroutine(timer: Callable[[], Awaitable[None]]) -> None:
    await timer()


async def _drop_old(rt: Runtime) -> None:
    while True:
        await asyncio.sleep(DROP_EVERY_S)
        rt.read_turns.drop_old()
        rt.thoughts.drop_old()
