"""What tests of more than one function stand on: PostgreSQL with a template, a broker, a running system.

A unit test asks for none of it and imports none of it: what a fixture needs is imported where it is asked for.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from tests.system.databases import Databases
    from tests.system.person import Person
    from tests.system.running import System


LONGEST = (
    "test_erasure_states",
    "test_backup",
    "test_hostile_model",
    "test_planner",
    "test_processes",
    "test_rebuild",
    "test_budget",
    "test_feedback",
    "test_history",
    "test_histories",
)
"""Files that take longest: they begin first, so that no process works alone at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests share one system come first: each process starts it once."""
    sharing = {item.path for item in items if _shares(item)}
    items.sort(key=lambda item: (item.path not in sharing, not item.path.stem.endswith(LONGEST)))


def _shares(item: pytest.Item) -> bool:
    found = getattr(item, "_fixtureinfo").name2fixturedefs.get("system")  # noqa: B009 # pytest has no other door
    return bool(found) and found[-1].baseid == "tests"


@pytest.fixture
def patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services of this process read by patterns alone: what a model adds must not hang on what learned weights find."""
    from shared.reading import learned, stated

    monkeypatch.setattr(learned, "SURE", 1.0)
    monkeypatch.setattr(learned, "CHANGES", 1.0)
    monkeypatch.setattr(stated, "_suspect", lambda *_: None)


@pytest.fixture(scope="session")
async def databases(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Databases]:
    """The PostgreSQL server of this run."""
    from shared.telemetry import configure_logs
    from tests.system.databases import Databases, server

    configure_logs("warning")  # the product's own log lines stand in the reports of failures
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
    from shared.embedded.broker_process import EmbeddedBroker

    with EmbeddedBroker(tmp_path_factory.mktemp("kafka") / "data") as broker:
        yield broker.bootstrap


@pytest.fixture(scope="session")
async def kafka(broker_address: str) -> str:
    """The broker of this run, with every topic."""
    from shared.bus.topics import ensure_topics

    await ensure_topics(broker_address)
    return broker_address


@pytest.fixture(scope="session")
async def one_system(
    databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[System]:
    """The system that the tests of this process share; no round of upkeep begins in it."""
    from tests.system.running import policy_file, settings_for, sharing

    policy = policy_file(tmp_path_factory.mktemp("policy"), evolution={"every_s": 3600})
    async with sharing(settings_for(databases.fresh(), kafka, policy=policy)) as shared:
        yield shared


@pytest.fixture(scope="module")
async def system(one_system: System) -> System:
    """Every service once, ready, on a database that other tests have used: tests keep apart by tenant."""
    await one_system.whole()
    return one_system


@pytest.fixture
def person(system: System) -> Person:
    """A user whom nobody has heard of."""
    from tests.system.person import Person

    return Person(system)
