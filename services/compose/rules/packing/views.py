"""How evidence is shown in an EvidencePack: in full, the matching passage, or one sentence.

`slots` has the form for a ContextPackage.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Literal, cast

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
from services.compose.rules.packing.slots import to_ref, to_signals
from shared.language.normalise import clip, detect
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms, terms
from shared.screening.sanitize import SanitizePolicy, screen

Level = Literal["l2", "l1", "l0"]
LEVELS: dict[Level, int] = {"l1": 320, "l0": 120}
"""The most characters of each level: l2 is the whole text, l1 a passage, l0 a line."""
MAX_SENTENCES = 400
_SENTENCE = to_pattern(r"[^。！？!?；;\n.]*(?:[。！？!?；;\n]+|\.+(?=\s|$)|\.|$)")


def make_snippet(text: str, question: str, policy: Literal["l2", "l1", "l0", "auto"], most: int) -> tuple[str, Level]:
    """At most `most` characters of the text, and the level; `auto` shows all if it fits."""
    level: Level = policy if policy != "auto" else "l2" if len(text) <= most else "l1"
    if level == "l2":
        return clip(text, most), level
    room = min(most, LEVELS[level]) if policy != "auto" else most
    if len(text) <= room and level == "l1":
        return text, level
    return choose_passage(text, query_terms(question, 32), room, one=level == "l0"), level


def choose_passage(text: str, wanted: Sequence[str], most: int, *, one: bool = False) -> str:
    """The adjacent sentences with most of the wanted words; gaps are marked."""
    sentences = [each for each in _SENTENCE.findall(text[:40_000]) if each.strip()][:MAX_SENTENCES]
    if not sentences:
        return clip(text.strip(), most)
    needed = set(wanted)
    worth = [len(needed.intersection(terms(each))) if needed else 0 for each in sentences]
    best = max(range(len(sentences)), key=lambda at: (worth[at], -at))
    first, last = best, best + 1
    while not one:
        room = most - 2 - sum(map(len, sentences[first:last]))
        sides = [at for at in (last, first - 1) if 0 <= at < len(sentences) and len(sentences[at]) <= room]
        if not sides:
            break
        at = max(sides, key=lambda side: (worth[side], side == last))
        first, last = min(first, at), max(last, at + 1)
    chosen = "".join(sentences[first:last]).strip()
    opened = ("…" if first else "") + chosen
    closed = opened if last == len(sentences) else opened + "…"
    return clip(closed if len(closed) <= most else chosen, most)


_SOURCE_TYPES = ("url", "file", "manual", "memory_snapshot")


def to_pack_evidence(
    ranked: RankedCandidate, plan: RetrievalPlan, retrieved_at: datetime, policy: SanitizePolicy
) -> PackEvidence:
    """One result of a plan in the form that the plan's output section asks for; the snippet is plain text."""
    source, output = ranked.candidate, plan.output
    question = plan.queries[source.query].text
    text, level = make_snippet(source.text, question, output.snippet_policy, output.max_snippet_chars)
    return PackEvidence(
        id=ranked.key,
        kind=_kind(source),
        document_id=source.document_id,
        section_id=source.section_id,
        title=screen(source.title or (source.category if source.memory_id else ""), policy).text,
        source_uri=source.uri,
        source_type=choose_source_type(source),
        snippet=text if output.include_snippets else "",
        snippet_policy=level,
        language=source.language or detect(source.text),
        score=round(ranked.factors.relevance, 6),
        signals=to_signals(ranked) if output.include_signals else Signals(),
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
        ref=to_ref(ranked),
        raw=_to_raw(ranked, debug=plan.debug.trace) if output.include_raw else None,
    )


def choose_source_type(candidate: Candidate) -> EvidenceSourceType:
    """Memories and messages are a snapshot of memory; a section of knowledge has the type of its document."""
    if not candidate.is_resource:
        return "memory_snapshot"
    known = candidate.source_type in _SOURCE_TYPES
    return cast("EvidenceSourceType", candidate.source_type) if known else "other"


def _to_raw(ranked: RankedCandidate, *, debug: bool) -> EvidenceRaw:
    """The address and hash of the whole text; a message of a turn has its ordinal behind `#`."""
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
