"""A service that only consumes: started with its bus, ready when every consumer has partitions."""

import asyncio
from collections.abc import Awaitable, Callable

from shared.runtime import Runtime
from shared.service import Service


def worker(name: str, rt: Runtime, *timers: Callable[[], Awaitable[None]]) -> Service:
    """The worker as a service; `timers` run beside its consumers until it stops."""

    async def run() -> None:
        await rt.bus.start()
        try:
            async with asyncio.TaskGroup() as tasks:
                for timer in timers:
                    tasks.create_task(_coroutine(timer))
                await asyncio.Event().wait()
        finally:
            await rt.bus.stop()

    async def ready() -> dict[str, bool]:
        return {"database": await rt.db.ping(), **await rt.bus.ready()}

    return Service(name, run=run, ready=ready, measure=rt.bus.measure_lag, stalled=lambda: rt.bus.stalled)


async def _coroutine(timer: Callable[[], Awaitable[None]]) -> None:
    await timer()
