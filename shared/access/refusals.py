"""Refusals at the door: 401 where nobody knows who asks, 403 where they may not."""

from schemas.turn_events import FieldProblem
from shared.domain.requesters import Denial
from shared.errors import RefusedError

HEADER = "authorization"


def refuse_stranger(problem: str) -> RefusedError:
    """Nobody can tell who asks."""
    return RefusedError("unauthenticated", f"{HEADER}: {problem}", (FieldProblem(field=HEADER, problem=problem),), 401)


def refuse_denied(denial: Denial) -> RefusedError:
    """Whoever asks may not do this."""
    problem = FieldProblem(field=denial.field, problem=denial.problem)
    return RefusedError("forbidden", f"{denial.field}: {denial.problem}", (problem,), 403)
