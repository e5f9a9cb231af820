"""A SmartBrain of processes on one data folder, which tests kill and restart."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from services.cli.data_folder import Running, find
from services.cli.supervisor import Supervisor
from shared.settings import Settings
from tests.system import databases
from tests.system.running import rest
from tests.system.wait import wait_for


class Machine:
    """The interface of a running system, however it runs."""

    def __init__(self, place: Running) -> None:
        self.place = place
        self.http = httpx.AsyncClient(base_url=place.http, timeout=60)

    @property
    def dsn(self) -> str:
        """The database's address."""
        return self.place.database

    def number(self, statement: str, **params: Any) -> int:
        """The only number in the result."""
        return databases.number(self.dsn, statement, **params)

    async def settled(self) -> set[str]:
        """Waits until all accepted turns have outcomes; their number."""
        open_turns = "SELECT count(*) FROM turns WHERE outcome_at IS NULL"
        await wait_for(lambda: not self.number(open_turns), "every accepted turn has an outcome")
        return {str(row["turn_id"]) for row in databases.rows(self.dsn, "SELECT turn_id FROM turns")}


@asynccontextmanager
async def supervised(settings: Settings) -> AsyncGenerator[tuple[Supervisor, Machine]]:
    """A supervisor in this process with its services in their own processes; data is never deleted by age."""
    if settings.kafka_bootstrap:
        await rest(settings.kafka_bootstrap)
    with Supervisor(settings) as supervisor:
        place = await asyncio.to_thread(supervisor.start)
        machine = Machine(place)
        try:
            yield supervisor, machine
        finally:
            await machine.http.aclose()
            await asyncio.to_thread(supervisor.stop)


@contextmanager
def command(data: Path, environment: dict[str, str]) -> Generator[subprocess.Popen[bytes]]:
    """`smartbrain up` as a process, killed at the end if it still runs."""
    with data.with_name(f"{data.name}.out").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.cli", "up", "--port", "0", "--data", str(data)],
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(60)


async def found(data: Path, process: subprocess.Popen[bytes]) -> Machine:
    """The system that this process runs, once it reports that it is up."""

    def up() -> Running | None:
        assert process.poll() is None, data.with_name(f"{data.name}.out").read_text()[-3000:]
        place = find(data)
        return place if place and place.pid == process.pid else None

    place = await wait_for(up, "smartbrain up")
    assert place
    return Machine(place)


def list_descendants(pid: int) -> list[int]:
    """The process and all its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    tree = [pid]
    for each in tree:
        tree += children.get(each, [])
    return tree


def kill_tree(pid: int) -> None:
    """Kills the process and all its descendants, as `kill -9` does."""
    for each in list_descendants(pid):
        with suppress(ProcessLookupError):  # a child may die with its parent
            os.kill(each, signal.SIGKILL)
