"""What tests of more than one function stand on: PostgreSQL with a template, a broker, a running system."""

import os
from collections.abc import AsyncGenerator, Generator

import pytest

from shared.bus.topics import ensure_topics
from shared.embedded.broker_process import EmbeddedBroker
from shared.reading import learned, stated
from shared.telemetry import configure_logs
from tests.system.databases import Databases, server
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for


@pytest.fixture(scope="session", autouse=True)
def logs() -> None:
    """The product's own log lines stand in the reports of failures."""
    configure_logs("warning")


@pytest.fixture
def patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services of this process read by patterns alone: what a model adds must not hang on what learned weights find."""
    monkeypatch.setattr(learned, "SURE", 1.0)
    monkeypatch.setattr(learned, "CHANGES", 1.0)
    monkeypatch.setattr(stated, "_suspect", lambda *_: None)


@pytest.fixture(scope="session")
async def databases(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Databases]:
    """The PostgreSQL server of this run."""
    with server(tmp_path_factory.mktemp("pg")) as dsn:
        found = Databases(dsn)
        await found.prepare()
        yield found


@pytest.fixture
def dsn(databases: Databases) -> str:
    """A database of the test's own."""
    return databases.fresh()


@pytest.fixture(scope="session")
def broker_address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """host:port of the broker of this run: SMARTBRAIN_KAFKA_BOOTSTRAP, or an embedded one."""
    given = os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP")
    if given:
        yield given
        return
    with EmbeddedBroker(tmp_path_factory.mktemp("kafka") / "data") as broker:
        yield broker.bootstrap


@pytest.fixture(scope="session")
async def kafka(broker_address: str) -> str:
    """The broker of this run, with every topic."""
    await ensure_topics(broker_address)
    return broker_address


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, on a database of the module's own; tests keep apart by tenant, and no round of upkeep begins."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), evolution={"every_s": 3600})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


@pytest.fixture
def person(system: System) -> Person:
    """A user whom nobody has heard of."""
    return Person(system)
