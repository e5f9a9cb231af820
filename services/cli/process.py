"""A process of services as the supervisor knows it: the port that it reports, whether it runs and is live."""

import os
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from shared.embedded.process import Child

PORT_FILE = "SMARTBRAIN_PORT_FILE"


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


def announce_port(port: int) -> None:
    """Writes the port to the file that the environment names, if any."""
    where = os.environ.get(PORT_FILE)
    if where:
        temporary = Path(f"{where}.new")
        temporary.write_text(str(port))
        temporary.replace(where)


def is_live(url: str, patience_s: float) -> bool:
    """Whether its probe says in time that it lives."""
    try:
        with urlopen(f"{url}/live", timeout=patience_s) as answer:  # noqa: S310 # our own loopback address
            return answer.status == 200
    except (OSError, HTTPException):
        return False


def is_running(pid: Callable[[], int]) -> bool:
    """Whether a child of this process has not ended; one that was never started has."""
    try:
        found = os.waitid(os.P_PID, pid(), os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except (RuntimeError, ChildProcessError):
        return False
    return found is None
