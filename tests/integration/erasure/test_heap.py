"""Texts in the memory of a process after it was notified of an erasure."""

import json
import subprocess
import sys


def test_no_object_of_a_process_contains_texts_after_they_are_cleared() -> None:
    """In a separate process, because the collector does not track objects from before the tests."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.erasure.heap"], capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert len(told["before"]) >= 20
    assert told["after"] == []
