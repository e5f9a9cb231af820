"""The one internal evidence as the EvidencePack shows it (X46); the ContextPackage's view is in `slots`."""

import hashlib
from datetime import datetime
from typing import cast

from schemas.evidence_pack import (
    EvidenceKind,
    EvidenceMetadata,
    EvidenceRaw,
    EvidenceSourceType,
    PackEvidence,
    PackProvenance,
    Signals,
)
from schemas.retrieval_plan import RetrievalPlan
from services.compose.rules.candidates import Candidate, RankedCandidate
from services.compose.rules.packing.slots import ref, signals
from services.compose.rules.packing.snippet import snippet
from shared.language.normalise import detect
from shared.screening.sanitize import SanitizePolicy, screen

_SOURCE_TYPES = ("url", "file", "manual", "memory_snapshot")


def pack_evidence(
    ranked: RankedCandidate, plan: RetrievalPlan, retrieved_at: datetime, policy: SanitizePolicy
) -> PackEvidence:
    """One result of a plan, showing what the plan's output section asks for; the snippet is plain text."""
    source, output = ranked.candidate, plan.output
    question = plan.queries[source.query].text
    text, level = snippet(source.text, question, output.snippet_policy, output.max_snippet_chars)
    return PackEvidence(
        id=ranked.key,
        kind=_kind(source),
        document_id=source.document_id,
        section_id=source.section_id,
        title=screen(source.title or (source.category if source.memory_id else ""), policy).text,
        source_uri=source.uri,
        source_type=source_type(source),
        snippet=text if output.include_snippets else "",
        snippet_policy=level,
        language=source.language or detect(source.text),
        score=round(ranked.factors.relevance, 6),
        signals=signals(ranked) if output.include_signals else Signals(),
        provenance=PackProvenance(
            mode=source.mode, query_text=question, query_index=source.query, retrieved_at=retrieved_at
        )
        if output.include_provenance
        else PackProvenance(mode=source.mode),
        metadata=EvidenceMetadata(
            role=source.role,
            name=source.name,
            session_id=source.session_id,
            created_at=source.valid_at,
            valid_until=source.until,
            type=source.memory_type,
            version=source.version,
            org_tier=source.org_tier or None,
        ),
        ref=ref(ranked),
        raw=_raw(ranked, debug=plan.debug.trace) if output.include_raw else None,
    )


def source_type(candidate: Candidate) -> EvidenceSourceType:
    """Memories and messages are a snapshot of memory; a section of knowledge is what its document is."""
    if not candidate.is_resource:
        return "memory_snapshot"
    known = candidate.source_type in _SOURCE_TYPES
    return cast("EvidenceSourceType", candidate.source_type) if known else "other"


def _raw(ranked: RankedCandidate, *, debug: bool) -> EvidenceRaw:
    """Where the whole text is, and its hash; a message of a turn is the address with its place behind `#`."""
    source = ranked.candidate
    place = "" if source.message_ordinal is None else f"#{source.message_ordinal}"
    return EvidenceRaw(
        content_ref=f"{source.uri}{place}",
        content_hash="sha256:"
        + hashlib.sha256((source.original or source.text).encode("utf-8", "replace")).hexdigest(),
        debug_payload={"arms": dict(source.arm_ranks), "scores": dict(source.arm_scores)} if debug else None,
    )


def _kind(candidate: Candidate) -> EvidenceKind:
    if candidate.memory_id:
        return "memory"
    if candidate.is_resource:
        return "resource_section" if candidate.section_id else "resource_doc"
    return "turn"
