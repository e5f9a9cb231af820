"""Thousands of random requests: none breaks the service, delays others or is written partially."""

import asyncio
import random
from dataclasses import dataclass, field

import httpx

from tests.long import often
from tests.system.fuzz import Attempt, Fuzzer
from tests.system.person import Person, somebody
from tests.system.running import System
from tests.system.wait import IN_TIME_S

AT_ONCE = 8
BEYOND_SCHEMAS = ("as_of", "status", "time_range", "global_filters.time_range", "filters.time_range")
"""Refusals that no schema states: a future time, a search among ended memories, an interval that ends before it begins,
and U+0000 in a string of free JSON.
"""
WRITTEN = """
SELECT count(e.ordinal) AS events, coalesce(max(e.ordinal) + 1, 0) AS places
FROM turns t LEFT JOIN conversation_events e USING (tenant_id, user_id, turn_id) WHERE t.turn_id = %(turn)s
GROUP BY t.turn_id
"""
"""The number of stored events of a turn, and the expected number."""


@dataclass
class Seen:
    """The response."""

    turns: dict[str, int] = field(default_factory=dict[str, int])
    statuses: dict[int, int] = field(default_factory=dict[int, int])
    accepted: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list[str])


async def send(system: System, attempt: Attempt, fuzzer: Fuzzer, seen: Seen) -> None:
    """The response is one that is allowed."""
    async with asyncio.timeout(3 * IN_TIME_S):
        answer = await system.http.request(
            attempt.method, attempt.path, content=attempt.content, headers=attempt.headers
        )
    seen.statuses[answer.status_code] = seen.statuses.get(answer.status_code, 0) + 1
    if problem := wrong(attempt, answer):
        seen.wrong.append(f"{problem}: {attempt} -> {answer.status_code} {answer.text[:600]}")
    fuzzer.learn(answer.text)
    seen.accepted += answer.is_success
    seen.refused += answer.status_code == 422
    if attempt.operation == "post /v1/turns" and answer.status_code == 201:
        told = answer.json()
        seen.turns[told["turn_id"]] = sum(told["accepted"].values())


def wrong(attempt: Attempt, answer: httpx.Response) -> str | None:
    """The fault of the response."""
    if answer.status_code >= 500:
        return "broke"
    if answer.status_code >= 400:
        told = answer.json()
        if not (told["code"] and told["message"] and told["request_id"]):
            return "says nothing"
        fields = [problem["field"] for problem in told["details"]]
        beyond = "U+0000" in answer.text or any(name.endswith(BEYOND_SCHEMAS) for name in fields)
        if told["code"] != "invalid_request" or beyond:
            return None
        return "refused though OpenAPI allows it" if attempt.allowed else None
    return "accepted though OpenAPI forbids it" if attempt.allowed is False else None


async def test_no_request_breaks_delays_or_is_written_partially(system: System) -> None:
    document = (await system.http.get("/openapi.json")).json()
    seed = random.Random().randrange(2**32) if often(1, short=0) else 27
    tenants = (somebody(), somebody())
    fuzzer, seen = Fuzzer(document, tenants, seed), Seen()
    waiting = iter(range(often(5000, short=240)))

    async def ask_on() -> None:
        for _ in waiting:
            await send(system, fuzzer.attempt(), fuzzer, seen)

    other = Person(system)

    async def live_beside() -> None:
        assert (await other.say("我喜欢喝龙井茶。"))["written"]

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(ask_on())
        tasks.create_task(live_beside())

    assert not seen.wrong, f"seed {seed}: {len(seen.wrong)} of {seen.statuses}\n" + "\n".join(seen.wrong[:12])
    assert min(seen.accepted, seen.refused) > often(500, short=20), seen.statuses
    await system.settled()
    kept = {turn: rows[0] for turn in seen.turns if (rows := system.rows(WRITTEN, turn=turn))}
    erased = system.number("SELECT count(*) FROM tombstones WHERE tenant_id = ANY(%(t)s)", t=list(tenants))
    assert len(kept) == len(seen.turns) or erased, "an accepted turn is not there"
    for turn, row in kept.items():
        assert row["events"] == row["places"] >= seen.turns[turn], (turn, row, seen.turns[turn])
