"""What a parent learns of a process: the port that it reports, whether it runs, and whether it is live."""

import os
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

PORT_FILE = "SMARTBRAIN_PORT_FILE"


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
