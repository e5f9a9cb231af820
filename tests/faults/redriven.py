"""Dead letters are redriven while all participants are killed."""

import asyncio
import os
import random
import sys
from collections.abc import Awaitable, Callable
from itertools import count

import httpx
import orjson

from schemas.topics import TURN_COMMIT
from tests.faults.judge import Figures, ask
from tests.faults.load import TENANT, Load
from tests.faults.rig import Rig
from tests.long import often
from tests.system.kafka import Stored, publish
from tests.system.wait import wait_for

Check = Callable[[Figures], Awaitable[None]]
numbers = count()


async def kill_redrives(rig: Rig, load: Load, dice: random.Random) -> Check:
    """`smartbrain dlq redrive` for several letters, killed with compose and relay at random times, then repeated.

    The check: each letter's turn is in the log and derived once, and one act is recorded.
    """
    users = [f"letter-{next(numbers)}" for _ in range(often(20, short=4))]
    letters = [await _write_letter(rig, user, keyed=n % 2 == 0) for n, user in enumerate(users)]
    killing = asyncio.create_task(_kill_at_random(rig, dice))
    await asyncio.gather(*(_redrive(rig, letter, dice.uniform(0.5, 2.5)) for letter in letters))
    await killing
    await load.reach(2)
    again = [wait_for(lambda letter=letter: _redrive(rig, letter, 60), "it is redriven") for letter in letters]
    await asyncio.gather(*again)

    async def check(figures: Figures) -> None:
        figures.accepted += len(users)
        for user in users:
            turns = ask(rig, "SELECT outcome ->> 'status' AS status FROM turns WHERE user_id = %(u)s", u=user)
            figures.derived += bool(turns) and turns[0]["status"] == "derived"
            known = ask(rig, "SELECT count(*) AS n FROM memory_items WHERE user_id = %(u)s", u=user)[0]["n"]
            figures.lost += max(0, 1 - len(turns), 1 - known)
            figures.doubled += max(0, len(turns) - 1, known - 1)
            acts = "SELECT count(*) AS n FROM audit_events WHERE user_id = %(u)s AND kind = 'dead_letter.redriven'"
            if (many := ask(rig, acts, u=user)[0]["n"]) != 1:
                figures.problems.append(f"{user}: {many} redrives on record")

    return check


async def _write_letter(rig: Rig, user: str, *, keyed: bool) -> str:
    """The id of a dead letter with a turn of the user."""
    body = {"tenant_id": TENANT, "user_id": user, "session_id": "s"}
    body |= {"messages": [{"role": "user", "content": "I like green tea."}]}
    body |= {"idempotency_key": user} if keyed else {}
    headers = [("x-error", b"by hand"), ("x-origin", f"{TURN_COMMIT.name}/0/1".encode())]
    key = f"{TENANT}:{user}".encode()
    letter = Stored(TURN_COMMIT.dead_letter, key=key, value=orjson.dumps(body), headers=headers)
    await publish(rig.bootstrap, [letter])
    answer = await rig.http.get("/v1/dead-letters", params={"tenant_id": TENANT, "user_id": user})
    (found,) = answer.json()["letters"]
    return found["letter_id"]


async def _kill_at_random(rig: Rig, dice: random.Random) -> None:
    for name in ("relay", "compose") * often(4, short=1):
        await asyncio.sleep(dice.uniform(0.5, 2))
        await rig.kill(name)


async def _redrive(rig: Rig, letter: str, within_s: float) -> bool:
    """Whether the command reported the letter as redriven, now or earlier; killed on timeout."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.cli", "dlq", "redrive", letter, "--reason", "mended", "--by", "suite"),
        env={**os.environ, "SMARTBRAIN_URL": str(httpx.URL(rig.place.http))},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        return await asyncio.wait_for(process.wait(), within_s) == 0
    except TimeoutError:
        process.kill()
        await process.wait()
        return False
