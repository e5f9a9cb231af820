"""Conversations with corrections through the running system, and whether memory satisfies its invariants afterwards."""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice

import uvloop

from schemas.turn_events import TurnEvents
from services.cli.supervisor import Supervisor
from services.compose.intake.commit import commit_turn
from shared.runtime import Runtime
from shared.settings import SERVICES
from tests.bench import kit
from tests.bench.kit import Options, Report, Row
from tests.system import conversation, invariants
from tests.system.conversation import Part, Story
from tests.system.databases import number, rows

TURNS = 10_000
OF_ONE = 250
"""Turns of one user: about as many as have new content."""
AT_ONCE = 16
SESSION = 25
PATIENCE_S = 600.0


@dataclass
class Told:
    """The committed turns."""

    stories: dict[str, Story] = field(default_factory=dict[str, Story])
    parts: Counter[Part] = field(default_factory=Counter[Part])


def run(options: Options) -> Report:
    """The violations of every invariant, and turns per second from the first commit to the last outcome."""
    turns = options.turns or options.some(TURNS)
    report = Report("invariants")
    with kit.machine(SERVICES) as machine:
        began = time.perf_counter()
        told = uvloop.run(_tell(machine, turns))
        _wait(machine.dsn)
        took = time.perf_counter() - began
        accepted = number(machine.dsn, "SELECT count(*) FROM turns")
        report.rows.append(Row("turns that were not accepted", turns - accepted, "", limit=0))
        for what, many in invariants.broken(machine.dsn).items():
            report.rows.append(Row(what, many, "", limit=0))
        lost = {user: invariants.lost(machine.dsn, user, story.expected) for user, story in told.stories.items()}
        facts = sum(len(story.expected) for story in told.stories.values())
        report.rows.append(Row(f"of {facts} facts, lost or still there", sum(map(len, lost.values())), "", limit=0))
        report.rows.append(Row("first commit to last outcome", accepted / took, "turns/s"))
        report.notes += [f"{user}: {fact.type} {' '.join(fact.words)}" for user in lost for fact in lost[user][:3]][:20]
        report.notes.append(f"{len(told.stories)} users; turns: {_shares(told.parts)}")
        report.notes.append(f"memories: {_statuses(machine.dsn)}")
    return report


async def _tell(on: Supervisor, turns: int) -> Told:
    told = Told()
    users = max(1, turns // OF_ONE)
    async with kit.runtime(on) as rt:
        places = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(
            *(_one(rt, places, f"inv-{n}", turns // users + (n < turns % users), told) for n in range(users))
        )
    return told


async def _one(rt: Runtime, places: asyncio.Semaphore, user_id: str, many: int, told: Told) -> None:
    """One user's turns, one after the other."""
    pauses = random.Random(user_id)
    async with places:
        for n, (said, story) in enumerate(islice(conversation.turns(user_id), many)):
            told.stories[user_id] = story
            told.parts[said.part] += 1
            await commit_turn(turn(user_id, n, said.text), rt, transport="bench")
            if pauses.random() < 0.05:
                await asyncio.sleep(pauses.random() / 20)


def turn(user_id: str, n: int, text: str) -> TurnEvents:
    """The n-th turn of the user, in sessions of some length."""
    return TurnEvents.model_validate(
        {
            "user_id": user_id,
            "session_id": f"{user_id}-{n // SESSION}",
            "idempotency_key": f"{user_id}-{n}",
            "messages": [{"role": "user", "content": text}],
        }
    )


def _wait(dsn: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while number(dsn, "SELECT count(*) FROM turns WHERE outcome_at IS NULL") and time.monotonic() < until:
        time.sleep(0.2)


def _shares(parts: Counter[Part]) -> str:
    return ", ".join(f"{many} {part} ({many / parts.total():.1%})" for part, many in parts.most_common())


def _statuses(dsn: str) -> str:
    found = rows(dsn, "SELECT status, count(*) AS n FROM memory_items GROUP BY 1 ORDER BY 2 DESC")
    return ", ".join(f"{row['n']} {row['status']}" for row in found)
