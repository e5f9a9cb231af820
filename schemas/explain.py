"""Why a package or a pack is what it is: arms, queries, candidates with their scores, what was left out (R071)."""

# ruff: noqa: RUF012 - pydantic copies a mutable default for every instance

from typing import Literal

from schemas.base import Contract
from schemas.vocabulary import SearchMode

Step = Literal["load", "plan", "search", "rank", "resolve", "package"]
"""The steps of a package, in their order."""


class ArmTiming(Contract):
    """How one search arm did."""

    arm: str
    took_ms: float = 0.0
    candidates: int = 0
    status: Literal["ok", "timeout", "failed", "skipped"] = "ok"


class DroppedEvidence(Contract):
    """What was found and left out, and why."""

    id: str
    reason: str
    score: float = 0.0
    rule: str | None = None


class HeldBackText(Contract):
    """A text that is kept out, or sentences of it: where it comes from and the rule that decided.

    `id` is that of evidence or of a memory, `turn:<id>:<message>`, `media:<id>`, or `summary`. Own is what user or
    assistant said, or what is known from it; foreign is what tools, knowledge and media brought.
    """

    id: str
    source: Literal["own", "foreign"]
    rule: str
    whole: bool = False


class ArmScore(Contract):
    """Where an arm or a query's list put a candidate; a weight of 0 is shown and does not count."""

    arm: str
    rank: int
    score: float = 0.0
    weight: float = 1.0


class ScoreFactors(Contract):
    """The signals whose product is the final score (seed 004 section 4.1, step 1.3)."""

    relevance: float = 0.0
    recency: float = 1.0
    confidence: float = 1.0
    provenance: float = 1.0
    frequency: float = 1.0


class CandidateTrace(Contract):
    """One candidate on its way: what every arm said, the factors, the final score, its place or why it has none."""

    id: str
    place: int | None = None
    score: float = 0.0
    rrf: float = 0.0
    rerank: float | None = None
    probability: float = 1.0
    mode: SearchMode = "hybrid"
    query: int = 0
    arms: list[ArmScore] = []
    factors: ScoreFactors = ScoreFactors()
    dropped: str | None = None
    rule: str | None = None
    text: str = ""


class ExecutedQuery(Contract):
    """What became of one query of the plan: what served it, what it found and what it was widened with."""

    index: int
    mode: SearchMode
    weight: float = 1.0
    served_by: list[str] = []
    candidates: int = 0
    returned: int = 0
    widened_with: list[str] = []


class Explain(Contract):
    """Why the package is what it is, in full (decision 12); `rerank` names who reranked."""

    arms: list[ArmTiming] = []
    rerank: str | bool = False
    notes: list[str] = []
    candidates: list[CandidateTrace] = []
    dropped: list[DroppedEvidence] = []
    held_back: list[HeldBackText] = []
    ignored_fields: list[str] = []
    took_ms: float = 0.0
