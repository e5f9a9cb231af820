"""Traces a turn through every step: where it is, or where it failed."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.operations import TurnStep, TurnTrace
from services.compose.manage.memories import refuse_missing
from shared import clock
from shared.runtime import Runtime
from shared.store import people, turn_trace
from shared.store.flow import Whose

CLOCK_TOLERANCE = timedelta(hours=1)
"""How far the clock behind a turn's id may differ from the database's clock."""
OPEN = {"new", "analyzed"}
Rows = Sequence[Mapping[str, Any]]


async def trace_turn(rt: Runtime, whose: Whose, turn_id: UUID) -> TurnTrace:
    """The trace of the turn. RefusedError 404: it does not exist or belongs to somebody else."""
    made_at = clock.find_moment(turn_id)
    if made_at is None:
        raise refuse_missing("turn_id")
    async with rt.db.system() as conn:
        owner = await people.find_owner_of_turn(
            conn, whose, turn_id, made_at - CLOCK_TOLERANCE, made_at + CLOCK_TOLERANCE
        )
    if owner is None:
        raise refuse_missing("turn_id")
    async with rt.db.transaction(owner) as conn:
        parts = await turn_trace.load_parts(conn, owner, turn_id)
    (turn,) = parts.pop("turns")
    async with rt.db.system() as conn:
        delivery = await turn_trace.load_delivery(conn, turn["event_id"], turn_id)
    steps = list_steps(turn, parts, delivery)
    stands = next((each.step for each in steps if not each.done), None)
    named = {name: turn[name] for name in TurnTrace.model_fields if name in turn}
    return TurnTrace.model_validate(
        {**named, **parts, "tenant_id": owner.tenant_id, "user_id": owner.user_id, "steps": steps, "stands": stands}
    )


def list_steps(turn: Mapping[str, Any], parts: Mapping[str, Rows], delivery: Mapping[str, Any]) -> list[TurnStep]:
    """Every step in order; steps not done yet are pending."""
    observations, observed = parts["observations"], turn["observed_at"] is not None
    settled = turn["outcome_at"] is not None
    waiting: Mapping[str, Any] = delivery["waiting"] or {}
    states = {each["state"] for each in observations}
    steps = [
        TurnStep(step="committed", at=turn["committed_at"], done=True),
        TurnStep(
            step="published",
            at=delivery["published_at"],
            done=observed or not waiting,
            detail="refused" if waiting.get("failed_at") else "held" if waiting.get("held") else "",
        ),
        TurnStep(
            step="observed", at=turn["observed_at"], done=observed, detail=f"{len(observations)}" if observed else ""
        ),
        TurnStep(
            step="analyzed",
            at=_latest(parts["proposals"], "created_at"),
            done=settled or (observed and "new" not in states),
        ),
        TurnStep(
            step="evolved", at=_latest(observations, "settled_at"), done=settled or (observed and not states & OPEN)
        ),
        TurnStep(step="settled", at=turn["outcome_at"], done=settled, detail=turn["status"] or "" if settled else ""),
    ]
    return [
        *steps,
        *(
            TurnStep(step="given_up", at=each["created_at"], done=True, detail=each["stage"])
            for each in parts["quarantine"]
        ),
    ]


def _latest(rows: Rows, name: str) -> datetime | None:
    return max((each[name] for each in rows if each[name] is not None), default=None)
