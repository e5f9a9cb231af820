"""What a plan brought back, as the contract shows it (seed 001 section 9)."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from schemas.evidence_pack import (
    AppliedDiversity,
    EvidenceKind,
    EvidenceMetadata,
    EvidencePack,
    ModeStats,
    PackEvidence,
    PackExplain,
    PackProvenance,
    PackStats,
    Ref,
    Signals,
)
from schemas.retrieve import RetrieveRequest
from services.compose.arms import Found
from services.compose.rules.fuse import DiversityPolicy, Fused, FusePolicy
from services.compose.rules.model import Candidate, Ranked
from shared.text.language import detect
from shared.text.normalise import clip

_KINDS: dict[str, EvidenceKind] = {"memory": "memory", "turn": "turn", "resource": "resource_section"}


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
    evidences = [_evidence(asked, ranked, at) for ranked in fused.ranked]
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
            filters_applied=["global_filters.time_range"] if asked.global_filters.time_range else [],
            diversity=AppliedDiversity(
                by_document=diversity.by_document,
                by_source=diversity.by_source,
                by_section=diversity.by_section,
                applied=any(d.reason == "diversity" for d in fused.dropped),
            ),
            ignored_fields=[*ignored, *found.ignored],
            degraded_reason=list(dict.fromkeys(found.degraded)),
        ),
    )


def _by_mode(found: Found) -> Counter[str]:
    return Counter(each.mode for each in found.candidates)


def _evidence(asked: RetrieveRequest, ranked: Ranked, at: datetime) -> PackEvidence:
    of = ranked.candidate
    output = asked.output
    return PackEvidence(
        id=ranked.key,
        kind=_KINDS[of.kind],
        title=of.title or of.category,
        source_uri=of.uri,
        snippet=clip(of.text, output.max_snippet_chars) if output.include_snippets else "",
        snippet_policy=output.snippet_policy,
        language=detect(of.text),
        score=round(ranked.score, 6),
        signals=_signals(ranked) if output.include_signals else Signals(),
        provenance=PackProvenance(mode=of.mode, query_text=asked.queries[0].text, query_index=0, retrieved_at=at),
        metadata=EvidenceMetadata(
            role=of.role, name=of.name, session_id=of.session_id, created_at=of.valid_at, memory_type=of.memory_type
        ),
        ref=Ref(turn_id=of.turn_id, memory_item_id=of.memory_id, message=of.message_ordinal),
    )


def _signals(ranked: Ranked) -> Signals:
    of, made = ranked.candidate, ranked.factors
    return Signals(
        vector_score=_best(of, "vector"),
        fts_score=_best(of, "text"),
        vector_rank=_first(of, "vector"),
        fts_rank=_first(of, "text"),
        rrf_score=round(ranked.rrf, 6),
        rerank_score=of.rerank_score,
        recency_score=made.recency,
        confidence_effective=made.confidence,
        provenance_weight=made.provenance,
        frequency_factor=made.frequency,
    )


def _best(of: Candidate, arm: str) -> float | None:
    return max((score for name, score in of.arm_scores.items() if name.startswith(f"{arm}#")), default=None)


def _first(of: Candidate, arm: str) -> int | None:
    return min((rank for name, rank in of.arm_ranks.items() if name.startswith(f"{arm}#")), default=None)
