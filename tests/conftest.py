"""Common fixtures: PostgreSQL with a template, a broker, a running system.

Unit tests use none of them and import none of them: a fixture imports what it needs at its first use.
"""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from tests.system.databases import Databases
    from tests.system.person import Person
    from tests.system.running import System


LONGEST = (
    "test_processes",
    "test_erasure_states",
    "test_sessions_model",
    "test_hostile_model",
    "test_agent_experience",
    "test_broker_lost",
    "test_backup",
    "test_rebuild",
    "test_rebalancing",
    "test_planner",
    "test_replays",
    "test_model",
    "test_histories",
)
"""The files that take longest, in this order: they begin first, so that no process works alone at the end."""


MEMORY = Path("/dev/shm")  # noqa: S108 # pytest makes a folder of its own in it
ROOM = 8 << 30


def pytest_configure() -> None:
    """Temporary folders are in memory if there is room: databases of tests are files by the ten thousand."""
    gc.disable()  # until all is loaded and collected: it stays
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM and _may_execute(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_collection_finish() -> None:
    """Excludes loaded and collected objects from garbage collection."""
    gc.freeze()
    gc.enable()


def _may_execute(folder: Path) -> bool:
    return not os.statvfs(folder).f_flag & os.ST_NOEXEC


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Among the files that are not long those of the shared system come first: each process starts it once."""
    sharing = {item.path for item in items if _shares(item)}
    place = {name: n for n, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (place.get(item.path.stem, len(LONGEST)), item.path not in sharing))


def _shares(item: pytest.Item) -> bool:
    found = getattr(item, "_fixtureinfo").name2fixturedefs.get("system")  # noqa: B009 # pytest has no public attribute
    return bool(found) and found[-1].baseid == "tests"


@pytest.fixture
def patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services of this process use patterns only, so that model tests do not depend on learned weights."""
    from shared.extraction import changes, lasting, learned

    monkeypatch.setattr(learned, "to_statement", lambda *_: None)
    monkeypatch.setattr(learned, "CHANGES", 1.0)
    monkeypatch.setattr(lasting, "LEAST", 0.0)
    monkeypatch.setattr(lasting, "PLAIN", 0.0)
    monkeypatch.setattr(changes, "add_suspicions", lambda *_: None)


@pytest.fixture(scope="session")
async def databases(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Databases]:
    """The PostgreSQL server of this run."""
    from shared.telemetry import configure_logs
    from tests.system.databases import Databases, server

    configure_logs("warning")  # the product's own log lines are in the reports of failures
    folder = tmp_path_factory.mktemp("pg")
    with server(folder) as dsn:
        found = Databases(dsn)
        await found.prepare()
        yield found
    shutil.rmtree(folder)


@pytest.fixture
def dsn(databases: Databases) -> Generator[str]:
    """A new database."""
    fresh = databases.fresh()
    yield fresh
    databases.drop(fresh)


@pytest.fixture(scope="session")
def broker_address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """host:port of the broker of this run: SMARTBRAIN_KAFKA_BOOTSTRAP, or an embedded one."""
    given = os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP")
    if given:
        yield given
        return
    from shared.embedded.broker_process import EmbeddedBroker

    with EmbeddedBroker(tmp_path_factory.mktemp("kafka") / "data") as broker:
        yield broker.bootstrap


@pytest.fixture(scope="session")
async def kafka(broker_address: str) -> str:
    """The broker of this run, with every topic."""
    from shared.bus.access import KafkaAccess
    from shared.bus.topics import ensure_topics

    await ensure_topics(KafkaAccess(broker_address))
    return broker_address


@pytest.fixture(scope="session")
async def one_system(
    databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[System]:
    """The system shared by the tests of this process; no round of upkeep begins in it."""
    from tests.system.running import policy_file, settings_for, sharing

    policy = policy_file(tmp_path_factory.mktemp("policy"), evolution={"every_s": 3600})
    async with sharing(settings_for(databases.fresh(), kafka, policy=policy)) as shared:
        yield shared


@pytest.fixture(scope="module")
async def system(one_system: System) -> System:
    """Every service once, ready, on a database that other tests have used: tests are isolated by tenant."""
    await one_system.whole()
    return one_system


@pytest.fixture
def person(system: System) -> Person:
    """A new user."""
    from tests.system.person import Person

    return Person(system)
