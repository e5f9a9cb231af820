"""What compose goes by, and what it keeps of every package."""

from typing import Literal, Self

from pydantic import Field, model_validator

from shared.policy.base import Slice
from shared.policy.budget import BudgetPolicy
from shared.policy.ranking import DiversityShares, RankingPolicy
from shared.screening.sanitize import SanitizePolicy


class ArmWeights(Slice):
    """What a rank of each search arm counts for in fusion; all three must be named."""

    text: float = Field(default=1.0, ge=0, description="Search by words")
    vector: float = Field(default=1.0, ge=0, description="Search by meaning")
    entity: float = Field(default=0.7, ge=0, description="Search by names")


class ComposePolicy(Slice):
    """How a package is found and filled.

    Planner and reranker ask no model unless they are switched on here; both need `SMARTBRAIN_OLLAMA_URL`,
    `lexical` does not.
    """

    deadline_ms: int = Field(default=1000, ge=1, description="Time for one package or plan whose request names none")
    deadline_max_ms: int = Field(default=30_000, ge=1, description="The most that a request may name")
    default_profile: Literal["8k", "16k", "32k"] = Field(
        default="8k", description="Budget of a request that names none"
    )
    recent_turns_max: int = Field(
        default=8, ge=0, description="Turns of the session in a package; `retention.window_turns` is read as well"
    )
    evidence_max: int = Field(default=12, ge=0, description="Pieces of evidence in a package")
    inject_limit: int | None = Field(
        default=None,
        ge=0,
        le=40,
        description="Notes about the user in a package whose request names no limit; 0: nothing personal; null: as"
        " many as help",
    )
    language: Literal["auto", "zh", "en"] = Field(
        default="auto", description="Of headings and hints where nobody chose; `auto`: that of the conversation"
    )
    snippet_max_chars: int = Field(default=800, ge=1, description="Characters of one piece of evidence")
    arm_limit: int = Field(default=50, ge=1, le=1000, description="Candidates of each search arm")
    core_limit: int = Field(default=50, ge=0, description="Core memories among which those that are needed are chosen")
    pending_turns_max: int = Field(default=64, ge=0, description="Turns without an outcome that compose reads itself")
    embed_deadline_ms: int = Field(
        default=150, ge=1, description="Time to embed the question; late: static vectors serve"
    )
    planner: Literal["rules", "model"] = Field(
        default="rules", description="`model`: the chat model may improve the plan of the rules"
    )
    planner_deadline_ms: int = Field(
        default=150, ge=1, description="How long a package waits for the model, and never more than 40% of its time"
    )
    planner_late_ms: int = Field(
        default=5000, ge=1, description="How long a late answer may still come, for the next request that asks the same"
    )
    planner_cache_s: float = Field(default=600.0, ge=0, description="How long an answer is used again")
    planner_cache_size: int = Field(default=2000, ge=0, description="Answers kept, 50 of one user at most")
    reranker: Literal["none", "lexical", "model", "llm_json"] = Field(
        default="none",
        description="`lexical`: by words in common. `model`: `SMARTBRAIN_RERANK_MODEL` judges each candidate."
        " `llm_json`: the chat model orders them in one answer",
    )
    rerank_top_n: int = Field(default=20, ge=2, le=200, description="Candidates that the reranker sees")
    rerank_deadline_ms: int = Field(
        default=300, ge=1, description="Time for one list; skipped where it usually takes longer than there is"
    )
    least_score: float = Field(
        default=0.05, ge=0, le=1, description="Probability of being of help that evidence needs; a plan may set its own"
    )
    weights: ArmWeights = Field(
        default=ArmWeights(), description="What a place in the list of each search arm counts for"
    )
    ranking: RankingPolicy = Field(default=RankingPolicy(), description="What the order is made of: see below")
    diversity: DiversityShares = Field(
        default=DiversityShares(), description="How much of one source, and of memory beside knowledge: see below"
    )
    budget: BudgetPolicy = Field(default=BudgetPolicy(), description="Tokens: see below")
    sanitize: SanitizePolicy = Field(default=SanitizePolicy(), description="What is cut out of texts: see below")
    agent_hints: bool = Field(
        default=True, description="Whether packages tell the agent of its experience with its own tools"
    )

    @model_validator(mode="after")
    def _allows_its_own_deadline(self) -> Self:
        if self.deadline_ms > self.deadline_max_ms:
            raise ValueError(f"deadline_ms: {self.deadline_ms} is more than deadline_max_ms, {self.deadline_max_ms}")
        return self

    def seconds(self, asked_ms: int | None) -> float:
        """The time of one request that names this deadline, or none."""
        return min(asked_ms or self.deadline_ms, self.deadline_max_ms) / 1000


"""In days, a leap year among them."""


class ObservabilityPolicy(Slice):
    """What is kept of every package, so that it can be shown, explained and replayed."""

    store_plans: bool = Field(
        default=True, description="Whether the plan of each package and of each `/v1/retrieve` is kept"
    )
    store_contexts: bool = Field(default=True, description="Whether each package is kept as it was answered")
