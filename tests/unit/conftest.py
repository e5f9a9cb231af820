"""A unit test starts no process and uses no network; tests/.importlinter limits its imports."""

import socket
import subprocess

import pytest


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a connection or starting a process fails the test."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a unit test starts nothing and touches no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "bind", refuse)
    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
