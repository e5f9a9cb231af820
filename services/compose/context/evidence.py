"""What a plan brought back, as the contract shows it (seed 001 section 9)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from schemas.evidence_pack import AppliedDiversity, EvidencePack, ModeStats, PackExplain, PackStats
from schemas.retrieve import RetrieveRequest
from services.compose.context import explain
from services.compose.context.hits import SearchResult
from services.compose.rules.candidates import Dropped, HeldBack
from services.compose.rules.packing import slots
from services.compose.rules.packing.views import pack_evidence
from services.compose.rules.planning.execute import ExecutablePlan, list_applied
from services.compose.rules.ranking.fuse import OF_BEST, DiversityPolicy, FusePolicy, FusionResult, best_of
from shared import clock
from shared.screening.sanitize import SanitizePolicy


def fuse_policy(
    asked: RetrieveRequest, found: SearchResult, least_score: float, sanitize: SanitizePolicy
) -> FusePolicy:
    """The plan's own ranking and budget; what was said is bound per session and turn only where the plan says so."""
    diversity = asked.budget.diversity
    given = diversity.model_fields_set
    per_session = [getattr(diversity, name) for name in ("by_document", "by_source") if name in given]
    per_turn = diversity.by_section if "by_section" in given else None
    least = asked.ranking.min_score
    quotas = asked.budget.per_mode_k.model_dump(exclude_none=True)
    return FusePolicy(
        method=asked.ranking.fusion.method,
        rrf_k=asked.ranking.fusion.rrf_k,
        weights=found.weights,
        tie_breaker=asked.ranking.tie_breaker,
        source_priority=asked.ranking.source_priority,
        diversity=DiversityPolicy(
            by_document=diversity.by_document,
            by_section=diversity.by_section,
            by_uri=per_turn or 2,
            by_domain=diversity.by_source,
            by_session=min(per_session, default=None),
            by_turn=per_turn,
        ),
        limit=asked.budget.top_k,
        memories_max=asked.budget.top_k,
        lists=found.lists,
        per_mode=quotas,
        candidates_max=asked.budget.candidate_k,
        least_score=least_score if least is None else least,
        least_best=best_of(least_score) if least is None else 0.0,
        least_share=OF_BEST if least is None else 0.0,
        sanitize=sanitize,
    )


def evidence_pack(
    asked: RetrieveRequest,
    run: ExecutablePlan,
    found: SearchResult,
    fused: FusionResult,
    held: Sequence[HeldBack],
    request_id: str,
    at: datetime,
    took_ms: float,
    ignored: Sequence[str],
    sanitize: SanitizePolicy,
) -> EvidencePack:
    """The final order with its signals, counts, what was not honoured and what is held back."""
    evidences = [pack_evidence(ranked, asked, at, sanitize) for ranked in fused.ranked]
    return EvidencePack(
        plan=asked,
        plan_id=str(clock.uuid7()),
        request_id=request_id,
        generated_at=at,
        evidences=evidences,
        stats=PackStats(
            candidates=fused.candidates,
            returned=len(evidences),
            took_ms=round(took_ms, 3),
            by_mode=_by_mode(run, fused),
        ),
        explain=_explain(asked, run, found, fused, held, ignored),
        warnings=list(run.notes),
    )


def screen_all(fused: FusionResult, policy: SanitizePolicy) -> tuple[FusionResult, list[HeldBack]]:
    """Only what may be shown, as it may be shown; the rest is dropped, and all that is held back named (R089, R090)."""
    seen = slots.screen_candidates(fused.ranked, policy)
    held = [text for each, clean in seen for text in slots.held_back_of(each.candidate, clean, policy)]
    kept = [
        replace(each, candidate=replace(each.candidate, text=clean.text))
        for each, clean in seen
        if clean.outcome != "blocked"
    ]
    blocked = [
        Dropped(each.key, "blocked", each.score, clean.rule) for each, clean in seen if clean.outcome == "blocked"
    ]
    return replace(fused, ranked=tuple(kept), dropped=(*fused.dropped, *blocked)), held


def _explain(
    asked: RetrieveRequest,
    run: ExecutablePlan,
    found: SearchResult,
    fused: FusionResult,
    held: Sequence[HeldBack],
    ignored: Sequence[str],
) -> PackExplain:
    diversity = asked.budget.diversity
    trace = asked.debug.trace
    return PackExplain(
        fusion=asked.ranking.fusion.method,
        rerank=found.reranked,
        filters_applied=list_applied(asked),
        diversity=AppliedDiversity(
            by_document=diversity.by_document,
            by_source=diversity.by_source,
            by_section=diversity.by_section,
            applied=any(d.reason == "diversity" for d in fused.dropped),
        ),
        ignored_fields=list(dict.fromkeys([*ignored, *found.ignored])),
        degraded_reason=list(dict.fromkeys(found.degraded)),
        notes=found.notes,
        fusion_weights=asked.ranking.fusion.weights,
        queries=explain.queries(run, found, fused),
        arms=explain.timings(found),
        dropped=explain.list_dropped(found, fused.dropped) if trace else [],
        held_back=explain.to_held_back(held),
        candidates=explain.candidates(found, fused, [each.key for each in fused.ranked]) if trace else [],
    )


def _by_mode(run: ExecutablePlan, fused: FusionResult) -> dict[str, ModeStats]:
    """Every mode that ran or brought something: a result counts for the query that found it best."""
    returned = Counter(each.candidate.mode for each in fused.ranked)
    modes = dict.fromkeys([*(step.query.mode for step in run.steps), *fused.found_by, *returned])
    return {mode: ModeStats(candidates=fused.found_by.get(mode, 0), returned=returned[mode]) for mode in modes}
