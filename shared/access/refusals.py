"""Refusals at the door: 401 where nobody knows who asks, 403 where they may not."""

from shared.domain.subjects import DENIED, STRANGER, Denial
from shared.errors import RefusedError, refuse_field

HEADER = "authorization"


def refuse_stranger(problem: str, header: str = HEADER) -> RefusedError:
    """Nobody can tell who asks, for what is wrong with this header."""
    return refuse_field(STRANGER, header, problem, 401)


def refuse_denied(denial: Denial) -> RefusedError:
    """Whoever asks may not do this."""
    return refuse_field(DENIED, denial.field, denial.problem, 403)
