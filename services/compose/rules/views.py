"""The one internal evidence as the EvidencePack shows it (X46); the ContextPackage's view is in `slots`."""

from datetime import datetime
from typing import cast

from schemas.evidence_pack import (
    EvidenceKind,
    EvidenceMetadata,
    EvidenceSourceType,
    PackEvidence,
    PackProvenance,
    Signals,
)
from schemas.retrieval_plan import Output
from services.compose.rules.model import Candidate, Ranked
from services.compose.rules.slots import ref, signals
from shared.text.language import detect
from shared.text.normalise import clip

_SOURCE_TYPES = ("url", "file", "manual", "memory_snapshot")


def pack_evidence(
    ranked: Ranked, output: Output, retrieved_at: datetime, query_text: str, query_index: int = 0
) -> PackEvidence:
    """One result of a plan, showing what the plan's output section asks for; the snippet is plain text."""
    source = ranked.candidate
    mode = source.mode
    return PackEvidence(
        id=ranked.key,
        kind=_kind(source),
        document_id=source.document_id,
        section_id=source.section_id,
        title=source.title,
        source_uri=source.uri,
        source_type=cast("EvidenceSourceType", source.source_type) if source.source_type in _SOURCE_TYPES else "other",
        snippet=clip(source.text, output.max_snippet_chars) if output.include_snippets else "",
        snippet_policy=output.snippet_policy,
        language=detect(source.text),
        score=round(ranked.score, 6),
        signals=signals(ranked) if output.include_signals else Signals(),
        provenance=PackProvenance(mode=mode, query_text=query_text, query_index=query_index, retrieved_at=retrieved_at)
        if output.include_provenance
        else PackProvenance(mode=mode),
        metadata=EvidenceMetadata(
            role=source.role,
            name=source.name,
            session_id=source.session_id,
            created_at=source.valid_at,
            memory_type=source.memory_type,
        ),
        ref=ref(ranked),
    )


def _kind(candidate: Candidate) -> EvidenceKind:
    if candidate.memory_id:
        return "memory"
    if candidate.is_resource:
        return "resource_section" if candidate.section_id else "resource_doc"
    return "turn"
