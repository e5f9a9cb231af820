"""The size of repeated tests: a share in `make test`, all in `make test-long`."""

import os

LONG = bool(os.environ.get("SMARTBRAIN_TEST_LONG"))


def often(full: int, *, short: int) -> int:
    """The number of repetitions: `full` in a long run, else `short`."""
    return full if LONG else short
