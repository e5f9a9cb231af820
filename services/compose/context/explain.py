"""Explains a result: arms, queries, and every candidate with its scores and rank.

The explanation of a composition also has the time of each step, and what was left out and why.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from schemas.context_package import PlannerDebug, messages
from schemas.explain import (
    ArmScore,
    ArmTiming,
    CandidateTrace,
    DroppedEvidence,
    ExecutedQuery,
    HeldBackText,
    ScoreFactors,
    Step,
)
from schemas.explanation import (
    Arm,
    ArmBest,
    BudgetUse,
    DroppedAtStep,
    ExplainedCandidate,
    Explanation,
    SectionBudget,
    StepTime,
)
from services.compose.context.stages import STEPS, Composition, SearchResult, StageReport
from services.compose.rules.candidates import Candidate, Dropped, Factors, HeldBack, RankedCandidate
from services.compose.rules.packing import receipts
from services.compose.rules.packing.draft import PackagedContext
from services.compose.rules.packing.receipts import Told, explain_decision
from services.compose.rules.pending.pending_changes import ARM as PENDING
from services.compose.rules.planning.plan import ExecutablePlan, Planned
from services.compose.rules.ranking.fuse import FusionResult, merge_candidates
from shared.language.normalise import clip

MOST_SHOWN = 60
"""The most candidates in one explanation."""
EXCERPT = 120


def describe_plan(planned: Planned) -> PlannerDebug:
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


def to_arm_timings(report: StageReport) -> list[ArmTiming]:
    return [
        ArmTiming(arm=a.name, took_ms=round(a.took_ms, 3), candidates=a.count, status=a.status) for a in report.arms
    ]


def list_dropped(search: SearchResult, *reasons: Sequence[Dropped]) -> list[DroppedEvidence]:
    """The dropped evidence, in the order in which it was dropped."""
    out = [DroppedEvidence(id=d.key, reason=d.reason, score=d.score, rule=d.rule) for each in reasons for d in each]
    stale = dict.fromkeys(search.stale)
    return [*out, *(DroppedEvidence(id=key, reason="superseded", rule=search.changes.cause(key)) for key in stale)]


def to_held_back(held: Sequence[HeldBack]) -> list[HeldBackText]:
    """Every text that is not shown in full, once."""
    return [HeldBackText(id=each.key, source=each.source, rule=each.rule, whole=each.whole) for each in held]


def trace_candidates(
    search: SearchResult,
    fused: FusionResult,
    shown: Sequence[str],
    later: Sequence[Dropped] = (),
    *,
    most: int | None = MOST_SHOWN,
) -> list[CandidateTrace]:
    """The candidates: first those that are shown, in their order, then the rest by score.

    `later` are those that packing left out.
    """
    places = {key: place for place, key in enumerate(shown, 1)}
    reasons = {each.key: each for each in (*fused.dropped, *later)}
    judged = {each.key: each for each in (*fused.judged, *fused.ranked)}
    ordered = sorted(judged.values(), key=lambda each: (places.get(each.key, len(judged) + 1), -each.score, each.key))
    return [_trace(each, search.weights, places.get(each.key), reasons.get(each.key)) for each in ordered[:most]]


def _trace(
    ranked: RankedCandidate, weights: Mapping[str, float], place: int | None, out: Dropped | None
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
        text=clip(source.text, EXCERPT),
    )


def describe_queries(run: ExecutablePlan, search: SearchResult, fused: FusionResult) -> list[ExecutedQuery]:
    """How many results each executed query of the plan had."""
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


ARMS: dict[str, Arm] = {
    "text": "words",
    "vector": "vectors",
    "entity": "names",
    "tail": "session",
    "knowledge": "knowledge",
    PENDING: "overlay",
    "all": "all",
}
"""The arm of each kind of ranked list. `text#1` holds what the second query found by words."""
CARRIED_ANYWAY = "carried"
"""Why a candidate is not ranked: the package shows it anyway, in core memory or among the recent turns."""
_CARRIED: dict[Told, str] = {
    "zh": "包里本来就有它：属于核心记忆，或在最近的对话里。",
    "en": "The package carries it anyway: it is core memory, or among the recent turns.",
}


def explain_composition(
    composition: Composition, policy_version: str, ignored: Sequence[str], language: Told
) -> Explanation:
    """The full explanation of a package; `ignored` are unknown fields of the request."""
    packaged, search = composition.packaged, composition.search
    dropped = list(_list_dropped(composition, _explain_decisions(composition, policy_version, language)))
    package = composition.package.model_copy(update={"debug": None})
    return Explanation(
        package=package,
        messages=messages(package),
        policy={},
        policy_version=policy_version,
        planner=describe_plan(composition.planning.planned),
        queries=describe_queries(composition.wanted.run, search, composition.resolution.fused),
        arms=to_arm_timings(composition.report),
        rerank=composition.ranking.reranked,
        candidates=_list_candidates(composition, {each.id: each for each in dropped}, language),
        dropped=dropped,
        held_back=to_held_back(packaged.held_back),
        why_selected=list(packaged.why_selected),
        budget=_describe_budget(packaged),
        steps=_time_steps(composition),
        notes=list(composition.report.notes),
        ignored=[*ignored, *composition.report.ignored],
        took_ms=round(composition.took_ms, 3),
    )


def _time_steps(composition: Composition) -> list[StepTime]:
    spans = [round((end - begin) * 1000, 3) for begin, end in pairwise(composition.ended)]
    return [StepTime(step=step, took_ms=took) for step, took in zip(STEPS, spans, strict=True)]


def _describe_budget(packaged: PackagedContext) -> BudgetUse:
    allocation = packaged.allocation
    return BudgetUse(
        limit=allocation.limit,
        used=packaged.package.constraints.token_budget.used_estimate,
        margin=allocation.margin,
        profile=allocation.profile,
        allocation=allocation.allocation,
        sections=[
            SectionBudget(
                section=name,
                wanted=slot.wanted,
                minimum=slot.minimum,
                maximum=slot.maximum,
                share=slot.share,
                granted=slot.granted,
                used=slot.used,
            )
            for name, slot in allocation.slots.items()
        ],
    )


def _explain_decisions(composition: Composition, policy_version: str, language: Told) -> dict[str, str]:
    """The sentence of each decision, as in receipts."""
    search = composition.search
    stale = {key: search.changes.cause(key) for key in search.stale}
    made = receipts.list_decisions(composition.resolution.fused, composition.packaged, stale, policy_version)
    return {each["id"]: explain_decision(each, language) for each in made}


def _list_dropped(composition: Composition, sentences: Mapping[str, str]) -> Iterator[DroppedAtStep]:
    """What was left out, in the order of the steps."""
    ranked, resolved = composition.ranking.fused.dropped, composition.resolution.fused.dropped
    seen = {each.key for each in ranked}
    changes = composition.search.changes
    for key in dict.fromkeys(composition.search.stale):
        why_so = sentences.get(key, "")
        yield DroppedAtStep(id=key, reason="superseded", rule=changes.cause(key), step="search", why=why_so)
    by_step: tuple[tuple[Step, Sequence[Dropped]], ...] = (
        ("rank", ranked),
        ("resolve", [each for each in resolved if each.key not in seen]),
        ("package", composition.packaged.dropped),
    )
    for step, gone in by_step:
        for each in gone:
            yield DroppedAtStep(
                id=each.key,
                reason=each.reason,
                score=round(each.score, 6),
                rule=each.rule,
                step=step,
                why=sentences.get(each.key, ""),
            )


def _list_candidates(
    composition: Composition, dropped: Mapping[str, DroppedAtStep], language: Told
) -> list[ExplainedCandidate]:
    """Every candidate: first those that are shown, then the rest by score, then what the package carries anyway."""
    search, fused = composition.search, composition.resolution.fused
    shown = [each.id for each in composition.package.evidence]
    merged = {each.key: each for each in merge_candidates(search.candidates)}
    judged = trace_candidates(search, fused, shown, composition.packaged.dropped, most=None)
    listed = {each.id for each in judged}
    beside = [RankedCandidate(each, 0.0, 0.0, Factors(0.0)) for key, each in merged.items() if key not in listed]
    carried = trace_candidates(search, FusionResult(tuple(beside), (), len(beside)), (), most=None)
    sources = {each.key: each.candidate for each in (*fused.judged, *fused.ranked)} | merged
    carries = (
        DroppedAtStep(id=each.id, reason=CARRIED_ANYWAY, step="rank", why=_CARRIED[language]) for each in carried
    )
    ends = {**dropped, **{each.id: each for each in carries}}
    return [_explain_candidate(each, sources[each.id], ends.get(each.id)) for each in (*judged, *carried)]


def _explain_candidate(trace: CandidateTrace, candidate: Candidate, out: DroppedAtStep | None) -> ExplainedCandidate:
    """The candidate with its best ranks and, if it is not shown, the step and the reason."""
    gone = out if trace.place is None else None
    return ExplainedCandidate(
        **trace.model_dump(exclude={"dropped", "rule"}),
        dropped=gone.reason if gone else None,
        rule=gone.rule if gone else None,
        kind=candidate.kind,
        scores=_find_best(candidate),
        step=gone.step if gone else None,
        why=gone.why if gone else "",
    )


def _find_best(candidate: Candidate) -> list[ArmBest]:
    """The candidate's highest rank in each arm."""
    best: dict[Arm, ArmBest] = {}
    for name, rank in candidate.arm_ranks.items():
        arm = ARMS.get(name.partition("#")[0])
        if arm is None:
            continue
        score = round(candidate.arm_scores.get(name, 0.0), 6)
        if arm not in best or rank < best[arm].rank:
            best[arm] = ArmBest(arm=arm, rank=rank, score=score)
    return [best[arm] for arm in ARMS.values() if arm in best]
