"""An idle system: the time from a commit to the turn's outcome, and to the effect of a correction."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import orjson
import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from schemas.topics import DEGRADE, MEMORY_CHANGED, TURN_OUTCOME
from schemas.turn_events import TurnEvents
from services.cli.supervisor import Supervisor
from services.compose.intake.commit import commit_turn
from shared.runtime import Runtime
from shared.settings import SERVICES
from tests.bench import kit, talk
from tests.bench.kit import Load, Options, Report

TURNS = 120
CORRECTIONS = 60
PAUSE_S = 0.05
_TOLD = (("I live in Lisbon.", "Correction: I don't live in Lisbon, I live in Oslo."),)
_TOLD_ZH = (("我喜欢喝美式咖啡，每天早上都要来一杯。", "更正一下：我不再喝美式咖啡了，现在喜欢喝龙井茶。"),)

Fits = Callable[[dict[str, Any]], bool]


def run(options: Options) -> Report:
    """Milliseconds from the return of commit_turn to the event on its topic."""
    with kit.machine(SERVICES) as machine:
        return uvloop.run(_measure_latency(machine, options))


async def _measure_latency(on: Supervisor, options: Options) -> Report:
    report = Report("latency")
    topics = (TURN_OUTCOME.name, MEMORY_CHANGED.name, DEGRADE.name)
    consumer = AIOKafkaConsumer(*topics, bootstrap_servers=on.bootstrap, fetch_max_wait_ms=100)
    producer = AIOKafkaProducer(bootstrap_servers=on.bootstrap, acks="all", linger_ms=0)
    await consumer.start()
    await producer.start()
    news = News()
    listener = asyncio.create_task(news.listen(consumer))
    try:
        async with kit.runtime(on, pool=2) as rt:
            hop = await _hops(producer, news, options.some(80))
            turns, tail = await _turns(rt, news, options.some(TURNS))
            fixed = await _corrections(rt, news, options.some(CORRECTIONS))
    finally:
        listener.cancel()
        await consumer.stop()
        await producer.stop()
    report.latencies("commit -> turn.outcome (bare: one produce -> consume)", turns, hop, limits=(None, 1000))
    report.latencies("  of which without anything to remember (2 hops)", tail, hop)
    report.latencies("urgent correction -> memory superseded (3 hops)", fixed, hop, limits=(None, 500))
    report.notes.append("a turn with memories takes 4 hops: committed, recorded, proposed, outcome; rules only")
    return report


class News:
    """The events of the topics as they arrive."""

    def __init__(self) -> None:
        self._heard: asyncio.Queue[tuple[dict[str, Any], float]] = asyncio.Queue()

    async def listen(self, consumer: AIOKafkaConsumer) -> None:
        """Reads until cancelled."""
        async for record in consumer:
            self._heard.put_nowait((orjson.loads(record.value or b"{}"), time.perf_counter()))

    async def when(self, fits: Fits) -> float:
        """The time of the first event that matches."""
        return (await self.what(fits))[1]

    async def what(self, fits: Fits) -> tuple[dict[str, Any], float]:
        """The first event that matches, and its time."""
        async with asyncio.timeout(20):
            while True:
                event, at = await self._heard.get()
                if fits(event):
                    return event, at


async def _hops(producer: AIOKafkaProducer, news: News, many: int) -> Load:
    took: list[float] = []
    for n in range(many + 5):
        began = time.perf_counter()
        await producer.send(DEGRADE.name, orjson.dumps({"hop": n}))
        at = await news.when(lambda event, n=n: event.get("hop") == n)
        took += [at - began] if n >= 5 else []
        await asyncio.sleep(PAUSE_S)
    return Load(tuple(took), sum(took))


async def _turns(rt: Runtime, news: News, many: int) -> tuple[Load, Load]:
    learnt: list[float] = []
    nothing: list[float] = []
    for n, turn in enumerate(kit.portions(talk.turns(30, "idle"), many + 5)):
        turn_id = str((await commit_turn(turn, rt, transport="bench")).result.turn_id)
        began = time.perf_counter()
        event, at = await news.what(_outcome_of(turn_id))
        if n >= 5:
            (learnt if event["payload"]["written"] else nothing).append(at - began)
        await asyncio.sleep(PAUSE_S)
    return Load(tuple(learnt), sum(learnt)), Load(tuple(nothing), sum(nothing))


def _outcome_of(turn_id: str) -> Fits:
    return lambda event: event.get("event_type") == "turn.outcome" and event["payload"]["turn_id"] == turn_id


async def _corrections(rt: Runtime, news: News, many: int) -> Load:
    took: list[float] = []
    for n in range(many):
        told, corrected = (_TOLD if n % 2 else _TOLD_ZH)[0]
        user = f"fix-{n}"
        first = await commit_turn(_turn(user, told), rt, transport="bench")
        await news.when(_outcome_of(str(first.result.turn_id)))
        await asyncio.sleep(PAUSE_S)
        await commit_turn(_turn(user, corrected), rt, transport="bench")
        began = time.perf_counter()
        at = await news.when(
            lambda event, user=user: event.get("user_id") == user and event["payload"].get("change") in _ENDED
        )
        took.append(at - began)
    return Load(tuple(took), sum(took))


_ENDED = ("superseded", "retracted")


def _turn(user: str, said: str) -> TurnEvents:
    return TurnEvents.model_validate(
        {"user_id": user, "session_id": user, "messages": [{"role": "user", "content": said}]}
    )
