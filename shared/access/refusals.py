"""Refusals: 401 for unknown requesters, 403 for missing rights."""

from shared.domain.subjects import DENIED, STRANGER, Denial
from shared.errors import RefusedError, refuse_field

HEADER = "authorization"


def refuse_stranger(problem: str, header: str = HEADER) -> RefusedError:
    """401 because of this header."""
    return refuse_field(STRANGER, header, problem, 401)


def refuse_denied(denial: Denial) -> RefusedError:
    """403: the requester lacks the right."""
    return refuse_field(DENIED, denial.field, denial.problem, 403)
