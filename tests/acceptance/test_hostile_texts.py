"""Pathological texts of 200 kB: each is read in bounded time and delays no other user."""

import asyncio
import random
import time

import pytest

from shared.extraction.observe import TOO_LONG
from tests.long import LONG, often
from tests.system.looking import SHAPES, said
from tests.system.person import Json, Person

CHARS = 200_000
PROSE = (
    "We met in the old town and talked about the garden, then I went home early. ",
    "昨天我们在老城见面聊了花园的事情，后来我很早就回家了，路上买了一些水果。",
)
MOST_TIMES = 4.0
"""The maximum processor time to commit and observe such a text, as a multiple of prose of equal length in the same run.

The highest value measured was 1.9; quadratic behaviour takes hundreds.
"""
WAIT_S = 2.0
OTHERS = (
    *("预算不超过", "以后", "好的，", "“我说", "第1次", "budget for ", "I am allergic to ", "remember that ", "ok, "),
    *("http://a", "a@", "\\", "not ", "1,"),
)


def hostile(n: int) -> str:
    """The text of this number: one repeated piece, or a random mix of two or three."""
    pieces = [*SHAPES.values(), *OTHERS]
    if n < len(pieces):
        return said(pieces[n], CHARS - 2) + "ok"
    dice = random.Random(n)
    few = dice.sample(pieces, 3)
    return "".join(dice.choice(few) * dice.randint(1, 400) for _ in range(CHARS // 100))[: CHARS - 2] + "ok"


def list_unread(outcome: Json) -> list[int]:
    """Where extraction stopped, according to the outcome."""
    return [each["span"][0] for each in outcome["retention_explain"] if each["reason"] == TOO_LONG]


async def test_any_text_takes_bounded_time_and_its_outcome_names_the_unread_part(person: Person) -> None:
    await person.say("I like jasmine tea. 我喜欢喝茶。")
    prose = [await _cpu(person, said(sentence, CHARS - 2) + "ok") for sentence in PROSE]
    most = MOST_TIMES * max(prose)
    slow: dict[str, float] = {}
    for n in range(0, 200, 200 // often(200, short=8)):
        text = hostile(n)
        took = await _cpu(person, text)
        if took > most and (again := await _cpu(person, text)) > most:
            slow[text[:20]] = min(took, again) / max(prose)
    assert not slow


async def _cpu(person: Person, text: str) -> float:
    await person.system.settled()
    began = time.process_time()
    outcome = await person.say(text)
    took = time.process_time() - began
    assert list_unread(outcome), text[:20]
    return took


async def test_other_users_are_observed_while_hostile_texts_are_read(person: Person) -> None:
    other = Person(person.system)
    await other.say("I like jasmine tea.")
    texts = [hostile(n) for n in range(often(200, short=6))]
    writing = asyncio.create_task(_write(person, texts))
    waits: list[float] = []
    meanwhile = 0
    while not writing.done():
        began = time.monotonic()
        await other.say(f"I like tea number {len(waits)}.")
        waits.append(time.monotonic() - began)
        meanwhile += not writing.done()
    await writing
    assert meanwhile, "nothing of the other was learnt before all of it was read"
    if LONG:  # enough of them for a percentile
        assert sorted(waits)[len(waits) // 2] < WAIT_S, waits


async def _write(person: Person, texts: list[str]) -> None:
    for turn in [await person.commit(text) for text in texts]:
        await person.outcome(turn["turn_id"])


@pytest.mark.parametrize("text", ["我" * 10_001, "I live in Oslo. " + "x " * 10_000 + " I live in Bergen."])
async def test_text_beyond_the_read_part_states_nothing(person: Person, text: str) -> None:
    outcome = await person.say(text)
    assert list_unread(outcome) == [10_000]
    assert not [content for content in await person.contents() if "Bergen" in content]
