"""Builds the EvidencePack of a plan."""

from collections import Counter
from collections.abc import Sequence

from schemas.evidence_pack import AppliedDiversity, EvidencePack, ModeStats, PackExplain, PackStats
from schemas.retrieval_plan import RetrieveRequest
from services.compose.context import explain
from services.compose.context.stages import Call, RankingResult, ResolutionResult, SearchResult, join_reports
from services.compose.rules.packing.views import to_pack_evidence
from services.compose.rules.planning.given import list_applied
from services.compose.rules.planning.plan import ExecutablePlan
from services.compose.rules.ranking.fuse import FusionResult
from shared import clock
from shared.screening.sanitize import SanitizePolicy


def build_evidence_pack(
    request: RetrieveRequest,
    call: Call,
    run: ExecutablePlan,
    search: SearchResult,
    ranking: RankingResult,
    resolution: ResolutionResult,
    ignored: Sequence[str],
    sanitize: SanitizePolicy,
) -> EvidencePack:
    """The final order with its signals, counts, ignored fields and held-back texts."""
    fused = resolution.fused
    evidences = [to_pack_evidence(ranked, request, call.at, sanitize) for ranked in fused.ranked]
    return EvidencePack(
        plan=request,
        plan_id=str(clock.uuid7()),
        request_id=call.request_id,
        generated_at=call.at,
        evidences=evidences,
        stats=PackStats(
            candidates=fused.candidates,
            returned=len(evidences),
            took_ms=round(call.took_ms(), 3),
            by_mode=_count_modes(run, fused),
        ),
        explain=_explain(request, run, search, ranking, resolution, ignored),
        warnings=list(run.notes),
    )


def _explain(
    request: RetrieveRequest,
    run: ExecutablePlan,
    search: SearchResult,
    ranking: RankingResult,
    resolution: ResolutionResult,
    ignored: Sequence[str],
) -> PackExplain:
    report, fused = join_reports((search.report, ranking.report)), resolution.fused
    diversity = request.budget.diversity
    trace = request.debug.trace
    return PackExplain(
        fusion=request.ranking.fusion.method,
        rerank=ranking.reranked,
        filters_applied=list_applied(request),
        diversity=AppliedDiversity(
            by_document=diversity.by_document,
            by_source=diversity.by_source,
            by_section=diversity.by_section,
            repeats=diversity.repeats,
            applied=any(d.reason == "diversity" for d in fused.dropped),
        ),
        ignored_fields=list(dict.fromkeys([*ignored, *report.ignored])),
        degraded_reason=list(dict.fromkeys(report.degraded)),
        notes=list(report.notes),
        fusion_weights=request.ranking.fusion.weights,
        queries=explain.describe_queries(run, search, fused),
        arms=explain.to_arm_timings(report),
        dropped=explain.list_dropped(search, fused.dropped) if trace else [],
        held_back=explain.to_held_back(resolution.held_back),
        candidates=explain.trace_candidates(search, fused, [each.key for each in fused.ranked]) if trace else [],
    )


def _count_modes(run: ExecutablePlan, fused: FusionResult) -> dict[str, ModeStats]:
    """Statistics of every mode that ran or returned something. A result counts for the query that ranked it best."""
    returned = Counter(each.candidate.mode for each in fused.ranked)
    modes = dict.fromkeys([*(step.query.mode for step in run.steps), *fused.found_by, *returned])
    return {mode: ModeStats(candidates=fused.found_by.get(mode, 0), returned=returned[mode]) for mode in modes}
