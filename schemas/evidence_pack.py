"""EvidencePack 0.1: what a plan brought back, in its final order, with reasons (seeds 001 section 9, 003 section 7)."""

# ruff: noqa: RUF012 - pydantic copies a mutable default for every instance

from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from schemas.base import Contract, Instant, JsonObject
from schemas.explain import ArmTiming, CandidateTrace, DroppedEvidence, ExecutedQuery, HeldBackText
from schemas.retrieval_plan import PLAN_VERSION, Diversity, RetrievalPlan, Version
from schemas.vocabulary import Epistemic, Language, Provenance, SearchMode

EVIDENCE_VERSION = "0.1"

EvidenceKind = Literal["resource_section", "resource_doc", "memory_chunk", "memory", "turn", "other"]
EvidenceSourceType = Literal["url", "file", "manual", "memory_snapshot", "other"]


def turn_uri(turn_id: str) -> str:
    """Where a turn can be read again (decision 12)."""
    return f"smartbrain://turn/{turn_id}"


def memory_uri(memory_id: str) -> str:
    """Where a memory can be read again (decision 12)."""
    return f"smartbrain://memory/{memory_id}"


class Signals(Contract):
    """What each ranker said; absent means that it did not see the evidence."""

    vector_score: float | None = None
    vector_rank: int | None = None
    fts_score: float | None = None
    fts_rank: int | None = None
    rrf_score: float | None = None
    rerank_score: float | None = None
    tag_score: float | None = None
    topic_score: float | None = None
    recency_score: float | None = None
    confidence_effective: float | None = None
    provenance_weight: float | None = None
    frequency_factor: float | None = None


class Ref(Contract):
    """Where the evidence lives inside its store; `message` is the ordinal within the turn."""

    document_id: str | None = None
    section_id: str | None = None
    turn_id: str | None = None
    memory_item_id: str | None = None
    message: int | None = None


class PackProvenance(Contract):
    """Which query found the evidence, and when."""

    mode: SearchMode
    query_text: str | None = None
    query_index: int | None = None
    retrieved_at: Instant | None = None


class EvidenceMetadata(Contract):
    """Position within the source; `version` is that of a memory."""

    chunk_index: int | None = None
    offset_start: int | None = None
    offset_end: int | None = None
    page: int | None = None
    section_title: str | None = None
    role: str | None = None
    name: str | None = None
    session_id: str | None = None
    created_at: Instant | None = None
    valid_until: Instant | None = None
    type: Annotated[str | None, Field(validation_alias=AliasChoices("type", "memory_type"))] = None
    version: int | None = None
    org_tier: str | None = None


class EvidenceRaw(Contract):
    """A handle to the untouched content."""

    content_ref: str | None = None
    content_hash: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    debug_payload: JsonObject | None = None


class PackEvidence(Contract):
    """One result of a plan; the list's order is the final order."""

    id: str
    kind: EvidenceKind = "other"
    document_id: str | None = None
    section_id: str | None = None
    title: str = ""
    source_uri: str
    source_type: EvidenceSourceType = "other"
    snippet: str = ""
    snippet_policy: Literal["l2", "l1", "l0", "auto"] = "auto"
    language: Language = "other"
    score: float = 0.0
    signals: Signals = Signals()
    provenance: PackProvenance
    metadata: EvidenceMetadata = EvidenceMetadata()
    ref: Ref = Ref()
    raw: EvidenceRaw | None = None


class ModeStats(Contract):
    """How much one mode found and how much of it stayed."""

    candidates: int = 0
    returned: int = 0


class PackStats(Contract):
    """Counts and time."""

    candidates: int = 0
    returned: int = 0
    took_ms: float = 0.0
    by_mode: dict[str, ModeStats] = {}


class AppliedDiversity(Diversity):
    """The diversity limits and whether they removed anything."""

    applied: bool = False


class PackExplain(Contract):
    """How the result came about and what was not honoured (seed 001 section 9); `rerank` names who reranked.

    `debug.trace` adds the candidates.
    """

    fusion: str = "probability"
    rerank: str | bool = False
    filters_applied: list[str] = []
    diversity: AppliedDiversity = AppliedDiversity()
    ignored_fields: list[str] = []
    degraded_reason: list[str] = []
    fusion_weights: dict[str, float] = {}
    queries: list[ExecutedQuery] = []
    arms: list[ArmTiming] = []
    dropped: list[DroppedEvidence] = []
    held_back: list[HeldBackText] = []
    candidates: list[CandidateTrace] = []
    notes: list[str] = []


class EvidencePack(Contract):
    """The executor's answer to a RetrievalPlan; `evidences` may be empty."""

    version: Version = EVIDENCE_VERSION
    plan: RetrievalPlan
    plan_id: str
    request_id: str | None = None
    generated_at: Instant
    evidences: list[PackEvidence] = []
    stats: PackStats = PackStats()
    explain: PackExplain = PackExplain()
    warnings: list[str] = []


class EvidenceProvenance(Contract):
    """Which plan found the evidence, and when (seed 003 section 7.1)."""

    request_id: str
    plan_version: str = PLAN_VERSION
    retrieved_at: Instant


class KnownOf(Contract):
    """What is known of a memory beside its words (seed 004 section 2.3.1); its tag says what of it a model can use."""

    confidence: float
    provenance: Provenance
    valid_since: Instant
    category: str = ""
    epistemic_type: Epistemic


class EvidenceItem(Contract):
    """Citable evidence inside a ContextPackage; `source_uri` leads back to the source (seed 003 section 7.1)."""

    id: str
    source: Literal["memory", "resource"]
    source_uri: str
    title: str = ""
    snippet: str
    mode: SearchMode
    score: float = 0.0
    signals: Signals = Signals()
    provenance: EvidenceProvenance
    ref: Ref = Ref()
    known: KnownOf | None = None
    group: str | None = None


def evidence_line(label: int, item: EvidenceItem) -> str:
    """`[E1]` and the snippet, a stable form to cite and to evaluate; of a document its title and address above it.

    The address of a memory or a turn tells a model nothing: the label leads to it.
    """
    if item.source == "memory":
        return f"[E{label}] {item.snippet}"
    title = f"{item.title} - " if item.title else ""
    return f"[E{label}] {title}{item.source_uri}\n{item.snippet}"
