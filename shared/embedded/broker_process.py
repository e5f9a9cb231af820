"""The embedded broker as a child process that ends with its parent."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

import shared
from shared.embedded.broker.settings import HOST, BrokerError
from shared.embedded.process import Child, spawn

__all__ = ["BrokerError", "EmbeddedBroker"]

LOG_LIMIT = 16 << 20


class EmbeddedBroker:
    """One broker process on one data folder; after a stop or a kill, `start` restarts it on the same port."""

    def __init__(self, data: Path, *, auto_create: bool = True) -> None:
        self.data = data.absolute()
        self._port = 0
        self._options = () if auto_create else ("--no-auto-create",)
        self._process: Child | None = None

    def __enter__(self) -> Self:
        """The started broker."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops it."""
        self.stop()

    @property
    def bootstrap(self) -> str:
        """host:port for clients; raises BrokerError before `start`."""
        if self._port == 0:
            raise BrokerError("the broker was not started")
        return f"{HOST}:{self._port}"

    @property
    def pid(self) -> int:
        """The broker's process id; raises BrokerError while it is not running."""
        if self._process is None:
            raise BrokerError("the broker is not running")
        return self._process.pid

    @property
    def log(self) -> Path:
        """The broker's log, beside the data folder."""
        return self.data.with_name(f"{self.data.name}.log")

    def start(self, timeout: float = 180.0) -> None:
        """Serves clients when it returns (within `timeout` seconds); no effect if started. Raises BrokerError."""
        if self._process is not None and self._process.poll() is None:
            return
        self.data.parent.mkdir(parents=True, exist_ok=True)
        address = self.data.with_name(f"{self.data.name}.address.{os.getpid()}")
        address.unlink(missing_ok=True)
        self._launch(address)
        try:
            self._port = int(self._await_address(address, timeout).rpartition(":")[2])
        except BaseException:
            self.kill()
            raise
        finally:
            address.unlink(missing_ok=True)

    def stop(self, timeout: float = 15.0) -> None:
        """Stops cleanly (within `timeout` seconds, otherwise by force); no effect if stopped."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def kill(self) -> None:
        """Kills it like `kill -9`; the next start reads its log. For tests."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _launch(self, address: Path) -> None:
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.1"))
        command = [sys.executable, "-m", "shared.embedded.broker", "--dir", self.data, "--address-file", address]
        with self.log.open("ab") as log:
            self._process = spawn(
                [*command, "--port", str(self._port), *self._options],
                death_signal=signal.SIGTERM,
                env=_environment(),
                log=log,
            )

    def _await_address(self, address: Path, timeout: float) -> str:
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if address.exists():
                return address.read_text()
            if self._process is None or self._process.poll() is not None:
                raise BrokerError(f"the broker did not start on {self.data}:\n{self._tail()}")
            time.sleep(0.005)
        raise BrokerError(f"the broker was not ready within {timeout:g} s on {self.data}:\n{self._tail()}")

    def _tail(self) -> str:
        return self.log.read_bytes()[-2000:].decode(errors="replace")


def _environment() -> dict[str, str]:
    """The environment of this process, with this `shared` package first on the path, whatever the child's folder."""
    root = str(Path(next(iter(shared.__path__))).parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))}
