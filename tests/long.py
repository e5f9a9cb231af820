"""How much of what could go on for ever is tried: a share by `make test`, all of it by `make test-long`."""

import os

LONG = bool(os.environ.get("SMARTBRAIN_TEST_LONG"))


def often(full: int, *, short: int) -> int:
    """How often something is tried: `full` in a long run, else `short`."""
    return full if LONG else short
