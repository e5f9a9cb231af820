"""Refusals at the door: 401 where nobody knows who asks, 403 where they may not."""

from schemas.turn_events import FieldProblem
from shared.domain.requesters import DENIED, STRANGER, Denial
from shared.errors import RefusedError

HEADER = "authorization"


def refuse_stranger(problem: str, header: str = HEADER) -> RefusedError:
    """Nobody can tell who asks, for what is wrong with this header."""
    return RefusedError(STRANGER, f"{header}: {problem}", (FieldProblem(field=header, problem=problem),), 401)


def refuse_denied(denial: Denial) -> RefusedError:
    """Whoever asks may not do this."""
    problem = FieldProblem(field=denial.field, problem=denial.problem)
    return RefusedError(DENIED, f"{denial.field}: {denial.problem}", (problem,), 403)
