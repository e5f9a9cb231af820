"""Work that a conversation alone does not create: erasures, and pages that turns cite."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count

import httpx

from tests.faults.judge import Figures, ask
from tests.faults.load import TENANT
from tests.faults.rig import Rig
from tests.long import often
from tests.system.cited import work
from tests.system.wait import wait_for

Check = Callable[[Figures], Awaitable[None]]
numbers = count()
SECRET = "Brunhilde"


async def post(rig: Rig, path: str, body: dict[str, object]) -> dict[str, object]:
    """The response of compose, once it responds."""
    while True:
        try:
            answer = await rig.http.post(path, json=body, timeout=10)
        except httpx.HTTPError:
            await asyncio.sleep(0.1)
            continue
        if answer.is_success:
            return answer.json()
        await asyncio.sleep(0.1)


async def ask_for_erasures(rig: Rig) -> Check:
    """Users are remembered, then erased; the check: no data remains, and each erasure was completed once."""
    users = [f"gone-{next(numbers)}" for _ in range(often(40, short=4))]
    for user in users:
        said = [{"role": "user", "content": f"My therapist is called {SECRET}."}]
        whose = {"tenant_id": TENANT, "user_id": user, "session_id": "s"}
        await post(rig, "/v1/turns", {**whose, "messages": said, "idempotency_key": user})
    await wait_for(lambda: not _count(rig, users, "turns", "outcome_at IS NULL"), "they are known")
    assert _count(rig, users, "memory_items") >= len(users)
    for user in users:
        await post(rig, "/v1/erasures", {"tenant_id": TENANT, "user_id": user, "scope": "all"})

    async def check(figures: Figures) -> None:
        def over() -> bool:
            return _count(rig, users, "tombstones", "status = 'completed'") == len(users)

        try:
            await wait_for(over, "every erasure is completed", 60)
        except AssertionError as error:
            figures.problems.append(str(error))
        if left := _count(rig, users, "memory_items"):
            figures.problems.append(f"{left} memories are left of those who were erased")
        told = "SELECT count(*) AS n FROM conversation_events WHERE content::text LIKE %(words)s"
        if left := ask(rig, told, words=f"%{SECRET}%")[0]["n"]:
            figures.problems.append(f"{left} messages are left of those who were erased")

    return check


async def cite_pages(rig: Rig) -> Check:
    """Users cite a page and create a document; the check: the knowledge side has both, once."""
    users = [f"cites-{next(numbers)}" for _ in range(often(40, short=4))]
    for user in users:
        whose = {"tenant_id": TENANT, "user_id": user, "session_id": "s", "idempotency_key": user}
        await post(rig, "/v1/turns", {**whose, **work("en")})

    async def check(figures: Figures) -> None:
        def over() -> bool:
            return _count(rig, users, "resources", "state = 'ingested'") == 2 * len(users)

        try:
            await wait_for(over, "every page is ingested", 60)
        except AssertionError as error:
            figures.problems.append(str(error))
        given = [each["whose"][2] for each in rig.rag.ingested.values() if each["whose"][2] in users]
        if len(given) != 2 * len(users):
            figures.problems.append(f"the knowledge side has {len(given)} pages of {2 * len(users)}")

    return check


def _count(rig: Rig, users: list[str], table: str, where: str = "true") -> int:
    """The number of their rows in the table; -1 while the database is unavailable."""
    statement = f"SELECT count(*) AS n FROM {table} WHERE user_id = ANY(%(users)s) AND {where}"  # noqa: S608
    answer = ask(rig, statement, users=users)
    return answer[0]["n"] if answer else -1
