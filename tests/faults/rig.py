"""One system of processes for the whole suite, supervised as by `smartbrain up`."""

import asyncio
import os
import shutil
import signal
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import pytest

from services.cli.supervisor import MEND_EVERY_S, Process, Supervisor
from shared.embedded.broker_process import EmbeddedBroker
from shared.embedded.postgres import EmbeddedPostgres
from shared.files import CACHE
from shared.settings import ALL, Settings
from tests.faults import disk
from tests.kafka.apache_kafka import free_ports
from tests.ollama.server import ScriptedOllama, serve_ollama
from tests.rag.server import Rag, serve_rag
from tests.system.processes import Machine
from tests.system.running import policy_file

DELIVERY = {"fuse_share": 1.0}
"""Poison does not pause consumers, because the fuse has its own tests; all else has default values."""
CLOCKS = Path(__file__).with_name("clock")


class Apart(Supervisor):
    """Every service in its own process, with second instances and wrong clocks on request, the
    database on its own disk.
    """

    twins: dict[str, str]
    clocks: dict[str, int]

    def __init__(self, settings: Settings) -> None:
        self.twins, self.clocks = {}, {}
        self.disk_problem = ""
        super().__init__(settings)

    def _postgres(self, durable: bool) -> EmbeddedPostgres:
        self.disk_problem = disk.mount(self.data / "disk")
        return EmbeddedPostgres(self.data / "disk" / "postgres", CACHE / "postgres", durable=durable)

    @property
    def _services_by_process(self) -> dict[str, tuple[str, ...]]:
        return {name: (name,) for name in self._services} | {name: (of,) for name, of in self.twins.items()}

    def _environment(self, port_file: Path) -> dict[str, str]:
        found = super()._environment(port_file)
        if wrong := self.clocks.get(port_file.stem):
            found |= {"FAULTS_CLOCK_S": str(wrong), "PYTHONPATH": f"{CLOCKS}{os.pathsep}{found['PYTHONPATH']}"}
        return found


class Rig(Machine):
    """The system, its servers, and the operations that break it."""

    def __init__(self, supervisor: Apart, ollama: ScriptedOllama, rag: Rag) -> None:
        super().__init__(supervisor.describe())
        self.supervisor, self.ollama, self.rag = supervisor, ollama, rag
        self._hands = threading.Lock()
        self._closing = threading.Event()
        self.ended_by: list[str] = []
        """The error that would have ended `smartbrain up`."""

    @property
    def bootstrap(self) -> str:
        """The broker's address."""
        return self.supervisor.bootstrap

    @property
    def postgres(self) -> EmbeddedPostgres:
        """The database's server."""
        assert self.supervisor.postgres
        return self.supervisor.postgres

    @property
    def broker(self) -> EmbeddedBroker:
        """The broker's process."""
        assert self.supervisor.broker
        return self.supervisor.broker

    def watch(self) -> None:
        """Supervises as `smartbrain up` does until the rig closes; records an error that would have ended it."""
        while not self._closing.wait(MEND_EVERY_S):
            with self._hands:
                try:
                    self.supervisor.try_to_mend()
                except Exception as error:  # noqa: BLE001 # it is reported with the scenario
                    self.ended_by.append(repr(error)[:300])

    def close(self) -> None:
        """Stops the supervision."""
        self._closing.set()

    @asynccontextmanager
    async def unwatched(self) -> AsyncGenerator[None]:
        """Suspends the supervision."""
        await asyncio.to_thread(self._hands.acquire)
        try:
            yield
        finally:
            self._hands.release()

    async def kill(self, name: str) -> None:
        """Kills the process of the service as `kill -9` does, even one that is just starting."""
        async with self.unwatched():
            child = self.supervisor.processes[name].child
            child.kill()
            await asyncio.to_thread(child.wait)

    async def restart(self, *names: str) -> None:
        """Stops and restarts these processes without waiting until they are ready."""
        async with self.unwatched():
            for name in names:
                if name in self.supervisor.processes:
                    child = self.supervisor.processes[name].child
                    child.terminate()
                    await asyncio.to_thread(child.wait, 30)
            for name in names:
                self.supervisor.launch(name)

    async def dismiss(self, name: str) -> None:
        """Stops the second instance and does not restart it."""
        async with self.unwatched():
            child = self.supervisor.processes.pop(name).child
            self.supervisor.twins.pop(name)
            child.terminate()
            await asyncio.to_thread(child.wait, 30)

    async def wipe_broker(self) -> None:
        """Kills the broker, deletes its data and restarts it with empty topics."""
        async with self.unwatched():
            await asyncio.to_thread(self.broker.kill)
            shutil.rmtree(self.broker.data)
            await asyncio.to_thread(self.broker.start)
            await self.supervisor.make_topics_anew()

    async def whole(self) -> bool:
        """Whether every process reports that it is ready."""
        return all([await self._is_ready(each) for each in list(self.supervisor.processes.values())])

    async def _is_ready(self, process: Process) -> bool:
        if process.child.poll() is not None or process.url is None:
            return False
        try:
            return (await self.http.get(f"{process.url}/ready", timeout=5)).status_code == 200
        except httpx.HTTPError:
            return False


@contextmanager
def paused(pid: int) -> Generator[None]:
    """Suspends the process."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@asynccontextmanager
async def rigged(folder: Path) -> AsyncGenerator[Rig]:
    """The running system, with a scripted model and a knowledge server; stopped at the end."""
    async with AsyncExitStack() as stack:
        ollama = await stack.enter_async_context(serve_ollama())
        rag = await stack.enter_async_context(serve_rag())
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        policy = policy_file(folder, delivery=DELIVERY, evolution={"every_s": 3600})
        given = {"policy": policy, "ollama_url": ollama.url, "knowledge_url": rag.url, "embedding_dimension": 64}
        for name, value in given.items():
            patch.setenv(f"SMARTBRAIN_{name.upper()}", str(value))
        supervisor = stack.enter_context(Apart(Settings(data=folder / "data", http_port=free_ports(1)[0], **given)))
        assert set(supervisor._services_by_process) == set(ALL)
        await asyncio.to_thread(supervisor.start)
        rig = Rig(supervisor, ollama, rag)
        watching = asyncio.create_task(asyncio.to_thread(rig.watch))
        try:
            yield rig
        finally:
            rig.close()
            await watching
            await rig.http.aclose()
            await asyncio.to_thread(supervisor.stop)
            disk.unmount(supervisor.data / "disk")
