"""Resets circuit breakers between tests that share a service."""

import gc

from shared.models.guard import Breaker


def forget_failures() -> None:
    """Resets every circuit breaker of this process."""
    for each in gc.get_objects():  # none is older than the objects that the test run has frozen
        if isinstance(each, Breaker):
            each.note_success()
