"""Packages of the assembled system within their token limits, and full where there is enough to say."""

import random
from typing import Any

import pytest

from schemas.messages import messages
from services.compose.rules import fill
from shared.text import tokens
from tests.long import LONG, often
from tests.system.person import Person, user
from tests.unit.compose.histories import KINDS, pieces, some_text, tokenizers

LIMITS = (1000, 1500, 2048, 4096, 8192, 16_384, 32_768) if LONG else (1000, 2048, 8192)
TURNS = often(6, short=2)


def _exchange(rng: random.Random, kind: str, size: int) -> list[dict[str, Any]]:
    said, answered = (some_text(rng, pieces()[kind], rng.randrange(10, size)) for _ in range(2))
    return [user(said), {"role": "assistant", "content": answered}]


@pytest.mark.parametrize("seed", range(often(8, short=4)))
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
        assert (budget.used_estimate + budget.generation + budget.margin) / limit >= 0.9, limit
        assert tokens.count(package.model_dump_json(exclude={"debug"}, exclude_none=True)) <= limit * 1.05


async def test_a_package_is_made_where_the_allocator_fails(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    await person.commit("我喜欢喝龙井茶。")

    def broken(*_: object) -> dict[str, int]:
        raise ZeroDivisionError

    monkeypatch.setattr(fill, "allocate", broken)
    package = await person.compose("我喜欢喝什么茶？", session="s1")
    assert "budget_allocator_fallback" in package.degraded_reason
    assert package.recent_turns
