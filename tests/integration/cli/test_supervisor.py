"""The supervisor continues when a process cannot be restarted at once."""

import signal
import threading
from pathlib import Path

import pytest

from services.cli import supervisor as module
from services.cli.process import is_running
from services.cli.supervisor import Supervisor
from shared.embedded.postgres import EmbeddedPostgres, EmbeddedPostgresError
from shared.settings import Settings


@pytest.mark.parametrize("error", [EmbeddedPostgresError("no space left"), OSError(28, "No space left on device")])
def test_a_database_that_cannot_start_for_a_while_is_started_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(module, "REST_S", 0.05)
    start, refusals = EmbeddedPostgres.start, [error, error]

    def refuse_at_first(postgres: EmbeddedPostgres) -> None:
        if refusals:
            raise refusals.pop()
        start(postgres)
        machine._stopping.set()

    settings = Settings(data=tmp_path / "data", kafka_bootstrap="127.0.0.1:9")
    with Supervisor(settings, services=(), durable=False) as machine:
        postgres = machine.postgres
        assert postgres
        postgres.start()
        postgres.kill()
        monkeypatch.setattr(EmbeddedPostgres, "start", refuse_at_first)
        guard = threading.Timer(60, machine._stopping.set)
        guard.start()
        machine.watch()
        guard.cancel()
        assert refusals == []
        assert is_running(lambda: postgres.pid)
