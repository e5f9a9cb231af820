"""Packages of the assembled system stay within their token limits and use them."""

import asyncio
import random
from typing import Any

import pytest

from schemas.context_package import messages
from services.compose.rules.packing import sizes
from shared.db import Read
from shared.language import tokens
from shared.store import user_state
from tests.long import LONG, often
from tests.system.person import Person, user
from tests.unit.compose.rules.packing.histories import KINDS, pieces, some_text, tokenizers

LIMITS = (1000, 1500, 2048, 4096, 8192, 16_384, 32_768) if LONG else (1000, 2048, 8192)
TURNS = often(6, short=2)


def _exchange(rng: random.Random, kind: str, size: int) -> list[dict[str, Any]]:
    said, answered = (some_text(rng, pieces()[kind], rng.randrange(10, size)) for _ in range(2))
    return [user(said), {"role": "assistant", "content": answered}]


@pytest.mark.parametrize("seed", range(often(8, short=2)))
async def test_no_package_of_a_random_conversation_exceeds_its_limit(person: Person, seed: int) -> None:
    rng = random.Random(seed)
    kind, size = rng.choice(KINDS), rng.choice((100, 2000, 12_000))
    for _ in range(rng.randrange(2, 10)):
        body = {**person.turn(session="s1"), "messages": _exchange(rng, kind, size)}
        assert (await person.post("/v1/turns", body)).status_code == 201
    for limit in LIMITS:
        asked = some_text(rng, pieces()[kind], rng.randrange(5, 200))
        answer = await person.post(
            "/v1/context",
            {**person.whose, "session_id": "s1", "user_message": asked, "token_limit": limit, "deadline_ms": 30_000},
        )
        assert answer.status_code == 200, answer.text
        package = await person.compose(asked, session="s1", token_limit=limit, deadline_ms=30_000)
        assert package.user_message.content == asked
        budget = package.constraints.token_budget
        assert budget.used_estimate + budget.generation + budget.margin <= limit
        for name, count in tokenizers().items():
            assert count(answer.text) <= limit, name
            assert sum(count(each.content) + 4 for each in messages(package)) <= limit - budget.generation, name


@pytest.mark.parametrize("kind", ["en", "zh", "mixed", "code"])
async def test_a_long_conversation_fills_nine_tenths_of_the_limit(person: Person, kind: str) -> None:
    rng = random.Random(kind)
    for _ in range(TURNS):
        said, answered = (some_text(rng, pieces()[kind], 14_000) for _ in range(2))
        body = {**person.turn(session="s1"), "messages": [user(said), {"role": "assistant", "content": answered}]}
        assert (await person.post("/v1/turns", body)).status_code == 201
    await person.system.settled()
    for limit in (each for each in LIMITS if each >= 2048):
        package = await person.compose("然后呢？ And then?", session="s1", token_limit=limit, deadline_ms=30_000)
        budget = package.constraints.token_budget
        full = budget.slots["window"] >= 9900
        assert full or (budget.used_estimate + budget.generation + budget.margin) / limit >= 0.9, limit
        assert tokens.count(package.model_dump_json(exclude={"debug"}, exclude_none=True)) <= limit * 1.05


async def test_a_package_is_built_when_the_allocator_fails(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    await person.commit("我喜欢喝龙井茶。")

    def broken(*_: object) -> dict[str, int]:
        raise ZeroDivisionError

    monkeypatch.setattr(sizes, "allocate", broken)
    package = await person.compose("我喜欢喝什么茶？", session="s1")
    assert "budget_allocator_fallback" in package.degraded_reason
    assert package.recent_turns


@pytest.mark.parametrize(("limit", "words"), [(8192, 5500), (8192, 6200), (32_768, 5500), (1000, 700)])
async def test_a_message_that_leaves_no_room_is_refused_with_its_field(person: Person, limit: int, words: int) -> None:
    asked = {"session_id": "s1", "user_message": "word " * words, "token_limit": limit}
    answer = await person.post("/v1/context", {**person.whose, **asked})
    refusal = answer.json()
    assert (answer.status_code, refusal["code"]) == (422, "user_message_too_long")
    assert refusal["details"][0]["field"] == "user_message"
    assert f"the limit of {limit} leaves" in refusal["message"]


@pytest.mark.parametrize("field", ["token_limit", "model_window"])
async def test_a_window_that_is_too_small_for_a_message_is_refused_with_its_field(person: Person, field: str) -> None:
    answer = await person.post(
        "/v1/context", {**person.whose, "session_id": "s1", "user_message": "茶？", "token_limit": 8192, field: 260}
    )
    refusal = answer.json()
    assert (answer.status_code, refusal["code"]) == (422, "token_limit_too_small")
    assert refusal["details"][0]["field"] == field


async def test_an_oversized_text_is_refused_before_any_search(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the database is too busy to answer in time."""

    def slow(*_: object) -> Read[list[object]]:
        return Read("SELECT pg_sleep(30)", {}, list)

    monkeypatch.setattr(user_state, "core", slow)
    long = {**person.whose, "session_id": "s1", "user_message": "很长的话。" * 20_000, "deadline_ms": 1}
    answers = await asyncio.gather(*(person.post("/v1/context", long) for _ in range(8)))
    assert {(each.status_code, each.json()["code"]) for each in answers} == {(422, "user_message_too_long")}


async def test_slots_keep_their_bounds_and_the_receipt_shows_them(person: Person) -> None:
    long = "Eight long turns were said here, one after the other. "
    for n in range(8):
        await person.commit(f"{n} " + long * 400)
    package = await person.compose("word " * 3500, session="s1", token_limit=8192)
    budget = package.constraints.token_budget
    assert budget.generation >= 2000
    assert any("memory" in block.text for block in package.system_blocks if block.type == "policies")
    assert 0 < budget.slots["window"] < 2000
    wide = await person.compose("And now?", session="s1", token_limit=128_000)
    assert wide.constraints.token_budget.slots["window"] <= 10_000
    await person.system.settled()
    kept = person.system.rows(
        "SELECT details -> 'budget_allocation' AS made FROM memory_receipts"
        " WHERE context_id = %(id)s AND receipt_type = 'injection'",
        id=wide.context_id,
    )[0]["made"]["slots"]
    assert (kept["window"]["minimum"], kept["window"]["maximum"]) == (3000, 10_000)
    assert all(min(each["wanted"], each["minimum"]) <= each["granted"] <= each["maximum"] for each in kept.values())
    assert kept["generation"]["granted"] == wide.constraints.token_budget.generation
