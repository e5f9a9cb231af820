"""The broker under test: the embedded one, or the one that SMARTBRAIN_KAFKA_BOOTSTRAP names."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from shared.embedded.broker_process import EmbeddedBroker


@pytest.fixture(scope="session")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """host:port of the broker under test."""
    given = os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP")
    if given:
        yield given
        return
    with EmbeddedBroker(tmp_path_factory.mktemp("broker") / "data") as broker:
        yield broker.bootstrap


@pytest.fixture
def embedded(tmp_path: Path) -> Generator[EmbeddedBroker]:
    """An embedded broker for one test, which may kill and restart it. Skipped if another broker is under test."""
    if os.environ.get("SMARTBRAIN_KAFKA_BOOTSTRAP"):
        pytest.skip("about the embedded broker's own files and process")
    with EmbeddedBroker(tmp_path / "data") as broker:
        yield broker
