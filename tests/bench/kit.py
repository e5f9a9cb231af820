"""Common parts of the benches: rows with targets, a temporary system, and load at a given concurrency."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

from services.cli.supervisor import Supervisor
from shared.policy_file import load_policy
from shared.runtime import Runtime, open_runtime
from shared.settings import Settings, load
from shared.telemetry import configure_logs

T = TypeVar("T")


@dataclass(frozen=True)
class Options:
    """`quick` measures with less data; `embedding_dir` is the encoder of the vector rows, if any.

    `turns` is the number of turns in the bench of invariants, `size` the number of memories in that of meaning, `plot`
    the output of that of calibration, if given.
    """

    quick: bool = False
    embedding_dir: str | None = None
    turns: int | None = None
    plot: Path | None = None
    size: int | None = None

    def some(self, many: int) -> int:
        """The part of this number for a quick run."""
        return max(10, many // 4) if self.quick else many


@dataclass(frozen=True)
class Row:
    """A figure, the plain cost of the same work in the same run, and the target."""

    what: str
    ours: float
    unit: str
    bare: float | None = None
    limit: float | None = None
    kind: Literal["<=", ">="] = "<="

    @property
    def ratio(self) -> float | None:
        """The figure as a multiple of the plain cost."""
        return self.ours / self.bare if self.bare else None

    @property
    def passed(self) -> bool | None:
        """Whether the target is met; None without a target."""
        if self.limit is None:
            return None
        return self.ours <= self.limit if self.kind == "<=" else self.ours >= self.limit


@dataclass
class Report:
    """The rows of one bench, and notes for their interpretation."""

    name: str
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    took_s: float = 0.0

    def latencies(
        self,
        what: str,
        ours: "Load",
        bare: "Load | None" = None,
        at: Sequence[int] = (50, 95),
        limits: Sequence[float | None] = (),
    ) -> None:
        """A row in milliseconds for each percentile."""
        for n, q in enumerate(at):
            limit = limits[n] if n < len(limits) else None
            self.rows.append(Row(f"{what}, p{q}", ours.ms(q), "ms", bare.ms(q) if bare else None, limit))


@dataclass(frozen=True)
class Load:
    """The duration of each call and of all together, in seconds."""

    took: tuple[float, ...]
    elapsed: float

    def ms(self, q: int) -> float:
        """The q-th percentile in milliseconds."""
        ordered = sorted(self.took)
        return 1000 * ordered[min(len(ordered) - 1, len(ordered) * q // 100)]

    @property
    def per_s(self) -> float:
        """Calls per second."""
        return len(self.took) / self.elapsed


async def drive(jobs: Sequence[T], call: Callable[[T], Awaitable[object]], at_once: int) -> Load:
    """Calls every job once, at most `at_once` of them concurrently."""
    waiting = iter(jobs)
    took: list[float] = []

    async def work() -> None:
        for job in waiting:
            began = time.perf_counter()
            await call(job)
            took.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return Load(tuple(took), time.perf_counter() - began)


def best(loads: Sequence[Load]) -> Load:
    """The fastest round, which is least affected by other load on the machine."""
    return max(loads, key=lambda load: load.per_s)


def portions(jobs: Iterator[T], size: int) -> list[T]:
    """The next jobs."""
    return list(islice(jobs, size))


@contextmanager
def machine(services: tuple[str, ...], *, durable: bool = True) -> Iterator[Supervisor]:
    """PostgreSQL that syncs to disk if `durable`, the broker and these services, in a temporary folder."""
    folder = Path(tempfile.mkdtemp(prefix="smartbrain-bench-"))
    settings = load().model_copy(update={"data": folder, "http_port": 0})
    try:
        with Supervisor(settings, services=services, durable=durable) as running:
            running.start()
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def runtime(on: Supervisor, *, pool: int = 16) -> AsyncIterator[Runtime]:
    """A service's runtime in this process, with logging as in production but without output."""
    quiet_logs("info")
    settings = Settings.model_validate({"database_url": on.dsn, "kafka_bootstrap": on.bootstrap})
    embedding = load().embedding_dir
    async with open_runtime(settings.model_copy(update={"embedding_dir": embedding}), "bench", pool=pool) as rt:
        assert rt.policy == load_policy(None)
        yield rt


def quiet_logs(level: str) -> None:
    """Renders logs of this process at this level and discards them, so that their cost counts."""
    configure_logs(level, stream=Path(os.devnull).open("w"))  # noqa: SIM115 # open as long as the process
