"""Figures for operators: backlogs, throughput, alerts, costs, and the trace of a turn through every step."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from schemas.operations import (
    AlertPage,
    AlertState,
    ErasureOverview,
    ErasureOverviews,
    ErasureState,
    Flow,
    ModelUse,
    ModelUses,
    TimeSeries,
    TurnStep,
    TurnTrace,
    UserPage,
)
from services.compose.manage.memories import refuse_missing
from shared import clock, presence
from shared.bus.lags import GroupLags
from shared.erasure import rules
from shared.metrics.catalogue import ENTRIES, Alert, Figure
from shared.policy import ErasurePolicy
from shared.runtime import Runtime
from shared.store import flow, people
from shared.store.flow import Whose

CLOCK_TOLERANCE = timedelta(hours=1)
"""How far the clock behind a turn's id may differ from the database's clock."""
OPEN_STEPS = {"new", "analyzed"}
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
        parts = await flow.load_turn_parts(conn, owner, turn_id)
    (turn,) = parts.pop("turns")
    async with rt.db.system() as conn:
        delivery = await flow.load_turn_delivery(conn, turn["event_id"], turn_id)
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
            step="evolved",
            at=_latest(observations, "settled_at"),
            done=settled or (observed and not states & OPEN_STEPS),
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


LATELY = timedelta(minutes=5)
RUNBOOK = "deploy/runbook.md#"
MOST_STEPS = 90
"""The most steps of a series; longer windows have longer steps."""
MOST_ERASURES = 1000
INSTALLATION_FIGURES = frozenset[Figure | None](("redriven_hour", "services_silent", "lag_most"))
"""Figures of the installation, which belong to no tenant."""
ALERT_WINDOW = timedelta(minutes=10)
"""The window of the latencies in alerts."""


async def list_users(rt: Runtime, whose: Whose, begins: str | None, limit: int, offset: int) -> UserPage:
    """Users in figures, the latest active first."""
    async with rt.db.system() as conn:
        return UserPage(users=tuple(await people.load_users(conn, whose, begins, limit, offset)))


async def show_flow(rt: Runtime, lags: GroupLags, whose: Whose) -> Flow:
    """The current backlog of each step."""
    grace = timedelta(seconds=rt.policy.delivery.redrive_after_s)
    async with rt.db.system() as conn:
        work = await flow.load_work(conn, whose, grace)
        outbox = await flow.load_outbox(conn, whose)
        done = await flow.load_done(conn, LATELY)
        given_up = await flow.load_given_up(conn, whose)
    groups = await lags.load()
    return Flow(
        at=clock.now(),
        work=work,
        outbox=tuple(outbox),
        groups=None if groups is None else tuple(groups),
        consumers=tuple(done),
        given_up=tuple(given_up),
        services=await presence.load_problems(rt.db, rt.policy.delivery.silent_after_s),
    )


async def show_series(rt: Runtime, whose: Whose, minutes: int) -> TimeSeries:
    """Turns and packages of the last minutes, in the steps of a chart."""
    step = -(-minutes // MOST_STEPS)
    async with rt.db.system() as conn:
        moments = await flow.load_series(conn, whose, timedelta(minutes=minutes), timedelta(minutes=step))
    return TimeSeries(minutes=minutes, step_minutes=step, moments=tuple(moments))


async def list_alerts(rt: Runtime, lags: GroupLags, whose: Whose) -> AlertPage:
    """The alerts of the catalogue that have a figure, firing ones first."""
    figures = await _measure(rt, lags, whose)
    states = [_to_alert(each, figures.get(each.figure)) for entry in ENTRIES for each in entry.alerts if each.figure]
    order = {"page": 0, "ticket": 1}
    ordered = sorted(states, key=lambda each: (not each.firing, order[each.severity]))
    return AlertPage(at=clock.now(), alerts=tuple(ordered))


def _to_alert(alert: Alert, figure: float | None) -> AlertState:
    shown = "?" if figure is None else f"{figure:g}"
    return AlertState(
        name=alert.name,
        severity=alert.severity,
        firing=figure is not None and figure > alert.threshold,
        figure=figure,
        threshold=alert.threshold,
        after=alert.after,
        summary=alert.summary.replace("{{ $value }}", shown),
        action=alert.action,
        runbook=f"{RUNBOOK}{alert.name.lower()}-{alert.severity}",
        whole_house=alert.figure in INSTALLATION_FIGURES,
    )


async def _measure(rt: Runtime, lags: GroupLags, whose: Whose) -> Mapping[Figure, float | None]:
    grace = timedelta(seconds=rt.policy.delivery.redrive_after_s)
    async with rt.db.system() as conn:
        work = await flow.load_work(conn, whose, grace)
        outbox = await flow.load_outbox(conn, whose)
        (lately, *_) = await flow.load_series(conn, whose, ALERT_WINDOW, ALERT_WINDOW)
        redriven = await flow.count_redriven(conn, timedelta(hours=1))
        given_up = await flow.count_given_up(conn, whose, timedelta(minutes=15))
        erasures = await people.load_erasures(conn, whose, MOST_ERASURES, open_only=True)
    levels = Counter(_overview(each, rt.policy.erasure).level for each in erasures)
    groups = await lags.load()
    problems = await presence.load_problems(rt.db, rt.policy.delivery.silent_after_s)
    return {
        "turns_overdue": work.turns_overdue,
        "settled_p95_s": lately.settled_p95_s or 0.0,
        "package_p95_s": (lately.package_p95_ms or 0.0) / 1000,
        "packages_degraded_share": lately.degraded / lately.packages if lately.packages else 0.0,
        "outbox_oldest_s": max((each.oldest_s for each in outbox), default=0.0),
        "outbox_failed": sum(each.failed for each in outbox),
        "redriven_hour": redriven,
        "given_up_lately": given_up,
        "services_silent": sum(presence.SILENT in each for each in problems.values()),
        "lag_most": None if groups is None else max((each.lag for each in groups), default=0),
        "erasures_escalated": max(levels["overdue"], sum(each.status == "escalated" for each in erasures)),
        "erasures_warn": levels["warn"],
        "erasures_critical": levels["critical"],
    }


async def list_erasures(rt: Runtime, whose: Whose, limit: int) -> ErasureOverviews:
    """Erasures of all users, open ones first."""
    async with rt.db.system() as conn:
        found = await people.load_erasures(conn, whose, limit, open_only=False)
    return ErasureOverviews(erasures=tuple(_overview(each, rt.policy.erasure) for each in found))


def _overview(erasure: ErasureState, policy: ErasurePolicy) -> ErasureOverview:
    done = erasure.completed_at is not None
    left = rules.share_remaining(erasure.requested_at, erasure.deadline_at, erasure.completed_at or clock.now())
    profile = policy.profiles.get(erasure.profile) or policy.profiles[policy.profile]
    return ErasureOverview(
        **dict(erasure), left_share=round(left, 4), level="none" if done else rules.level(left, profile), proved=done
    )


async def list_models(rt: Runtime, whose: Whose, days: int) -> ModelUses:
    """Model calls within these days and, where prices are known, their cost."""
    async with rt.db.system() as conn:
        found = await people.load_models(conn, whose, days)
    uses = tuple(_find_cost(each, rt) for each in found)
    costs = [each.cost for each in uses if each.cost is not None]
    cost = round(sum(costs), 6) if costs else None
    return ModelUses(days=days, uses=uses, cost=cost, currency=rt.policy.models.currency)


def _find_cost(use: ModelUse, rt: Runtime) -> ModelUse:
    models = rt.policy.models
    if use.model not in models.prices:
        return use
    return use.model_copy(update={"cost": round(models.cost(use.model, use.tokens_in, use.tokens_out), 6)})
