"""A unit test starts nothing and touches no network; what it may import stands in tests/.importlinter."""

import socket
import subprocess

import pytest


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a connection or starts a process fails."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a unit test starts nothing and touches no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "bind", refuse)
    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
