"""Errors of tools, phrased so that a model can act on them."""

from services.mcp.rules.remedies import DEFAULT, REMEDIES
from shared.fronts.problems import CallError


def describe_problem(problem: CallError) -> dict[str, object]:
    """The error for the model: code, reason, remedy, and whether a retry may help."""
    remedy = REMEDIES.get(problem.code, DEFAULT)
    waits = {} if problem.retry_after_s is None else {"retry_after_s": problem.retry_after_s}
    told = {"code": problem.code, "message": problem.message, "what_to_do": remedy.text, "retry": remedy.retry}
    return {"error": {**told, **waits}}
