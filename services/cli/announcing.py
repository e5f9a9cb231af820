"""Reports the port of a started process to its parent."""

import os
from pathlib import Path

PORT_FILE = "SMARTBRAIN_PORT_FILE"


def announce_port(port: int) -> None:
    """Writes the port to the file that the environment names, if any."""
    where = os.environ.get(PORT_FILE)
    if where:
        temporary = Path(f"{where}.new")
        temporary.write_text(str(port))
        temporary.replace(where)
