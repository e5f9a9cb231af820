"""Whoever has started a process is told on which port it listens."""

import os
from pathlib import Path

PORT_FILE = "SMARTBRAIN_PORT_FILE"


def announce_port(port: int) -> None:
    """The port stands in the file that the environment names, if it names one."""
    where = os.environ.get(PORT_FILE)
    if where:
        temporary = Path(f"{where}.new")
        temporary.write_text(str(port))
        temporary.replace(where)
