"""Why knowledge gave no answer; compose continues without it and reports the reason."""

from typing import Literal

from shared.errors import TransientError

Reason = Literal[
    "not_configured", "circuit_open", "timeout", "connection", "server_error", "refused", "redirected", "too_large",
    "malformed",
]  # fmt: skip
Degraded = Literal["knowledge_timeout", "knowledge_stores_unavailable", "knowledge_answer_malformed"]


class KnowledgeUnavailable(TransientError):  # noqa: N818 # a state of affairs, said as one
    """The knowledge side was not queried, or returned nothing usable; `reason` says why, without quoting it."""

    def __init__(self, reason: Reason, problem: str = "") -> None:
        super().__init__(f"knowledge unavailable: {reason}{f' ({problem})' if problem else ''}")
        self.reason: Reason = reason

    @property
    def degraded(self) -> Degraded:
        """The reason as a package names it."""
        if self.reason == "timeout":
            return "knowledge_timeout"
        return (
            "knowledge_answer_malformed"
            if self.reason in ("malformed", "too_large")
            else "knowledge_stores_unavailable"
        )
