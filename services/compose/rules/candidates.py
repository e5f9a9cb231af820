"""Candidates and the signals of their final score: recency, confidence, provenance, frequency, advice."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from schemas.evidence_pack import memory_uri, turn_uri
from schemas.memory_types import types_with
from schemas.vocabulary import DropReason, Epistemic, Intent, Language, MemoryType, Provenance, Role, SearchMode
from shared.domain.blocks import Recognized
from shared.domain.decay import DECAY
from shared.policy import RankingPolicy
from shared.policy.compose import Steps, weigh_age
from shared.screening.sanitize import Source

CandidateKind = Literal["memory", "turn", "resource"]


@dataclass(frozen=True, slots=True)
class Frequency:
    """How often a memory was injected and with which reception, without turns of degraded packages."""

    injections: int = 0
    positive_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class ListOf:
    """The query, by number, and the mode of a ranked list."""

    query: int
    mode: SearchMode


@dataclass(frozen=True, slots=True)
class Candidate:
    """One search result: a memory, a message of a turn, or a section of a resource."""

    kind: CandidateKind
    text: str
    valid_at: datetime
    memory_id: str | None = None
    memory_type: MemoryType | None = None
    turn_id: str | None = None
    message_ordinal: int | None = None
    document_id: str | None = None
    section_id: str | None = None
    session_id: str | None = None
    role: Role | None = None
    name: str | None = None
    title: str = ""
    source_uri: str = ""
    source_type: str = ""
    category: str = ""
    last_validated_at: datetime | None = None
    confidence: float = 0.6
    provenance: Provenance = "observation"
    epistemic: Epistemic = "preference"
    frequency: Frequency = Frequency()
    arm_ranks: Mapping[str, int] = field(default_factory=dict[str, int])
    arm_scores: Mapping[str, float] = field(default_factory=dict[str, float])
    rerank_score: float | None = None
    probability: float = 1.0
    of_part: bool = False
    """Whether it answers one part of the question; then the best answer of another part is no measure for it."""
    mode: SearchMode = "hybrid"
    query: int = 0
    language: Language | None = None
    original: str = ""
    recognized: tuple[Recognized, ...] = ()
    org_tier: str = ""
    until: datetime | None = None
    """Until when its statement was valid, if it has ended."""
    version: int | None = None
    """The version of a memory."""

    @property
    def key(self) -> str:
        """The key that identifies the same evidence."""
        if self.memory_id:
            return f"memory:{self.memory_id}"
        if self.kind == "resource" or not self.turn_id:
            place = self.document_id or self.source_uri
            return f"resource:{place}:{self.section_id or ''}"
        return f"turn:{self.turn_id}:{self.message_ordinal if self.message_ordinal is not None else ''}"

    @property
    def uri(self) -> str:
        """The address at which the evidence can be read again."""
        if self.memory_id:
            return memory_uri(self.memory_id)
        if self.source_uri:
            return self.source_uri
        return turn_uri(self.turn_id) if self.turn_id else f"smartbrain://document/{self.document_id or 'unknown'}"

    @property
    def is_resource(self) -> bool:
        """Whether the text comes from knowledge."""
        return self.kind == "resource"

    @property
    def is_own(self) -> bool:
        """Whether the user or the assistant said it, or it was learnt from what they said."""
        return not self.is_resource and self.role not in ("tool", "system") and self.provenance != "tool"

    @property
    def comes_from(self) -> Source:
        """The source by which the text is screened."""
        return "own" if self.is_own else "foreign"


@dataclass(frozen=True, slots=True)
class Factors:
    """The signals whose product is the final score."""

    relevance: float
    recency: float = 1.0
    confidence: float = 1.0
    provenance: float = 1.0
    frequency: float = 1.0

    @property
    def final(self) -> float:
        return self.relevance * self.recency * self.confidence * self.provenance * self.frequency


MOST_MEMORIES = 8
"""The most memories among the evidence of a package, unless the request allows more notes."""


def weigh_odds(probability: float, times: float) -> float:
    """The probability with its odds multiplied."""
    more = probability * times
    return more / (more + 1.0 - probability) if more > 0 else 0.0


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate with its final rank and the reasons for it."""

    candidate: Candidate
    score: float
    rrf: float
    factors: Factors

    @property
    def key(self) -> str:
        return self.candidate.key


@dataclass(frozen=True, slots=True)
class Dropped:
    """A result that was left out, with the reason."""

    key: str
    reason: DropReason
    score: float = 0.0
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class CandidateConflict:
    """A preference that a rule of the enterprise overruled: both keys, and the rule."""

    memory: str
    knowledge: str
    source_uri: str
    rule: str
    score: float = 0.0
    resolution: Literal["knowledge_first"] = "knowledge_first"


@dataclass(frozen=True, slots=True)
class CoreMemory:
    """A memory that every package of the user considers: profile, preference, constraint, goal."""

    type: MemoryType
    text: str
    updated_at: datetime
    memory_id: str
    turn_id: str | None = None
    confidence: float = 0.6
    provenance: Provenance = "observation"
    epistemic: Epistemic = "preference"
    valid_at: datetime | None = None
    last_validated_at: datetime | None = None
    category: str = ""
    is_pinned: bool = False

    @property
    def comes_from(self) -> Source:
        """As for a candidate; tool results are foreign."""
        return "foreign" if self.provenance == "tool" else "own"


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A text that is not shown in full: its source and the rule."""

    key: str
    source: Source
    rule: str
    whole: bool


@dataclass(frozen=True, slots=True)
class TurnMessage:
    role: Role
    content: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class RecentTurn:
    """A turn of the session; a greater `seq` is newer."""

    turn_id: str
    seq: int
    messages: tuple[TurnMessage, ...] = field(default=())


DEFAULT_RANKING = RankingPolicy()


@dataclass(frozen=True, slots=True)
class SignalPolicy:
    """The tables of the signals from the policy; recency uses `valid_at`, decay `last_validated_at`."""

    ranking: RankingPolicy = DEFAULT_RANKING
    decay: Steps = DECAY


DEFAULT_SIGNALS = SignalPolicy()


def to_frequency(injections: int, positives: int, corrections: int, misses: int) -> Frequency:
    """Counts an injection as well received if the answer used it and nobody corrected it, or if it was praised."""
    if not injections:
        return Frequency()
    well = max(injections - misses - corrections, positives)
    return Frequency(injections, min(max(well / injections, 0.0), 1.0))


def compute_frequency_factor(frequency: Frequency, policy: SignalPolicy = DEFAULT_SIGNALS) -> float:
    """Above 1 for a memory often injected and well received, below 1 if badly received, else 1."""
    limits = policy.ranking.frequency
    if frequency.injections < limits.least:
        return 1.0
    if frequency.positive_rate > limits.good:
        return limits.up
    return limits.down if frequency.positive_rate < limits.bad else 1.0


def compute_factors(
    candidate: Candidate, relevance: float, now: datetime, policy: SignalPolicy = DEFAULT_SIGNALS
) -> Factors:
    """All signals of a memory; messages and documents are scored by relevance alone."""
    if candidate.is_resource:
        return Factors(relevance)
    ranking = policy.ranking
    if candidate.memory_id is None:
        return Factors(relevance, confidence=ranking.turn_confidence, provenance=ranking.turn_provenance)
    validated = candidate.last_validated_at or candidate.valid_at
    return Factors(
        relevance=relevance,
        recency=weigh_age(ranking.recency, candidate.valid_at, now),
        confidence=candidate.confidence * weigh_age(policy.decay, validated, now),
        provenance=ranking.provenance.weight_of(candidate.provenance),
        frequency=compute_frequency_factor(candidate.frequency, policy),
    )


WISHES = types_with("wish")
LIKELIER = 5.0
"""The factor of the odds. The curve was fitted to questions about the past, which rarely ask for advice."""


def weigh_wishes(candidates: Iterable[Candidate], intent: Intent) -> list[Candidate]:
    """The candidates; if advice is asked for, wishes, habits, constraints and notes get a higher probability."""
    if intent != "recommend":
        return list(candidates)
    return [
        replace(each, probability=weigh_odds(each.probability, LIKELIER)) if each.memory_type in WISHES else each
        for each in candidates
    ]
