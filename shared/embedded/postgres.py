"""PostgreSQL 18 with pgvector and pg_trgm from a wheel: no installation and no network, for root and other users."""

import signal
import subprocess
import time
from pathlib import Path
from typing import IO, Self

from shared.embedded import postgres_orphans
from shared.embedded.account import Account, server_account
from shared.embedded.ownership import OwnedError, claim
from shared.embedded.postgres_files import (
    DURABLE,
    THROWAWAY,
    EmbeddedPostgresError,
    create_cluster,
    environment,
    installation,
    reachable,
)
from shared.embedded.postgres_sockets import (
    connection_string,
    remove_folder,
    remove_left_sockets,
    socket_folder,
)
from shared.embedded.process import Child, spawn

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError"]

LOG_LIMIT = 16 << 20
READY_S = 180.0


class EmbeddedPostgres:
    """One PostgreSQL server on one data folder, owned by this process and ended with it.

    `cache` keeps the unpacked server between runs. `durable=False` disables fsync, for tests only. It listens on a Unix
    socket that only its owner can access.
    """

    port = 5432
    """Part of the socket's name."""
    listens_on = ""
    """No address of a network."""

    def __init__(self, data: Path, cache: Path, *, durable: bool = True) -> None:
        self._data = data.absolute()
        self._cache = cache
        self._durable = durable
        self._socket_folder = self._data
        self._process: Child | None = None
        self._lock: IO[str] | None = None

    def __enter__(self) -> Self:
        """The started server."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops it."""
        self.stop()

    @property
    def dsn(self) -> str:
        """Connection string over the Unix socket, as superuser `postgres`, database `postgres`."""
        where = {"host": self._socket_folder, "port": self.port}
        return connection_string(**where, user="postgres", dbname="postgres")

    @property
    def pid(self) -> int:
        """The postmaster's process id; raises EmbeddedPostgresError before `start`."""
        if self._process is None:
            raise EmbeddedPostgresError("PostgreSQL was not started")
        return self._process.pid

    @property
    def log(self) -> Path:
        """The server's log, beside the data folder."""
        return self._data.with_name(f"{self._data.name}.log")

    def start(self) -> None:
        """Accepts connections when it returns; takes about 30 ms, two seconds in the first run. No effect if started.

        Raises EmbeddedPostgresError if another live process owns the folder or the server does not start.
        """
        if self._process is not None and self._process.poll() is None:
            return
        self._take_ownership()
        try:
            account = self._account()
            installed = installation(self._cache, account)
            create_cluster(installed, self._data, account, sync=self._durable)
            if not postgres_orphans.clear(self._data):
                raise EmbeddedPostgresError(f"a PostgreSQL of an earlier run is still running in {self._data}")
            self._socket_folder = socket_folder(self._data, account)
            remove_left_sockets(self._socket_folder)
            self._launch(installed, account)
        except BaseException:
            self.stop()
            raise

    def stop(self, timeout: float = 30.0) -> None:
        """Stops cleanly (within `timeout` seconds, otherwise by force) and releases the folder; no
        effect if stopped.
        """
        if self._process is not None:
            for asked in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
                if wait_for_end(self._process, asked, timeout):
                    break
            self._process = None
        self._release()

    def kill(self) -> None:
        """Kills the postmaster like `kill -9`; the next start recovers. For tests."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
        self._release()

    def _take_ownership(self) -> None:
        if self._lock is not None:
            return
        self._data.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock = claim(self._data.with_name(f"{self._data.name}.lock"))
        except OwnedError as error:
            raise EmbeddedPostgresError(f"{self._data} is already run by process {error.owner}") from error

    def _release(self) -> None:
        if self._lock is not None:
            remove_folder(self._socket_folder, self._data)
            self._lock.close()
            self._lock = None

    def _account(self) -> Account:
        try:
            account = server_account(self._data)
        except LookupError as error:
            raise EmbeddedPostgresError(str(error)) from error
        if self._data.exists() and not account.drop and self._data.stat().st_uid != account.uid:
            owner = self._data.stat().st_uid
            raise EmbeddedPostgresError(f"{self._data} belongs to uid {owner}: run as that user or as root")
        return account

    def _launch(self, installed: Path, account: Account) -> None:
        with reachable(self._data, account) as (name, fds), self._open_log() as log:
            self._process = spawn(
                [installed / "bin" / "postgres", "-D", name, *self._options()],
                death_signal=signal.SIGINT,
                env=environment(installed, Path("/")),
                log=log,
                account=account,
                pass_fds=fds,
            )
        if not self._became_ready():
            raise EmbeddedPostgresError(f"PostgreSQL did not start on {self._data}:\n{self._tail()}")

    def _options(self) -> list[str]:
        socket_folder = "." if self._socket_folder == self._data else str(self._socket_folder)
        options = ["-k", socket_folder, "-p", str(self.port), "-h", self.listens_on]
        for name, value in (DURABLE if self._durable else THROWAWAY).items():
            options += ["-c", f"{name}={value}"]
        return options

    def _open_log(self) -> IO[bytes]:
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT:
            self.log.replace(self.log.with_suffix(".log.1"))
        return self.log.open("ab")

    def _became_ready(self) -> bool:
        """Line 8 of postmaster.pid is `ready` once connections are accepted; recovery after a crash takes a while."""
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline and self._process is not None and self._process.poll() is None:
            try:
                lines = (self._data / "postmaster.pid").read_text().splitlines()
            except FileNotFoundError:
                lines = []
            if len(lines) >= 8 and lines[0] == str(self._process.pid) and lines[7].strip() == "ready":
                return True
            time.sleep(0.005)
        return False

    def _tail(self) -> str:
        return self.log.read_bytes()[-2000:].decode(errors="replace") if self.log.exists() else "(no log)"


def wait_for_end(process: Child, asked: signal.Signals, timeout: float) -> bool:
    if process.poll() is None:
        process.send_signal(asked)
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        return False
    return True
