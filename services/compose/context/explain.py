"""Why the result is what it is: arms, queries, every candidate with its scores and its place (R071)."""

from collections.abc import Mapping, Sequence

from schemas.context_package import PlannerDebug
from schemas.explain import (
    ArmScore,
    ArmTiming,
    CandidateTrace,
    DroppedEvidence,
    ExecutedQuery,
    HeldBackText,
    ScoreFactors,
)
from services.compose.context.stages import SearchResult, StageReport
from services.compose.rules.candidates import Dropped, HeldBack, RankedCandidate
from services.compose.rules.planning.execute import ExecutablePlan
from services.compose.rules.planning.plan import Planned
from services.compose.rules.ranking.fuse import FusionResult
from shared.language.normalise import clip

SHOWN = 60
"""Candidates in one explanation at most."""
EXCERPT = 120


def describe_plan(planned: Planned) -> PlannerDebug:
    """What the planner understood, with its plan."""
    return PlannerDebug(
        intent=planned.intent,
        reason=planned.reason,
        queries=[query.text for query in planned.plan.queries],
        purpose=planned.purpose,
        confidence=planned.confidence,
        entities=list(planned.entities),
        hints=list(planned.context_hints),
        language=planned.language,
        plan=planned.plan,
        resources_needed=planned.resources_needed,
    )


def timings(report: StageReport) -> list[ArmTiming]:
    """How each arm did."""
    return [
        ArmTiming(arm=a.name, took_ms=round(a.took_ms, 3), candidates=a.count, status=a.status) for a in report.arms
    ]


def list_dropped(search: SearchResult, *reasons: Sequence[Dropped]) -> list[DroppedEvidence]:
    """What was left out, in the order in which it was."""
    out = [DroppedEvidence(id=d.key, reason=d.reason, score=d.score, rule=d.rule) for each in reasons for d in each]
    stale = dict.fromkeys(search.stale)
    return [*out, *(DroppedEvidence(id=key, reason="superseded", rule=search.changes.cause(key)) for key in stale)]


def to_held_back(held: Sequence[HeldBack]) -> list[HeldBackText]:
    """Every text that is not shown, or not all of it, once."""
    return [HeldBackText(id=each.key, source=each.source, rule=each.rule, whole=each.whole) for each in held]


def candidates(
    search: SearchResult,
    fused: FusionResult,
    shown: Sequence[str],
    later: Sequence[Dropped] = (),
    *,
    text: bool = True,
    most: int | None = SHOWN,
) -> list[CandidateTrace]:
    """The candidates, those that are shown first and in their order, then the rest by score; `later` says what packing
    left out."""
    places = {key: place for place, key in enumerate(shown, 1)}
    reasons = {each.key: each for each in (*fused.dropped, *later)}
    judged = {each.key: each for each in (*fused.judged, *fused.ranked)}
    ordered = sorted(judged.values(), key=lambda each: (places.get(each.key, len(judged) + 1), -each.score, each.key))
    return [_trace(each, search.weights, places.get(each.key), reasons.get(each.key), text) for each in ordered[:most]]


def _trace(
    ranked: RankedCandidate, weights: Mapping[str, float], place: int | None, out: Dropped | None, text: bool
) -> CandidateTrace:
    source, factors = ranked.candidate, ranked.factors
    arms = [
        ArmScore(arm=arm, rank=rank, score=round(source.arm_scores.get(arm, 0.0), 6), weight=weights.get(arm, 1.0))
        for arm, rank in sorted(source.arm_ranks.items())
    ]
    gone = out if place is None else None
    return CandidateTrace(
        id=ranked.key,
        place=place,
        score=round(ranked.score, 6),
        rrf=round(ranked.rrf, 6),
        rerank=source.rerank_score,
        probability=round(source.probability, 6),
        mode=source.mode,
        query=source.query,
        arms=arms,
        factors=ScoreFactors(
            relevance=round(factors.relevance, 6),
            recency=factors.recency,
            confidence=round(factors.confidence, 4),
            provenance=factors.provenance,
            frequency=factors.frequency,
        ),
        dropped=gone.reason if gone else None,
        rule=gone.rule if gone else None,
        text=clip(source.text, EXCERPT) if text else "",
    )


def queries(run: ExecutablePlan, search: SearchResult, fused: FusionResult) -> list[ExecutedQuery]:
    """What became of every query of the plan that ran."""
    served: dict[int, dict[str, None]] = {}
    for n, step in enumerate(run.steps):
        arms = [*search.served.get(n, ()), *(["entities"] if f"entity#{n}" in search.lists else [])]
        served.setdefault(step.of, {}).update(dict.fromkeys(arms))
    for name, of in search.lists.items():
        if name.startswith("tail"):
            served.setdefault(of.query, {})["session"] = None
        elif name.startswith("knowledge"):
            served.setdefault(of.query, {})["knowledge"] = None
    return [
        ExecutedQuery(
            index=of,
            mode=run.plan.queries[of].mode,
            weight=next(step.weight for step in run.steps if step.of == of),
            served_by=list(by),
            candidates=len({c.key for c in search.candidates if c.query == of}),
            returned=sum(each.candidate.query == of for each in fused.ranked),
            widened_with=list(run.added.get(of, ())),
        )
        for of, by in sorted(served.items())
    ]
