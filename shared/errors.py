"""Errors by what to do next: try again, set aside, or refuse."""

from collections.abc import Sequence

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


def refuse_field(code: str, field: str, problem: str, status: int = 422) -> RefusedError:
    """The refusal of one field."""
    return refuse_fields(code, (FieldProblem(field=field, problem=problem),), status)


def refuse_fields(code: str, problems: Sequence[FieldProblem], status: int = 422) -> RefusedError:
    """The refusal of these fields; its message tells the first."""
    return RefusedError(code, f"{problems[0].field}: {problems[0].problem}", tuple(problems), status)
