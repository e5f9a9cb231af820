"""`smartbrain upkeep`: a round of upkeep for one user, at once."""

import asyncio
from typing import Annotated, Any

import typer
from rich.text import Text

from services.cli import data_folder
from services.cli.names import By, Tenant, User, Why
from services.cli.output import AsJson, emit, out
from services.cli.progress import show_work
from services.cli.reach import find_operator
from services.evolver.rounds import keep_now
from services.evolver.upkeep import UpkeepChange
from shared import runtime, settings
from shared.domain.subjects import Subject
from shared.settings import Settings
from shared.store.operator_acts import Operator
from shared.telemetry import configure_logs


def upkeep(
    user: User = "me",
    tenant: Tenant = "default",
    now: Annotated[bool, typer.Option("--now", help="Run even if the last round was recent.")] = False,
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Run a round of upkeep for a user: expiry, ageing, misses, rejections, calibration, merging."""
    config = settings.load()
    configure_logs(config.log_level)
    with show_work(f"upkeep of the memories of {user}", quiet=as_json):
        operator = find_operator(by, reason)
        changes = asyncio.run(_round(data_folder.complete(config), Subject(tenant, user), operator, forced=now))
    if as_json:
        emit({"due": changes is not None, "done": [to_json(change) for change in changes or ()]})
    elif changes is None:
        out.print("not due: the last round was recent; --now runs one anyway", markup=False)
    else:
        for change in changes:
            _show(to_json(change))
        if not changes:
            out.print("nothing to be done")


async def _round(config: Settings, subject: Subject, by: Operator, *, forced: bool) -> list[UpkeepChange] | None:
    async with runtime.open_runtime(config, "upkeep", pool=1, models=False) as rt:
        return await keep_now(rt, subject, forced=forced, by=by)


def to_json(change: UpkeepChange) -> dict[str, Any]:
    before, after = change.before, change.after
    return {
        "job": change.done.job,
        "at": change.done.at,
        "memory_id": after.memory_id,
        "version": after.version,
        "status": after.status,
        "epistemic_type": after.epistemic_type,
        "confidence_before": round(before.confidence, 4) if before else None,
        "confidence_after": round(after.confidence, 4),
        "superseded_by": after.superseded_by,
        "detail": change.done.detail,
    }


def _show(told: dict[str, Any]) -> None:
    was = "new" if told["confidence_before"] is None else f"{told['confidence_before']:.2f}"
    line = f"{told['memory_id']}  {told['status']}  {was} -> {told['confidence_after']:.2f}"
    out.print(Text(f"{told['job']:<14}", "bold").append(Text(line, "default")))
