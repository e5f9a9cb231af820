"""Who goes first inside a worker: others rest meanwhile, and yet go on by a step a moment."""

import asyncio
from collections.abc import Callable

from shared.bus.delivery import Precedence, give_way, stay_behind, step

MOMENT_S = 0.05


def precedence() -> Precedence:
    """One that rests for a moment by the clock of the loop."""
    return Precedence(MOMENT_S, asyncio.get_running_loop().time)


async def took(wait: Callable[[], object]) -> float:
    """Seconds until the caller has gone on."""
    began = asyncio.get_running_loop().time()
    result = wait()
    if asyncio.iscoroutine(result):
        await result
    return asyncio.get_running_loop().time() - began


async def test_where_nothing_goes_first_nobody_waits() -> None:
    each = precedence()
    with stay_behind(each):
        assert await took(give_way) < MOMENT_S
        assert await took(give_way) < MOMENT_S


async def test_others_rest_for_a_moment_after_what_went_first() -> None:
    each = precedence()
    with each.go_first():
        pass
    with stay_behind(each):
        assert await took(give_way) >= MOMENT_S * 0.9
        assert await took(give_way) < MOMENT_S


async def test_what_goes_first_and_work_of_other_kinds_do_not_wait() -> None:
    each = precedence()
    with each.go_first():
        assert await took(give_way) < MOMENT_S
        with stay_behind(None):
            assert await took(give_way) < MOMENT_S


async def test_however_long_others_go_first_a_step_follows_each_moment() -> None:
    each = precedence()
    with each.go_first(), stay_behind(each):
        first, second = await took(give_way), await took(give_way)
    assert first >= 2 * MOMENT_S * 0.9, "the first step is left a moment longer"
    assert second >= MOMENT_S * 0.9
    for _ in range(6):
        each.note_first()
        await asyncio.sleep(MOMENT_S / 3)
    each.note_first()
    with stay_behind(each):
        assert await took(give_way) < 2 * MOMENT_S, "news of others does not put a step off for ever"


async def test_what_is_told_of_elsewhere_counts_as_well() -> None:
    each = precedence()
    each.note_first()
    with stay_behind(each):
        assert await took(give_way) >= MOMENT_S * 0.9


async def test_steps_are_taken_one_at_a_time_and_not_beside_what_goes_first() -> None:
    each, at_once, most = precedence(), 0, 0

    async def work(behind: Precedence | None) -> None:
        nonlocal at_once, most
        with stay_behind(behind):
            for _ in range(3):
                async with step():
                    at_once += 1
                    most = max(most, at_once)
                    await asyncio.sleep(0)
                    at_once -= 1

    await asyncio.gather(*(work(each) for _ in range(4)))
    assert most == 1
    await asyncio.gather(work(each), work(None))
    assert most == 2, "what goes first does not queue for a step"
