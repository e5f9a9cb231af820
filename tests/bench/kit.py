"""What every bench uses: rows with their targets, a machine of its own, and load at a given concurrency."""

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
    """`quick` measures on less data; `embedding_dir` is the encoder of the vector rows, when there is one.

    `turns` is how many the bench of invariants tells, `size` how much the user of that of meaning remembers, `plot`
    where that of calibration draws, where the caller says it.
    """

    quick: bool = False
    embedding_dir: str | None = None
    turns: int | None = None
    plot: Path | None = None
    size: int | None = None

    def some(self, many: int) -> int:
        """How many of so many a quick run takes."""
        return max(10, many // 4) if self.quick else many


@dataclass(frozen=True)
class Row:
    """One figure beside the bare cost of the same work in the same run, and the target that it is held to."""

    what: str
    ours: float
    unit: str
    bare: float | None = None
    limit: float | None = None
    kind: Literal["<=", ">="] = "<="

    @property
    def ratio(self) -> float | None:
        """Ours in terms of the bare cost."""
        return self.ours / self.bare if self.bare else None

    @property
    def passed(self) -> bool | None:
        """Whether the target is met; None where there is no target."""
        if self.limit is None:
            return None
        return self.ours <= self.limit if self.kind == "<=" else self.ours >= self.limit


@dataclass
class Report:
    """The rows of one bench and what to know when reading them."""

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
    """How long each call took, and all of them together, in seconds."""

    took: tuple[float, ...]
    elapsed: float

    def ms(self, q: int) -> float:
        """The q-th percentile in milliseconds."""
        ordered = sorted(self.took)
        return 1000 * ordered[min(len(ordered) - 1, len(ordered) * q // 100)]

    @property
    def per_s(self) -> float:
        """Calls a second."""
        return len(self.took) / self.elapsed


async def drive(jobs: Sequence[T], call: Callable[[T], Awaitable[object]], at_once: int) -> Load:
    """Every job called once, at most `at_once` of them at a time."""
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
    """The fastest round: what neighbours on the machine took away is not ours to report."""
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
    """A service's surroundings in this process, its log written as in production, but to nowhere."""
    quiet_logs("info")
    settings = Settings.model_validate({"database_url": on.dsn, "kafka_bootstrap": on.bootstrap})
    embedding = load().embedding_dir
    async with open_runtime(settings.model_copy(update={"embedding_dir": embedding}), "bench", pool=pool) as rt:
        assert rt.policy == load_policy(None)
        yield rt


def quiet_logs(level: str) -> None:
    """Logs of this process are rendered at this level and thrown away: their cost counts, their text does not."""
    configure_logs(level, stream=Path(os.devnull).open("w"))  # noqa: SIM115 # as long as the process
