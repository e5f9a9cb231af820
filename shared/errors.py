"""Errors by what to do next: try again, set aside, or refuse."""

from schemas.turn_events import FieldProblem


class SmartBrainError(Exception):
    """The root of every error that this product raises on purpose."""


class TransientError(SmartBrainError):
    """Something was away or lost a race: back off, then try again."""


class PoisonError(SmartBrainError):
    """This message can never be handled: dead-letter it and go on."""


class ConfigurationError(SmartBrainError):
    """The settings or the policy cannot work: say so at the start and stop."""


class RefusedError(SmartBrainError):
    """The request is at fault: a 4xx or an error reply that names the field."""

    def __init__(
        self,
        code: str,
        message: str,
        details: tuple[FieldProblem, ...] = (),
        status: int = 422,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = details
        self.status = status
        self.retry_after_s = retry_after_s
