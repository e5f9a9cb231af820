"""Every process says that it is there and what is wrong with it; compose's /ready shows the whole of it."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from shared import clock
from shared.db import Database
from shared.errors import TransientError
from shared.service import Service
from shared.settings import SERVICES
from shared.store import members
from shared.telemetry import frames, logger

SILENT = "silent"
"""What is said of a service of which no process has said anything lately."""
REPORTS = 4
"""So often a process says that it is there, in the time after which it counts as silent."""


@asynccontextmanager
async def present(db: Database, services: Sequence[Service], silent_after_s: float) -> AsyncGenerator[None]:
    """While the block lasts the services of this process are seen by the others."""
    member = clock.uuid7()

    async def report_forever() -> None:
        while True:
            problems: dict[str, list[str]] = {}
            try:
                problems = {each.name: await _problems(each) for each in services}
                async with db.system() as conn:
                    await members.report(conn, member, problems)
            except TransientError as error:
                logger().warning("presence_waits", error=str(error))
            except Exception as error:  # noqa: BLE001 # whoever cannot say that it is there goes on working
                logger().error("presence_broke", **frames(error))
            await asyncio.sleep(silent_after_s / REPORTS if not any(problems.values()) else min(1.0, silent_after_s))

    reporting = asyncio.create_task(report_forever(), name="presence")
    try:
        yield
    finally:
        reporting.cancel()
        await asyncio.gather(reporting, return_exceptions=True)
        with suppress(Exception):
            async with asyncio.timeout(1), db.system() as conn:
                await members.leave(conn, member)


async def _problems(service: Service) -> list[str]:
    state = await service.ready()
    stalled = [f"{name} stalled" for name in service.stalled()]
    return [*(name for name, usable in state.items() if not usable), *stalled]


async def load_problems(db: Database, silent_after_s: float) -> dict[str, list[str]]:
    """By service what is wrong with it: nothing where one of its processes is well, `silent` where none was heard."""
    try:
        async with asyncio.timeout(2), db.system() as conn:
            found = await members.load_problems(conn, timedelta(seconds=silent_after_s))
    except (TransientError, TimeoutError):
        found = {}
    return {name: list(min(found[name], key=len)) if name in found else [SILENT] for name in SERVICES}
