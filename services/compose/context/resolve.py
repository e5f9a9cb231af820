"""What was ranked, less what something else has replaced or rules out, or is about somebody or something else."""

from collections.abc import Sequence
from dataclasses import replace

from schemas.retrieve import RetrieveRequest
from services.compose.context.nearest import nearness_between
from services.compose.context.stages import ComposeState, PlanningResult, RankingResult, ResolutionResult
from services.compose.rules.candidates import CoreMemory, Dropped, HeldBack
from services.compose.rules.packing import slots
from services.compose.rules.packing.conflict import ConflictResolution, resolve_conflicts
from services.compose.rules.planning.execute import ExecutablePlan
from services.compose.rules.planning.questions import asks_past, respelt
from services.compose.rules.ranking.fuse import FusionResult
from services.compose.rules.resolving.scopes import mark_past, without_others, without_relatives
from services.compose.rules.resolving.superseding import without_superseded
from shared.metrics.packages import KNOWLEDGE_CONFLICTS
from shared.runtime import Runtime
from shared.screening.sanitize import SanitizePolicy


def resolve(rt: Runtime, state: ComposeState, planning: PlanningResult, ranking: RankingResult) -> ResolutionResult:
    """What may be packed: what has been replaced, or is about others than the message asks about, is left out."""
    message, past = state.question, asks_past(state.question)
    fused = without_superseded(ranking.fused, message, nearness_between, past=past)
    fused = mark_past(fused, past=past)
    fused = without_relatives(fused, message, planning.planned.intent)
    # who is named is not another than the one that the other name is of
    fused = without_others(fused, " ".join((message, *respelt(message, state.joined))), nearness_between)
    settled = apply_precedence(rt, fused, ranking.core, message)
    return ResolutionResult(fused, settled.evidence, settled.core, settled.conflicts)


def resolve_plan(
    rt: Runtime, request: RetrieveRequest, run: ExecutablePlan, ranking: RankingResult
) -> ResolutionResult:
    """What of a plan's finds may be shown, as it may be shown."""
    question = " ".join(query.text for query in request.queries)
    past = any(step.bounds.past for step in run.steps)
    fused = without_superseded(ranking.fused, question, nearness_between, past=past)
    fused, held_back = screen_all(mark_past(fused, past=True), rt.policy.compose.sanitize)
    return ResolutionResult(fused, held_back=held_back)


def apply_precedence(rt: Runtime, fused: FusionResult, core: Sequence[CoreMemory], message: str) -> ConflictResolution:
    """Where knowledge and a preference contradict each other, knowledge stands (seed 004 section 4.3)."""
    if not (rt.knowledge.configured and rt.policy.knowledge.precedence):
        return ConflictResolution(fused.ranked, tuple(core))
    resolution = resolve_conflicts(fused.ranked, core, message, rt.policy.compose.sanitize)
    KNOWLEDGE_CONFLICTS.inc(len(resolution.conflicts))
    return resolution


def screen_all(fused: FusionResult, policy: SanitizePolicy) -> tuple[FusionResult, list[HeldBack]]:
    """Only what may be shown, as it may be shown; the rest is dropped, and all that is held back named (R089, R090)."""
    seen = slots.screen_candidates(fused.ranked, policy)
    held = [text for each, clean in seen for text in slots.held_back_of(each.candidate, clean, policy)]
    allowed = [
        replace(each, candidate=replace(each.candidate, text=clean.text))
        for each, clean in seen
        if clean.outcome != "blocked"
    ]
    blocked = [
        Dropped(each.key, "blocked", each.score, clean.rule) for each, clean in seen if clean.outcome == "blocked"
    ]
    return replace(fused, ranked=tuple(allowed), dropped=(*fused.dropped, *blocked)), held
