"""Failures of a model; both kinds can be retried later, and neither counts as an answer."""

from typing import Literal

from shared.errors import TransientError
from shared.models.cost import NOTHING_SPENT

Reason = Literal[
    "not_configured",
    "circuit_open",
    "busy",
    "connection",
    "timeout",
    "server_error",
    "model_missing",
    "bad_request",
    "bad_response",
]

RETRIED_AT_ONCE: frozenset[Reason] = frozenset({"connection", "server_error", "bad_response"})
"""Only these are retried within the same call; the others would fail in the same way."""


class ModelUnavailable(TransientError):  # noqa: N818 # a state of affairs, said as one
    """The model call failed; `reason` and `problem` say why, and `spent` is its cost."""

    def __init__(self, reason: Reason, problem: str = "") -> None:
        super().__init__(f"model unavailable: {reason}{f' ({problem})' if problem else ''}")
        self.reason: Reason = reason
        self.problem = problem
        self.spent = NOTHING_SPENT

    @property
    def retried_at_once(self) -> bool:
        """Whether the same call may soon succeed."""
        return self.reason in RETRIED_AT_ONCE


class MalformedAnswer(TransientError):  # noqa: N818 # a state of affairs, said as one
    """The model gave two invalid answers; `raw` is the last one, for the quarantine, never for a log."""

    def __init__(self, raw: str, problem: str) -> None:
        super().__init__(f"malformed answer of {len(raw)} characters: {problem}")
        self.raw = raw
        self.problem = problem
        self.spent = NOTHING_SPENT
