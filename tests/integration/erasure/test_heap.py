"""What a process holds in memory of what it has read, once it has heard of an erasure."""

import json
import subprocess
import sys


def test_no_object_of_a_process_holds_what_it_has_read_once_texts_are_forgotten() -> None:
    """In a process of its own: what was loaded before the tests is not looked through by the collector."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.erasure.heap"], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert len(told["before"]) >= 20
    assert told["after"] == []
