"""A service that only consumes: started with its bus, ready when every consumer has partitions."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from shared import cache
from shared.domain.subjects import Subject
from shared.metrics.delivery import TEXTS_KEPT
from shared.runtime import Runtime
from shared.service import Service
from shared.store.turns_under_way import follow_ahead
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
                tasks.create_task(_forget_erased(rt, longest_s))
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


async def _forget_erased(rt: Runtime, longest_s: float) -> None:
    """Whichever process an erasure is asked of, this one too forgets what it keeps of the user's words, until it stops.

    At once, and again and again, each time after twice the pause: work that was under way then may have kept something
    of what it had read before.
    """
    loop = asyncio.get_running_loop()

    def forget(erased: tuple[Subject, int] | None) -> None:
        if erased is None:
            rt.forget_everybody()
            forget_again(cache.forget_texts, 1.0)
        else:
            rt.forget(*erased)
            forget_again(partial(rt.forget, *erased), 1.0)

    def forget_again(forget: Callable[[], None], pause_s: float) -> None:
        loop.call_later(pause_s, forget_and_repeat, forget, pause_s)

    def forget_and_repeat(forget: Callable[[], None], pause_s: float) -> None:
        forget()
        if pause_s < longest_s:
            forget_again(forget, 2 * pause_s)

    await rt.db.listen_for_erasures(forget)


async def _drop_old(rt: Runtime) -> None:
    while True:
        await asyncio.sleep(DROP_EVERY_S)
        rt.read_turns.drop_old()
        rt.thoughts.drop_old()
