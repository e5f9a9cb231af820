"""How far groups are behind is asked for beside whoever wants it, and only the first waits."""

import asyncio

import pytest

from schemas.operations import GroupFlow
from shared.bus import lags
from shared.bus.access import KafkaAccess
from shared.bus.lags import GroupLags


class Asked(GroupLags):
    """Answers how often it was asked, when it is let."""

    def __init__(self) -> None:
        super().__init__(KafkaAccess("nowhere:9092"))
        self.times = 0
        self.let = asyncio.Event()
        self.let.set()

    async def _ask(self) -> list[GroupFlow]:
        self.times += 1
        await self.let.wait()
        return [GroupFlow(topic="turn.committed", service="observer", group="g", lag=self.times)]


async def test_all_who_ask_at_first_wait_for_one_answer() -> None:
    asked = Asked()
    answers = await asyncio.gather(*(asked.load() for _ in range(5)))
    assert asked.times == 1
    assert [answer[0].lag for answer in answers if answer] == [1] * 5


async def test_an_old_answer_is_given_while_the_next_is_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
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
    """The broker does not tell."""

    async def _ask(self) -> None:
        return None


async def test_where_the_broker_does_not_tell_nothing_is_known() -> None:
    assert await Silent(KafkaAccess("nowhere:9092")).load() is None
