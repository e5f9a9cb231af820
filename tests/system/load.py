"""A continuous stream of turns, and the check that each was derived once."""

import asyncio
import time

import httpx

from tests.long import LONG
from tests.system.databases import rows
from tests.system.processes import Machine
from tests.system.wait import wait_for

SOON = {"redrive_after_s": 2.0, "redrive_every_s": 0.5}
"""A policy that soon redrives lost work."""


PAUSE_S = 0.0 if LONG else 0.4
"""The rate is unlimited, or that of a busy conversation, because every committed turn must also be derived."""


class Load:
    """Turns of several concurrent users; each sends the next soon after the last was answered."""

    def __init__(self, http: httpx.AsyncClient, users: int = 6) -> None:
        self._http = http
        self.acknowledged: set[str] = set()
        self._stopping = False
        self._mark = f"{time.time_ns():x}"
        self._tasks = [asyncio.create_task(self._one(f"{self._mark}-{n}")) for n in range(users)]

    async def _one(self, user_id: str) -> None:
        n = 0
        while not self._stopping:
            items = [{"type": "preference", "key": "pref:writing:tone", "value": f"tone-{n}"}]
            body = {"user_id": user_id, "session_id": "s", "items": items, "idempotency_key": f"{user_id}-{n}"}
            try:
                answer = await self._http.post("/v1/turns", json=body)
            except httpx.HTTPError:
                await asyncio.sleep(0.02)
                continue
            if answer.status_code in (200, 201):
                self.acknowledged.add(answer.json()["turn_id"])
                n += 1
            await asyncio.sleep(PAUSE_S)

    async def reach(self, turns: int) -> None:
        """Waits until this many more turns are acknowledged."""
        goal = len(self.acknowledged) + turns
        await wait_for(lambda: len(self.acknowledged) >= goal, f"{turns} turns more")

    async def stop(self) -> None:
        """Stops the commits."""
        self._stopping = True
        await asyncio.gather(*self._tasks)


async def assert_everything_once(machine: Machine, load: Load) -> None:
    """Every acknowledged turn exists and has its outcome and exactly one memory."""
    accepted = await machine.settled()
    assert load.acknowledged <= accepted
    learnt = rows(machine.dsn, "SELECT user_id, version, value ->> 'value' AS tone FROM memory_items ORDER BY 1, 2")
    assert len(learnt) == len(accepted)
    assert all(row["tone"] == f"tone-{row['version'] - 1}" for row in learnt)
    outcomes = rows(machine.dsn, "SELECT outcome ->> 'status' AS status, count(*) AS n FROM turns GROUP BY 1")
    assert outcomes == [{"status": "derived", "n": len(accepted)}]
