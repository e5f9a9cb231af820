"""A composition told in full: every candidate by every arm, each step with its time, and what was left out and why."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from schemas.explain import CandidateTrace, Step
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
from schemas.messages import messages
from services.compose.context import explain
from services.compose.context.stages import STEPS, Composition
from services.compose.rules.candidates import Candidate, Factors, RankedCandidate
from services.compose.rules.packing import receipts
from services.compose.rules.packing.draft import PackagedContext
from services.compose.rules.packing.why import Told, why
from services.compose.rules.pending.pending_changes import ARM as PENDING
from services.compose.rules.ranking.fuse import FusionResult, merge

ARMS: dict[str, Arm] = {
    "text": "words",
    "vector": "vectors",
    "entity": "names",
    "tail": "session",
    "knowledge": "knowledge",
    PENDING: "overlay",
    "all": "all",
}
"""The arm of each kind of ranked list: `text#1` is what the second query found by words."""
CARRIED = "carried"
"""Why a candidate is not judged: the package shows it anyway, as core memory or among the recent turns."""
_CARRIED: dict[Told, str] = {
    "zh": "包里本来就有它：属于核心记忆，或在最近的对话里。",
    "en": "The package carries it anyway: it is core memory, or among the recent turns.",
}


def explain_composition(
    composition: Composition, policy_version: str, ignored: Sequence[str], language: Told
) -> Explanation:
    """All that is known of how the package came about; `ignored` are fields of the request that nobody knows."""
    packaged, search = composition.packaged, composition.search
    dropped = list(_list_dropped(composition, _tell_why(composition, policy_version, language)))
    package = composition.package.model_copy(update={"debug": None})
    return Explanation(
        package=package,
        messages=messages(package),
        policy={},
        policy_version=policy_version,
        planner=explain.describe_plan(composition.planning.planned),
        queries=explain.queries(composition.wanted.run, search, composition.resolution.fused),
        arms=explain.timings(composition.report),
        rerank=composition.ranking.reranked,
        candidates=_list_candidates(composition, {each.id: each for each in dropped}, language),
        dropped=dropped,
        held_back=explain.to_held_back(packaged.held_back),
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


def _tell_why(composition: Composition, policy_version: str, language: Told) -> dict[str, str]:
    """The sentence of each decision, as receipts have it."""
    search = composition.search
    stale = {key: search.changes.cause(key) for key in search.stale}
    made = receipts.decisions(composition.resolution.fused, composition.packaged, stale, policy_version)
    return {each["id"]: why(each, language) for each in made}


def _list_dropped(composition: Composition, sentences: Mapping[str, str]) -> Iterator[DroppedAtStep]:
    """What was left out, in the order of the steps."""
    ranked, resolved = composition.ranking.fused.dropped, composition.resolution.fused.dropped
    seen = {each.key for each in ranked}
    changes = composition.search.changes
    for key in dict.fromkeys(composition.search.stale):
        why_so = sentences.get(key, "")
        yield DroppedAtStep(id=key, reason="superseded", rule=changes.cause(key), step="search", why=why_so)
    by_step: tuple[tuple[Step, Sequence[receipts.Dropped]], ...] = (
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
    """Every candidate: those that are shown first, then the rest by score, at last what the package carries anyway."""
    search, fused = composition.search, composition.resolution.fused
    shown = [each.id for each in composition.package.evidence]
    merged = {each.key: each for each in merge(search.candidates)}
    judged = explain.candidates(search, fused, shown, composition.packaged.dropped, most=None)
    listed = {each.id for each in judged}
    beside = [RankedCandidate(each, 0.0, 0.0, Factors(0.0)) for key, each in merged.items() if key not in listed]
    carried = explain.candidates(search, FusionResult(tuple(beside), (), len(beside)), (), most=None)
    sources = {each.key: each.candidate for each in (*fused.judged, *fused.ranked)} | merged
    ends = {**dropped, **{each.id: _carry(each.id, language) for each in carried}}
    return [_tell(each, sources[each.id], ends.get(each.id)) for each in (*judged, *carried)]


def _carry(key: str, language: Told) -> DroppedAtStep:
    return DroppedAtStep(id=key, reason=CARRIED, step="rank", why=_CARRIED[language])


def _tell(trace: CandidateTrace, candidate: Candidate, out: DroppedAtStep | None) -> ExplainedCandidate:
    """The candidate with its best places, and why and at which step it was left out where it is not shown."""
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
    """The candidate's highest place by each arm."""
    best: dict[Arm, ArmBest] = {}
    for name, rank in candidate.arm_ranks.items():
        arm = ARMS.get(name.partition("#")[0])
        if arm is None:
            continue
        score = round(candidate.arm_scores.get(name, 0.0), 6)
        if arm not in best or rank < best[arm].rank:
            best[arm] = ArmBest(arm=arm, rank=rank, score=score)
    return [best[arm] for arm in ARMS.values() if arm in best]
