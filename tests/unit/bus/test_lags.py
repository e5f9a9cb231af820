"""Consumer lags are queried in the background; only the first caller waits."""

import asyncio

import pytest

from schemas.operations import GroupFlow
from shared.bus import lags
from shared.bus.access import KafkaAccess
from shared.bus.lags import GroupLags


class Asked(GroupLags):
    """Returns the number of its calls, once released."""

    def __init__(self) -> None:
        super().__init__(KafkaAccess("nowhere:9092"))
        self.times = 0
        self.let = asyncio.Event()
        self.let.set()

    async def _ask(self) -> list[GroupFlow]:
        self.times += 1
        await self.let.wait()
        return [GroupFlow(topic="turn.committed", service="observer", group="g", lag=self.times)]


async def test_the_first_callers_share_one_query() -> None:
    asked = Asked()
    answers = await asyncio.gather(*(asked.load() for _ in range(5)))
    assert asked.times == 1
    assert [answer[0].lag for answer in answers if answer] == [1] * 5


async def test_a_stale_value_is_returned_while_the_next_is_queried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lags, "FRESH_S", 0.0)
    asked = Asked()
    assert await asked.load()
    asked.let.clear()
    second = await asyncio.wait_for(asked.load(), 1)
    assert second
    assert second[0].lag == 1
    asked.let.set()
    await asyncio.sleep(0.01)
    third = await asked.load()
    assert third
    assert third[0].lag == 2


class Silent(GroupLags):
    """The broker does not answer."""

    async def _ask(self) -> None:
        return None


async def test_lags_are_unknown_if_the_broker_does_not_answer() -> None:
    assert await Silent(KafkaAccess("nowhere:9092")).load() is None
