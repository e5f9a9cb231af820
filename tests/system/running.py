"""A SmartBrain in the test's process: each service with its own runtime, HTTP without a socket."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import yaml
from pydantic import SecretStr

from services.analyzer import app as analyzer
from services.compose import app as compose
from services.erasure import app as erasure
from services.evolver import app as evolver
from services.governor import app as governor
from services.librarian import app as librarian
from services.observer import app as observer
from services.relay import app as relay
from shared.connections import BoundedProtocol, http_config
from shared.runtime import Runtime, open_runtime
from shared.service import Service
from shared.settings import Settings
from tests.system import databases
from tests.system.serving import serving
from tests.system.wait import wait_for

BUILD = {
    "compose": compose.build,
    "relay": relay.build,
    "observer": observer.build,
    "analyzer": analyzer.build,
    "evolver": evolver.build,
    "librarian": librarian.build,
    "erasure": erasure.build,
    "governor": governor.build,
}
SERVICES = tuple(BUILD)
WORKERS = ("observer", "analyzer", "evolver")
PATIENT = Path(__file__).with_name("patient.yml")
"""A policy with deadlines that a busy machine meets."""


def settings_for(dsn: str, bootstrap: str, **more: Any) -> Settings:
    """The settings of a system on this database and broker, with long deadlines unless `policy` sets others."""
    more.setdefault("policy", PATIENT)
    return Settings(database_url=SecretStr(dsn), kafka_bootstrap=bootstrap, **more)


def policy_file(folder: Path, **slices: Mapping[str, Any]) -> Path:
    """A brain.yml that differs from the default of the tests in these values."""
    path = folder / "brain.yml"
    values: dict[str, Any] = yaml.safe_load(PATIENT.read_text())
    for name, changed in slices.items():
        values[name] = {**values.get(name, {}), **changed}
    path.write_text(yaml.safe_dump(values))
    return path


class Running:
    """One service that runs in this process."""

    def __init__(self, name: str, rt: Runtime, service: Service, stack: AsyncExitStack) -> None:
        self.name = name
        self.rt = rt
        self.service = service
        self._stack = stack
        self.task = asyncio.create_task(service.run(), name=name)

    async def ready(self) -> bool:
        """Whether it is ready; raises the error that ended it."""
        if self.task.done():
            self.task.result()
        return all((await self.service.ready()).values())

    async def stop(self) -> None:
        """Stops it as SIGTERM does: work in progress is finished."""
        self.task.cancel()
        with suppress(asyncio.CancelledError):
            await self.task
        await self._stack.aclose()


class System:
    """The running services, and HTTP to compose."""

    def __init__(self, settings: Settings, services: tuple[str, ...] = SERVICES) -> None:
        self.settings = settings
        self.services = services
        self.running: list[Running] = []
        self._http: httpx.AsyncClient | None = None

    @property
    def dsn(self) -> str:
        """The database's address."""
        assert self.settings.database_url
        return self.settings.database_url.get_secret_value()

    @property
    def bootstrap(self) -> str:
        """The broker's address."""
        assert self.settings.kafka_bootstrap
        return self.settings.kafka_bootstrap

    @property
    def http(self) -> httpx.AsyncClient:
        """Compose over HTTP."""
        assert self._http
        return self._http

    def __getitem__(self, name: str) -> Running:
        """The latest service of that name."""
        return next(each for each in reversed(self.running) if each.name == name)

    def settings_of(self, name: str) -> Settings:
        """The settings of one service."""
        del name
        return self.settings

    async def start(self, *names: str) -> list[Running]:
        """Starts these services and waits until they are ready; one that runs already gets a second instance."""
        fresh: list[Running] = []
        for name in names:
            stack = AsyncExitStack()
            rt = await stack.enter_async_context(open_runtime(self.settings_of(name), name))
            service = BUILD[name](rt)
            fresh.append(Running(name, rt, service, stack))
            self.running.append(fresh[-1])
            if service.http is not None:
                transport = httpx.ASGITransport(app=service.http, raise_app_exceptions=False)
                self._http = httpx.AsyncClient(transport=transport, base_url="http://compose")
        for each in fresh:
            await wait_for(each.ready, f"{each.name} ready")
        return fresh

    async def stop(self, *names: str) -> None:
        """Stops the latest service of each of these names."""
        stopping = [self[name] for name in names]
        self.running = [each for each in self.running if each not in stopping]
        await asyncio.gather(*(each.stop() for each in stopping))

    async def close(self) -> None:
        """Stops everything."""
        running, self.running = self.running, []
        await asyncio.gather(*(each.stop() for each in running))

    async def whole(self) -> None:
        """Restarts services until each of the system's services runs once.

        Other shared systems on its broker pause.
        """
        for other in _shared:
            if other is not self and other.bootstrap == self.bootstrap:
                await other.close()
        if sorted(each.name for each in self.running) != sorted(self.services):
            await self.close()
            await self.start(*self.services)

    def number(self, statement: str, **params: Any) -> int:
        """The only number in the result."""
        return databases.number(self.dsn, statement, **params)

    def rows(self, statement: str, **params: Any) -> list[dict[str, Any]]:
        """The result for the superuser."""
        return databases.rows(self.dsn, statement, **params)

    async def change(self, statement: str, **params: Any) -> list[dict[str, Any]]:
        """Changes rows or tables as the superuser while the services run."""
        return await databases.change(self.dsn, statement, **params)

    def unrecorded(self) -> int:
        """The number of answered packages that are not recorded yet."""
        doors = [each.service.http for each in self.running if each.service.http is not None]
        return sum(door.state.recorder.open for door in doors)

    async def settled(self) -> int:
        """Waits until all accepted turns have outcomes and nothing waits to be recorded; the number of turns.

        Every package is in its tables, and the outbox is empty.
        """

        def over() -> bool:
            return not self.unrecorded() and not self.number(
                "SELECT (SELECT count(*) FROM turns WHERE outcome_at IS NULL)"
                " + (SELECT count(*) FROM event_outbox WHERE failed_at IS NULL)"
            )

        await wait_for(over, "every accepted turn has an outcome, every package its rows")
        return self.number("SELECT count(*) FROM turns")


_shared: list[System] = []
"""Shared systems; those on one broker run in turn, because their consumers would take each other's records."""


@asynccontextmanager
async def sharing(settings: Settings, services: tuple[str, ...] = SERVICES) -> AsyncGenerator[System]:
    """A system that starts at its first use and stops while another runs on its broker."""
    system = System(settings, services)
    _shared.append(system)
    try:
        yield system
    finally:
        _shared.remove(system)
        await system.close()


async def rest(bootstrap: str | None = None) -> None:
    """Stops the shared system on this broker or on all, so that its consumers take no records of others."""
    for system in _shared:
        if bootstrap in (None, system.bootstrap):
            await system.close()


@asynccontextmanager
async def running(settings: Settings, services: tuple[str, ...] = SERVICES) -> AsyncGenerator[System]:
    """The services in this process, ready; stopped at the end."""
    await rest(settings.kafka_bootstrap)
    system = System(settings, services)
    try:
        await system.start(*services)
        yield system
    finally:
        await system.close()


@asynccontextmanager
async def listening(system: System, protocol: type[BoundedProtocol] = BoundedProtocol) -> AsyncGenerator[str]:
    """Compose's address on a real socket."""
    served = system["compose"].service.http
    assert served
    async with serving(served, config=http_config(served, protocol)) as url:
        yield url
