"""What a search brings and what ranks it: candidates with their places, and the signals of the final score.

Signals: recency, decayed confidence, provenance, frequency, advice (seed 004 2.3.2.4, 4.1).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from schemas.evidence_pack import memory_uri, turn_uri
from schemas.memory_types import types_with
from schemas.vocabulary import DropReason, Epistemic, Intent, Language, MemoryType, Provenance, Role, SearchMode
from shared.domain.blocks import Recognized
from shared.domain.decay import DECAY, age_days, confidence_effective, step
from shared.policy import RankingPolicy
from shared.policy.compose import Steps
from shared.screening.sanitize import Source

CandidateKind = Literal["memory", "turn", "resource"]


@dataclass(frozen=True, slots=True)
class Frequency:
    """How often a memory was injected and how that was received; turns of a degraded system do not count."""

    injections: int = 0
    positive_rate: float = 0.0


@dataclass(frozen=True, slots=True)
class ListOf:
    """Whose a ranked list is: the plan's query by number, and its mode."""

    query: int
    mode: SearchMode


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that a search arm found: a memory, a message of a turn, or a section of a resource."""

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
    """Whether it answers a part of the question: it is not measured by what answers another."""
    mode: SearchMode = "hybrid"
    query: int = 0
    language: Language | None = None
    original: str = ""
    recognized: tuple[Recognized, ...] = ()
    org_tier: str = ""
    until: datetime | None = None
    """Until when what it states held, where that is over."""
    version: int | None = None
    """Of a memory, where it stands already."""

    @property
    def key(self) -> str:
        """What makes two candidates the same evidence (R081)."""
        if self.memory_id:
            return f"memory:{self.memory_id}"
        if self.kind == "resource" or not self.turn_id:
            place = self.document_id or self.source_uri
            return f"resource:{place}:{self.section_id or ''}"
        return f"turn:{self.turn_id}:{self.message_ordinal if self.message_ordinal is not None else ''}"

    @property
    def uri(self) -> str:
        """Where the evidence can be read again (decision 12)."""
        if self.memory_id:
            return memory_uri(self.memory_id)
        if self.source_uri:
            return self.source_uri
        return turn_uri(self.turn_id) if self.turn_id else f"smartbrain://document/{self.document_id or 'unknown'}"

    @property
    def is_resource(self) -> bool:
        """True where the text comes from the knowledge side."""
        return self.kind == "resource"

    @property
    def is_own(self) -> bool:
        """True where the user or the assistant said it, or it is known from what they said."""
        return not self.is_resource and self.role not in ("tool", "system") and self.provenance != "tool"

    @property
    def comes_from(self) -> Source:
        """By what its text is judged before it is shown."""
        return "own" if self.is_own else "foreign"


@dataclass(frozen=True, slots=True)
class Factors:
    """The signals whose product is the final score (seed 004 section 4.1, step 1.3)."""

    relevance: float
    recency: float = 1.0
    confidence: float = 1.0
    provenance: float = 1.0
    frequency: float = 1.0

    @property
    def final(self) -> float:
        """The product of all signals."""
        return self.relevance * self.recency * self.confidence * self.provenance * self.frequency


MEMORIES_MOST = 8
"""Of the evidence of a package so many pieces are memories at most, unless the request allows more notes (X25)."""


def weigh_odds(probability: float, times: float) -> float:
    """The probability whose odds are so many times those of this one."""
    more = probability * times
    return more / (more + 1.0 - probability) if more > 0 else 0.0


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate with its place in the final order and the reasons for it."""

    candidate: Candidate
    score: float
    rrf: float
    factors: Factors

    @property
    def key(self) -> str:
        """The candidate's key."""
        return self.candidate.key


@dataclass(frozen=True, slots=True)
class Dropped:
    """What was found and left out, and why."""

    key: str
    reason: DropReason
    score: float = 0.0
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class CandidateConflict:
    """A preference that gave way to a rule of the enterprise: the keys of both, and the rule (seed 004 section 4.3)."""

    memory: str
    knowledge: str
    source_uri: str
    rule: str
    score: float = 0.0
    resolution: Literal["knowledge_first"] = "knowledge_first"


@dataclass(frozen=True, slots=True)
class CoreMemory:
    """A memory that is pinned to every package of the user: profile, preference, constraint, goal."""

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
        """As of a candidate: what a tool brought is foreign."""
        return "foreign" if self.provenance == "tool" else "own"


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A text that is not shown, or not all of it: where it comes from and the rule that decided."""

    key: str
    source: Source
    rule: str
    whole: bool


@dataclass(frozen=True, slots=True)
class TurnMessage:
    """One message of a turn."""

    role: Role
    content: str
    name: str | None = None


@dataclass(frozen=True, slots=True)
class RecentTurn:
    """A whole turn of the session; `seq` orders turns, the greatest is the newest."""

    turn_id: str
    seq: int
    messages: tuple[TurnMessage, ...] = field(default=())


DEFAULT_RANKING = RankingPolicy()


@dataclass(frozen=True, slots=True)
class SignalPolicy:
    """The seed's tables, as policy has them; recency reads `valid_at`, decay reads `last_validated_at` (X53)."""

    ranking: RankingPolicy = DEFAULT_RANKING
    decay: Steps = DECAY


DEFAULT_SIGNALS = SignalPolicy()


def frequency(injections: int, positives: int, corrections: int, misses: int) -> Frequency:
    """Well received is an injection that the answer used and nobody corrected, and in any case one that was praised."""
    if not injections:
        return Frequency()
    well = max(injections - misses - corrections, positives)
    return Frequency(injections, min(max(well / injections, 0.0), 1.0))


def frequency_factor(frequency: Frequency, policy: SignalPolicy = DEFAULT_SIGNALS) -> float:
    """Up where injected often and well received, down where badly, else 1 (seed 004 section 4.1, step 1.3)."""
    limits = policy.ranking.frequency
    if frequency.injections < limits.least:
        return 1.0
    if frequency.positive_rate > limits.good:
        return limits.up
    return limits.down if frequency.positive_rate < limits.bad else 1.0


def factors(candidate: Candidate, relevance: float, now: datetime, policy: SignalPolicy = DEFAULT_SIGNALS) -> Factors:
    """All signals of a memory; what was said and what a document says are judged by relevance alone."""
    if candidate.is_resource:
        return Factors(relevance)
    ranking = policy.ranking
    if candidate.memory_id is None:
        return Factors(relevance, confidence=ranking.turn_confidence, provenance=ranking.turn_provenance)
    validated = candidate.last_validated_at or candidate.valid_at
    return Factors(
        relevance=relevance,
        recency=step(ranking.recency, age_days(candidate.valid_at, now)),
        confidence=confidence_effective(candidate.confidence, age_days(validated, now), policy.decay),
        provenance=ranking.provenance.weight_of(candidate.provenance),
        frequency=frequency_factor(candidate.frequency, policy),
    )


WISHES = types_with("wish")
LIKELIER = 5.0
"""So many times the odds: the curve was fitted to questions of what was said, which hardly ever ask for advice."""


def weigh_wishes(candidates: Iterable[Candidate], intent: Intent) -> list[Candidate]:
    """The candidates; where advice is asked for, wishes, habits, limits and notes with a greater probability."""
    if intent != "recommend":
        return list(candidates)
    return [
        replace(each, probability=weigh_odds(each.probability, LIKELIER)) if each.memory_type in WISHES else each
        for each in candidates
    ]
