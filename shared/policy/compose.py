"""The policy of compose: the tokens of a package, the ranking, and the storage of packages."""

from datetime import datetime
from typing import Literal, Self

from pydantic import Field, model_validator

from schemas.compose import PROFILE_WINDOWS, BudgetProfileName
from schemas.vocabulary import Provenance
from shared.policy.base import Slice
from shared.screening.sanitize import SanitizePolicy


class Shares(Slice):
    """Tokens of each slot of a package."""

    system: int = Field(ge=0)
    user_turn: int = Field(ge=0)
    generation: int = Field(ge=0)
    personal: int = Field(ge=0)
    window: int = Field(ge=0)
    summary: int = Field(ge=0)
    entities: int = Field(ge=0)
    knowledge: int = Field(ge=0)

    @property
    def incompressible(self) -> dict[str, int]:
        """The slots that are never cut."""
        return {"system": self.system, "user_turn": self.user_turn, "generation": self.generation}


class Minima(Shares):
    """Minimum of each slot."""

    system: int = Field(default=1500, ge=0)
    user_turn: int = Field(default=1000, ge=0)
    generation: int = Field(default=2000, ge=0)
    personal: int = Field(default=2000, ge=0)
    window: int = Field(default=3000, ge=0)
    summary: int = Field(default=1000, ge=0)
    entities: int = Field(default=500, ge=0)
    knowledge: int = Field(default=0, ge=0)


class Maxima(Shares):
    """Maximum of each slot."""

    system: int = Field(default=3000, ge=0)
    user_turn: int = Field(default=4000, ge=0)
    generation: int = Field(default=6000, ge=0)
    personal: int = Field(default=8000, ge=0)
    window: int = Field(default=10_000, ge=0)
    summary: int = Field(default=5000, ge=0)
    entities: int = Field(default=2000, ge=0)
    knowledge: int = Field(default=14_000, ge=0)


class Ceilings(Slice):
    """The most tokens of personal memory by the intent of the message."""

    small_talk: int = Field(default=500, ge=0)
    recommend: int = Field(default=3000, ge=0)
    complaint: int = Field(default=2000, ge=0)
    knowledge_qa: int = Field(default=1000, ge=0)
    preference_check: int = Field(default=4000, ge=0)
    task: int = Field(default=2000, ge=0)
    other: int = Field(default=2000, ge=0)


def _profiles() -> dict[BudgetProfileName, Shares]:
    slots = ("system", "user_turn", "generation", "personal", "window", "summary", "entities", "knowledge")
    sizes: dict[BudgetProfileName, tuple[int, ...]] = {
        "8k": (1500, 1000, 2000, 1000, 1200, 500, 150, 400),
        "16k": (2000, 1500, 2500, 2500, 3500, 1200, 500, 1800),
        "32k": (2000, 2000, 4000, 4000, 6000, 3000, 1000, 8000),
    }
    return {name: Shares.model_validate(dict(zip(slots, each, strict=True))) for name, each in sizes.items()}


class BudgetPolicy(Slice):
    """Distribution of the tokens of a package.

    Rules and the user's message are never cut, and the answer keeps its minimum. Each other slot gets the tokens that
    it asks for, up to its maximum; if that is too much, slots shrink in `order`, to their share and then to their
    minimum. Unused tokens go to slots that ask for more. In windows below 8,192 tokens the minima shrink in proportion.
    If a budget cannot hold `minima` of system, user turn and generation with the margin, the services do not start.
    """

    allocation: Literal["dynamic", "static"] = Field(
        default="dynamic",
        description="`dynamic`: the content moves the shares of the profile. `static`: the shares are fixed",
    )
    order: Literal["fixed_priority", "evidence_first"] = Field(
        default="fixed_priority",
        description="Which slots shrink first. `fixed_priority`: knowledge, summary, entities, window, personal."
        " `evidence_first`: entities, window, summary, knowledge, personal",
    )
    margin_share: float = Field(default=0.05, ge=0, lt=1, description="Share of the window that stays unused ...")
    margin_min: int = Field(default=200, ge=0, description="... and its minimum in tokens")
    profiles: dict[BudgetProfileName, Shares] = Field(
        default_factory=_profiles, description="Tokens of each slot by window; other limits are interpolated"
    )
    minima: Minima = Field(default=Minima(), description="Minimum of each slot")
    maxima: Maxima = Field(default=Maxima(), description="Maximum of each slot")
    ceilings: Ceilings = Field(default=Ceilings(), description="Maximum tokens of personal memory by intent")
    small_talk_items: int = Field(default=2, ge=0, description="Maximum of memories in small talk")

    def margin(self, window: float) -> float:
        """The tokens that stay unused: a share of the window, and at least a fixed number."""
        return max(window * self.margin_share, self.margin_min)

    @model_validator(mode="after")
    def _holds_what_is_never_cut(self) -> Self:
        """Validates at the start that every profile can hold the incompressible minima, its shares and the margin."""
        if missing := [name for name in PROFILE_WINDOWS if name not in self.profiles]:
            raise ValueError(f"profiles.{missing[0]} is missing")
        for slot, least in dict(self.minima).items():
            if least > (most := getattr(self.maxima, slot)):
                raise ValueError(f"minima.{slot}: {least} is more than maxima.{slot}, {most}")
        for name, window in PROFILE_WINDOWS.items():
            self._fits(name, window)
        return self

    def _fits(self, name: BudgetProfileName, window: int) -> None:
        room, shares = int(window - self.margin(window)), self.profiles[name]
        needed = sum(self.minima.incompressible.values())
        if needed > room:
            problem = f"system, user_turn and generation need {needed}; a window of {window} leaves {room}"
            raise ValueError(f"minima: {problem} beside its margin (profiles.{name})")
        for slot, least in self.minima.incompressible.items():
            if (share := getattr(shares, slot)) < least:
                raise ValueError(f"profiles.{name}.{slot}: {share} is less than minima.{slot}, {least}")
        for slot, most in dict(self.maxima).items():
            if (share := getattr(shares, slot)) > most:
                raise ValueError(f"profiles.{name}.{slot}: {share} is more than maxima.{slot}, {most}")
        if (whole := sum(dict(shares).values())) > room:
            raise ValueError(f"profiles.{name}: its slots need {whole}; {window} less the margin leaves {room}")


Steps = tuple[tuple[float, float], ...]
"""(days, factor) in rising order: a factor applies from its day up to, not including, that of the next one."""


def check_steps(name: str, steps: Steps) -> None:
    """ValueError unless the steps begin with day 0 and rise, or if a factor is negative."""
    days = [day for day, _ in steps]
    if not days or days[0] != 0 or days != sorted(set(days)):
        raise ValueError(f"{name}: the days must begin with 0 and rise")
    if any(factor < 0 for _, factor in steps):
        raise ValueError(f"{name}: a factor is negative")


def weigh_age(steps: Steps, since: datetime, now: datetime) -> float:
    """The factor of the time from `since` to `now`; before `since` it is the first."""
    days = max(0.0, (now - since).total_seconds() / 86_400)
    return next(factor for day, factor in reversed(steps) if day <= days)


class ProvenanceWeights(Slice):
    """Factor of each provenance; all four are required."""

    observation: float = Field(default=0.6, ge=0, description="Stated in passing")
    analysis: float = Field(default=0.8, ge=0, description="Stated in several sessions, or a habit")
    confirmed_by_user: float = Field(default=1.0, ge=0, description="Dictated, confirmed or corrected by the user")
    tool: float = Field(default=0.9, ge=0, description="Result of a tool")

    def weight_of(self, provenance: Provenance) -> float:
        """The weight of this provenance."""
        return getattr(self, provenance)


class FrequencyFactors(Slice):
    """How the reception of a memory changes its rank: up if it was used and not corrected, otherwise down."""

    least: int = Field(default=5, ge=1, description="Minimum number of packages with the memory")
    good: float = Field(default=0.7, ge=0, le=1, description="Share of good receptions above which it rises")
    bad: float = Field(default=0.3, ge=0, le=1, description="Share of good receptions below which it falls")
    up: float = Field(default=1.1, ge=0, description="Factor when it rises")
    down: float = Field(default=0.7, ge=0, description="Factor when it falls")


class RankingPolicy(Slice):
    """Factors that order the memories of a package, besides relevance.

    Relevance x recency x confidence after decay (`confidence.decay`) x provenance x reception.
    """

    recency: Steps = Field(
        default=((0, 1.2), (7, 1.0), (30, 0.8), (90, 0.6)),
        description="Factor by age since the memory became valid: pairs of days and factor",
    )
    provenance: ProvenanceWeights = Field(default=ProvenanceWeights(), description="Factor by provenance")
    frequency: FrequencyFactors = Field(default=FrequencyFactors(), description="Factor by reception")
    turn_confidence: float = Field(
        default=0.6, ge=0, le=1, description="Confidence of messages that did not become memories"
    )
    turn_provenance: float = Field(default=0.6, ge=0, description="Provenance factor of such messages")
    share_of_best: float = Field(
        default=0.2, ge=0, le=1, description="Candidates below this share of the best probability are left out"
    )
    small_talk_least: float = Field(
        default=0.3, ge=0, le=1, description="Minimum probability of the best candidate if the message asks nothing"
    )

    @model_validator(mode="after")
    def _rises(self) -> Self:
        check_steps("recency", self.recency)
        return self


class DiversityShares(Slice):
    """Limits per source in a package; every memory is its own source. A plan may override them."""

    by_document: int = Field(default=3, ge=1, description="Pieces of one document")
    by_section: int = Field(default=1, ge=1, description="Pieces of one section of it")
    by_uri: int = Field(default=2, ge=1, description="Pieces of one address")
    by_domain: int = Field(default=10, ge=1, description="Pieces of one site")
    memory_share: float = Field(
        default=0.4, ge=0, le=1, description="Share of memory in the evidence if knowledge can fill the rest"
    )


class ArmWeights(Slice):
    """Weight of a rank in each search arm; all three are required."""

    text: float = Field(default=1.0, ge=0, description="Search by words")
    vector: float = Field(default=1.0, ge=0, description="Search by meaning")
    entity: float = Field(default=0.7, ge=0, description="Search by names")


class ComposePolicy(Slice):
    """How packages are searched and filled.

    Planner and reranker call no model unless they are switched on here; both need `SMARTBRAIN_OLLAMA_URL`,
    `lexical` does not.
    """

    deadline_ms: int = Field(default=1000, ge=1, description="Default time for one package or plan")
    deadline_max_ms: int = Field(default=30_000, ge=1, description="Maximum time that a request may set")
    default_profile: Literal["8k", "16k", "32k"] = Field(default="8k", description="Default token budget")
    recent_turns_max: int = Field(
        default=8, ge=0, description="Turns of the session in a package; `retention.window_turns` is read as well"
    )
    evidence_max: int = Field(default=12, ge=0, description="Pieces of evidence in a package")
    inject_limit: int | None = Field(
        default=None,
        ge=0,
        le=40,
        description="Default maximum of memories about the user in a package; 0: nothing personal; null: no "
        "fixed limit",
    )
    language: Literal["auto", "zh", "en"] = Field(
        default="auto", description="Default language of headings and hints; `auto`: that of the conversation"
    )
    snippet_max_chars: int = Field(default=800, ge=1, description="Characters of one piece of evidence")
    arm_limit: int = Field(default=50, ge=1, le=1000, description="Candidates of each search arm")
    core_limit: int = Field(default=50, ge=0, description="Core memories that are considered")
    pending_turns_max: int = Field(default=64, ge=0, description="Pending turns that compose reads itself")
    embed_deadline_ms: int = Field(
        default=150, ge=1, description="Time to embed the question; after that, static vectors are used"
    )
    planner: Literal["rules", "model"] = Field(
        default="rules", description="`model`: the chat model may improve the plan of the rules"
    )
    planner_deadline_ms: int = Field(
        default=150, ge=1, description="How long a package waits for the model, and never more than 40% of its time"
    )
    planner_late_ms: int = Field(
        default=5000, ge=1, description="How long a late answer may still arrive, for the next equal request"
    )
    planner_cache_s: float = Field(default=600.0, ge=0, description="How long answers are cached")
    planner_cache_size: int = Field(default=2000, ge=0, description="Cached answers, at most 50 per user")
    reranker: Literal["none", "lexical", "model", "llm_json"] = Field(
        default="none",
        description="`lexical`: by common words. `model`: `SMARTBRAIN_RERANK_MODEL` judges each candidate."
        " `llm_json`: the chat model orders them in one answer",
    )
    rerank_top_n: int = Field(default=20, ge=2, le=200, description="Candidates that the reranker sees")
    rerank_deadline_ms: int = Field(
        default=300, ge=1, description="Time for one list; skipped if the usual time exceeds the remaining time"
    )
    least_score: float = Field(
        default=0.05, ge=0, le=1, description="Minimum probability that evidence helps; a plan may set its own"
    )
    weights: ArmWeights = Field(default=ArmWeights(), description="Weight of each search arm")
    ranking: RankingPolicy = Field(default=RankingPolicy(), description="Factors of the ranking: see below")
    diversity: DiversityShares = Field(
        default=DiversityShares(), description="Limits per source, and for memory next to knowledge: see below"
    )
    budget: BudgetPolicy = Field(default=BudgetPolicy(), description="Tokens: see below")
    sanitize: SanitizePolicy = Field(default=SanitizePolicy(), description="Screening of texts: see below")
    agent_hints: bool = Field(
        default=True, description="Whether packages include hints from the agent's experience with its own tools"
    )

    @model_validator(mode="after")
    def _allows_its_own_deadline(self) -> Self:
        if self.deadline_ms > self.deadline_max_ms:
            raise ValueError(f"deadline_ms: {self.deadline_ms} is more than deadline_max_ms, {self.deadline_max_ms}")
        return self

    def seconds(self, asked_ms: int | None) -> float:
        """The time of one request that names this deadline, or none."""
        return min(asked_ms or self.deadline_ms, self.deadline_max_ms) / 1000


"""In days, including a leap year."""


class ObservabilityPolicy(Slice):
    """Whether packages are stored, so that they can be shown, explained and replayed."""

    store_plans: bool = Field(
        default=True, description="Whether to store the plan of each package and of each `/v1/retrieve`"
    )
    store_contexts: bool = Field(default=True, description="Whether to store each package")
