"""What a plan brought back, as the contract shows it (seed 001 section 9)."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from schemas.evidence_pack import AppliedDiversity, EvidencePack, ModeStats, PackExplain, PackStats
from schemas.retrieve import RetrieveRequest
from services.compose.arms import Found
from services.compose.rules.fuse import DiversityPolicy, Fused, FusePolicy
from services.compose.rules.views import pack_evidence


def fuse_policy(asked: RetrieveRequest, found: Found) -> FusePolicy:
    """The plan's own ranking and budget."""
    diversity = asked.budget.diversity
    return FusePolicy(
        method=asked.ranking.fusion.method,
        rrf_k=asked.ranking.fusion.rrf_k,
        weights=found.weights,
        tie_breaker=asked.ranking.tie_breaker,
        source_priority=asked.ranking.source_priority,
        diversity=DiversityPolicy(
            by_document=diversity.by_document, by_section=diversity.by_section, by_domain=diversity.by_source
        ),
        limit=asked.budget.top_k,
        memories_max=asked.budget.top_k,
    )


def evidence_pack(
    asked: RetrieveRequest,
    found: Found,
    fused: Fused,
    request_id: str,
    at: datetime,
    took_ms: float,
    ignored: Sequence[str],
) -> EvidencePack:
    """The final order with its signals, counts, and what was not honoured."""
    evidences = [pack_evidence(ranked, asked.output, at, asked.queries[0].text) for ranked in fused.ranked]
    returned = Counter(each.provenance.mode for each in evidences)
    diversity = asked.budget.diversity
    return EvidencePack(
        plan=asked,
        plan_id=request_id,
        request_id=request_id,
        generated_at=at,
        evidences=evidences,
        stats=PackStats(
            candidates=fused.candidates,
            returned=len(evidences),
            took_ms=round(took_ms, 3),
            by_mode={mode: ModeStats(candidates=n, returned=returned[mode]) for mode, n in _by_mode(found).items()},
        ),
        explain=PackExplain(
            fusion=asked.ranking.fusion.method,
            rerank=found.reranked,
            filters_applied=["global_filters.time_range"] if asked.global_filters.time_range else [],
            diversity=AppliedDiversity(
                by_document=diversity.by_document,
                by_source=diversity.by_source,
                by_section=diversity.by_section,
                applied=any(d.reason == "diversity" for d in fused.dropped),
            ),
            ignored_fields=[*ignored, *found.ignored],
            degraded_reason=list(dict.fromkeys(found.degraded)),
            notes=found.notes,
        ),
    )


def _by_mode(found: Found) -> Counter[str]:
    return Counter(each.mode for each in found.candidates)
