"""Where this machine keeps what can be made again."""

import os
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "smartbrain"
"""The folder of unpacked programs and weights; whoever deletes it loses a few seconds."""
