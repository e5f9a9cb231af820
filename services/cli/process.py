"""A process of services as the supervisor knows it."""

from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from shared.embedded.process import Child


@dataclass
class Process:
    """The process of one service or of several light ones, with its recent restarts."""

    services: tuple[str, ...]
    child: Child
    port_file: Path
    starts: list[float] = field(default_factory=list[float])
    probe: Future[bool] | None = None
    probed_at: float = 0.0
    was_live: bool = False
    failing_since: float | None = None

    @property
    def url(self) -> str | None:
        """Where its probes answer, once it has said so."""
        with suppress(OSError, ValueError):
            return f"http://127.0.0.1:{int(self.port_file.read_text())}"
        return None
