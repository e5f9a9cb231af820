"""Everything on one machine: embedded defaults and one process a service, started, watched, restarted, stopped."""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import IO, Self
from urllib.request import urlopen

import orjson

from services.cli.data_folder import Running, forget, write
from services.cli.process import PORT_FILE, Process, is_live, is_running
from shared.embedded.broker_process import EmbeddedBroker
from shared.embedded.postgres import EmbeddedPostgres
from shared.embedded.process import spawn
from shared.errors import ConfigurationError, TransientError
from shared.files import CACHE
from shared.settings import ALL, FRONTS, URL, Settings, name_of
from shared.telemetry import logger

LIGHT = ("relay", "librarian", "erasure", "governor")
"""Mostly idle services: on one machine they share a process, which is named after the first of them."""
START_S = 180.0
STOP_S = 25.0
PROBE_S = 5.0
PROBE_EVERY_S = 2.0
MEND_EVERY_S = 0.5
REST_S = 2.0
"""Pause before a failed start is retried."""


class Supervisor:
    """A whole SmartBrain; leaving the `with` block stops it in the order in which nothing is lost."""

    def __init__(self, settings: Settings, *, services: tuple[str, ...] = ALL, durable: bool = True) -> None:
        self.settings = settings
        self.data = settings.data.absolute()
        self._services = services
        self._stopping = threading.Event()
        self._lock: IO[bytes] | None = None
        self.postgres = self._postgres(durable)
        self.broker = self._broker()
        self.processes: dict[str, Process] = {}
        self.needs_key = True
        self._ports: dict[str, int] = {}
        """Ports that others know: a picked port is kept over restarts."""

    def _postgres(self, durable: bool) -> EmbeddedPostgres | None:
        if not self.settings.embedded_database:
            return None
        return EmbeddedPostgres(self.data / "postgres", CACHE / "postgres", durable=durable)

    def _broker(self) -> EmbeddedBroker | None:
        if not self.settings.embedded_kafka:
            return None
        # a topic that a client's question makes has one partition, and whoever shares it with another gets none
        return EmbeddedBroker(self.data / "broker", auto_create=False)

    def __enter__(self) -> Self:
        self.data.mkdir(parents=True, exist_ok=True)
        self._lock = (self.data / "up.lock").open("wb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConfigurationError(f"another SmartBrain runs on {self.data}") from error
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._lock:
            self._lock.close()

    @property
    def dsn(self) -> str:
        """The database's address."""
        if self.settings.database_url:
            return self.settings.database_url.get_secret_value()
        assert self.postgres  # noqa: S101 # one of the two is always there
        return self.postgres.dsn

    @property
    def bootstrap(self) -> str:
        """The broker's address."""
        if self.settings.kafka_bootstrap:
            return self.settings.kafka_bootstrap
        assert self.broker  # noqa: S101 # one of the two is always there
        return self.broker.bootstrap

    def start(self, say: Callable[[str], None] = lambda _: None) -> Running:
        """Starts everything and returns when it is ready; RuntimeError names what is not after 180 s. The services load
        their code while the database and the broker start, and wait for the addresses.
        """
        began = time.monotonic()

        def report(what: str) -> None:
            say(f"{what} ({time.monotonic() - began:.1f} s)")

        for name in self._services_by_process:
            self._spawn(name)
        if self.broker:
            self.broker.start()
            report(f"broker is up on {self.broker.bootstrap}")
        if self.postgres:
            self.postgres.start()
            report("PostgreSQL is up")
        asyncio.run(self._prepare())
        report("schema and topics are up to date")
        for name in self._services_by_process:
            if name not in FRONTS:
                self._release(name)
        for name, process in self.processes.items():
            if name in FRONTS:  # compose is ready by now, and has a port
                self._release(name)
            self.await_ready((name,), START_S - (time.monotonic() - began))
            report(f"{', '.join(process.services)}: ready")
        report(f"{len(self._services)} services are ready")
        running = self.describe()
        write(self.data, running)
        return running

    @property
    def _services_by_process(self) -> dict[str, tuple[str, ...]]:
        """The services of each process, by its name."""
        light = tuple(name for name in self._services if name in LIGHT)
        alone = {name: (name,) for name in self._services if name not in LIGHT}
        return {**alone, light[0]: light} if light else alone

    async def make_topics_anew(self) -> None:
        """Creates missing topics, and redrives work that was lost with the previous ones."""
        from services.cli.broker_topics import make_topics, note_topics

        await note_topics(self.dsn, await make_topics(self._on_broker, "up"))

    @property
    def _on_broker(self) -> Settings:
        return self.settings.model_copy(update={"kafka_bootstrap": self.bootstrap})

    async def _prepare(self) -> None:
        # loaded while the services load their own code
        from services.cli.broker_topics import make_topics, note_topics
        from shared import db
        from shared.access.authenticator import require_guard
        from shared.policy_file import load_policy
        from shared.store import schema

        ready = asyncio.create_task(make_topics(self._on_broker, "up"))
        await schema.migrate(self.dsn)
        if self._services and not await schema.is_open(self.dsn):
            raise ConfigurationError(f"{db.CLOSED}; continue with `smartbrain restore`")
        if "compose" in self._services:
            access = load_policy(self.settings.policy).access
            self.needs_key = await require_guard(self.dsn, access, self.settings.http_host)
        await note_topics(self.dsn, await ready)

    def describe(self) -> Running:
        """Where everything is."""
        urls = {name: process.url or "" for process in self.processes.values() for name in process.services}
        return Running(urls.get("compose", ""), self.bootstrap, self.dsn, os.getpid(), urls)

    def launch(self, name: str) -> Process:
        """Starts the process without waiting until it is ready."""
        process = self._spawn(name)
        self._release(name)
        return process

    def _spawn(self, name: str) -> Process:
        """Starts a process that loads its code and waits for the addresses."""
        services = self._services_by_process[name]
        folder = self.data / "services"
        folder.mkdir(exist_ok=True)
        port_file = folder / f"{name}.port"
        port_file.unlink(missing_ok=True)
        earlier = self.processes[name].starts if name in self.processes else []
        with (folder / f"{name}.log").open("ab") as log:
            child = spawn(
                [sys.executable, "-m", "services.cli", "serve", *services, "--told"],
                death_signal=signal.SIGTERM,
                env=self._environment(port_file),
                log=log,
                cwd=Path.cwd(),
                stdin=subprocess.PIPE,
            )
        process = Process(services, child, port_file, [*earlier[-9:], time.monotonic()])
        self.processes[name] = process
        return process

    def _release(self, name: str) -> None:
        addresses = self._addresses_for(name)
        child = self.processes[name].child
        assert child.stdin  # noqa: S101 # it was started with one
        with suppress(BrokenPipeError), child.stdin as pipe:  # what has ended already is seen by whoever awaits it
            pipe.write(orjson.dumps(addresses) + b"\n")

    def _addresses_for(self, name: str) -> dict[str, str]:
        """The addresses that the services need: database and broker, or only compose."""
        if name in FRONTS:
            compose = self.processes.get("compose")
            return {URL: (compose and compose.url) or self.settings.url or ""}
        return {"SMARTBRAIN_DATABASE_URL": self.dsn, "SMARTBRAIN_KAFKA_BOOTSTRAP": self.bootstrap}

    def _environment(self, port_file: Path) -> dict[str, str]:
        root = str(Path(__file__).parents[2])
        mine = {
            "SMARTBRAIN_DATA": str(self.data),
            "SMARTBRAIN_HTTP_PORT": str(self._ports.get("compose", self.settings.http_port)),
            "SMARTBRAIN_MCP_PORT": str(self._ports.get("mcp", self.settings.port_of_mcp)),
            "SMARTBRAIN_CONSOLE_PORT": str(self._ports.get("console", self.settings.port_of_console)),
            "SMARTBRAIN_METRICS_PORT": "0",
            PORT_FILE: str(port_file),
            "PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH")))),
        }
        told_later = f"{name_of('database_url')}_FILE"  # as the address itself: of the two only one may be set
        return {name: value for name, value in {**os.environ, **mine}.items() if name != told_later}

    def await_ready(self, names: tuple[str, ...] | None = None, timeout_s: float = START_S) -> None:
        """Waits until the services are ready; RuntimeError names the first that is late, with the end of its log."""
        until = time.monotonic() + timeout_s
        for name in names or tuple(self.processes):
            while not self._is_ready(name):
                process = self.processes[name]
                if process.child.poll() is not None or time.monotonic() > until:
                    log = (self.data / "services" / f"{name}.log").read_bytes()[-2000:].decode(errors="replace")
                    raise RuntimeError(f"{name} did not become ready:\n{log}")
                time.sleep(0.05)
            self._note_ready(self.processes[name])

    def _note_ready(self, process: Process) -> None:
        process.was_live = True
        if process.url and process.services[0] in ("compose", *FRONTS):
            self._ports[process.services[0]] = int(process.url.rpartition(":")[2])

    def _is_ready(self, name: str) -> bool:
        url = self.processes[name].url
        if url is None:
            return False
        try:
            with urlopen(f"{url}/ready", timeout=5) as answer:  # noqa: S310 # our own loopback address
                return answer.status == 200
        except OSError:
            return False

    def watch(self) -> None:
        """Restarts whatever dies or hangs until SIGINT or SIGTERM comes."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop_asked)
        pause = MEND_EVERY_S
        while not self._stopping.wait(pause):
            pause = MEND_EVERY_S if self.try_to_mend() else REST_S

    def try_to_mend(self) -> bool:
        """Whether dead or hung processes were restarted; one that cannot start, for example on a full disk, is retried
        later."""
        try:
            self.mend()
        except (OSError, RuntimeError, TransientError) as error:  # the embedded servers raise RuntimeErrors
            logger().error("not_restarted", error=type(error).__name__, detail=str(error)[-500:])
            return False
        return True

    def _stop_asked(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._stopping.set()

    def mend(self) -> list[str]:
        """Restarts dead or hung processes; their names. A process that keeps dying is restarted ever less often."""
        mended: list[str] = []
        if self.postgres and not is_running(lambda: self.postgres.pid):  # type: ignore[union-attr]
            self.postgres.start()
            mended.append("postgres")
        if self.broker and not is_running(lambda: self.broker.pid):  # type: ignore[union-attr]
            self.broker.start()
            asyncio.run(self.make_topics_anew())
            mended.append("broker")
        for name, process in list(self.processes.items()):
            if self._is_hung(process):
                logger().error("hung", services=process.services, pid=process.child.pid)
                process.child.kill()
                process.child.wait()
            recent = [at for at in process.starts if time.monotonic() - at < 60]
            if process.child.poll() is not None and time.monotonic() - process.starts[-1] > len(recent):
                self.launch(name)
                mended.append(name)
        if mended:
            logger().warning("restarted", what=mended)
            write(self.data, self.describe())
        return mended

    def _is_hung(self, process: Process) -> bool:
        """Whether its probe has reported no progress, or nothing, for too long; requests the next probe without
        waiting."""
        if process.child.poll() is not None:
            return False
        now = time.monotonic()
        if process.url is None:
            return now - process.starts[-1] > START_S
        if process.probe is None:
            if now - process.probed_at > PROBE_EVERY_S:
                patience = min(PROBE_S, self._restart_after_s)
                process.probe, process.probed_at = self._probes.submit(is_live, process.url, patience), now
            return False
        if not process.probe.done():
            return False
        live, process.probe = process.probe.result(), None
        process.was_live = process.was_live or live
        process.failing_since = None if live else process.failing_since or process.probed_at
        longest = self._restart_after_s if process.was_live else START_S
        return process.failing_since is not None and process.probed_at - process.failing_since > longest

    @cached_property
    def _probes(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(len(self.processes) or 1, thread_name_prefix="probe")

    @cached_property
    def _restart_after_s(self) -> float:
        from shared.policy_file import load_policy

        return load_policy(self.settings.policy).delivery.restart_after_s

    def stop(self) -> None:
        """Stops services first, then the broker, then PostgreSQL; each gets time to finish its current work."""
        forget(self.data)
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                process.child.terminate()
        for process in self.processes.values():
            try:
                process.child.wait(STOP_S)
            except subprocess.TimeoutExpired:
                process.child.kill()
                process.child.wait()
        self.processes.clear()
        if self.broker:
            self.broker.stop()
        if self.postgres:
            self.postgres.stop()
