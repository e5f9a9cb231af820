"""A background load is never awaited, is cached for a while, and fails silently."""

import asyncio
from collections.abc import Awaitable, Callable

from shared.errors import TransientError
from shared.single_flight import BackgroundCache
from tests.system.wait import wait_for


class Clock:
    """A clock that the test advances."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def make_loader(answers: list[str]) -> tuple[list[str], Callable[[], Awaitable[str]]]:
    """A loader that returns these values in turn and counts them."""
    asked: list[str] = []

    async def load() -> str:
        asked.append(answers[len(asked)])
        return asked[-1]

    return asked, load


async def test_the_first_caller_gets_nothing_and_the_next_one_the_loaded_value() -> None:
    asked, load = make_loader(["a"])
    ahead = BackgroundCache[str, str]()
    assert ahead.get("k", load) is None
    assert ahead.get("k", load) is None
    assert await wait_for(lambda: ahead.get("k", load)) == "a"
    assert asked == ["a"]


async def test_a_stale_value_is_returned_once_more_while_it_is_reloaded() -> None:
    clock = Clock()
    _, load = make_loader(["a", "b"])
    ahead = BackgroundCache[str, str](clock, keep_s=60)
    ahead.get("k", load)
    await wait_for(lambda: ahead.get("k", load))
    clock.now = 61
    assert ahead.get("k", load) == "a"
    assert await wait_for(lambda: ahead.get("k", load) == "b")


async def test_a_failed_or_hanging_load_leaves_nothing_and_is_not_retried_at_once() -> None:
    clock, tries = Clock(), 0

    async def fails() -> str:
        nonlocal tries
        tries += 1
        raise TransientError("away")

    async def hangs() -> str:
        nonlocal tries
        tries += 1
        await asyncio.sleep(3600)
        return ""

    ahead = BackgroundCache[str, str](clock, keep_s=60, load_s=0.01)
    for n, load in enumerate((fails, hangs), 1):
        assert ahead.get(str(n), load) is None
        await wait_for(lambda n=n: str(n) in ahead, "the load is over")
        assert ahead.get(str(n), load) is None
        assert tries == n
    clock.now = 61
    ahead.get("1", fails)
    await wait_for(lambda: tries == 3)


async def test_cached_values_and_running_loads_are_bounded() -> None:
    ahead = BackgroundCache[str, str](most=2, at_once=2)
    _, load = make_loader(list("abcdef"))
    for key in "abc":
        ahead.get(key, load)
    await wait_for(lambda: "b" in ahead)
    assert "c" not in ahead
    ahead.get("c", load)
    await wait_for(lambda: "c" in ahead)
    assert "a" not in ahead


async def test_no_load_runs_after_closing() -> None:
    ended = asyncio.Event()

    async def hangs() -> str:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        return ""

    ahead = BackgroundCache[str, str]()
    ahead.get("k", hangs)
    await asyncio.sleep(0)
    await ahead.close()
    assert ended.is_set()
