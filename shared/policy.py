"""How SmartBrain behaves: brain.yml as frozen records. docs/reference/policy.md is made from this module."""

import hashlib
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from schemas.compose import PROFILE_WINDOWS, BudgetProfileName
from schemas.vocabulary import Assertion, Provenance
from shared import workdays
from shared.errors import ConfigurationError
from shared.screening.sanitize import SanitizePolicy

YEARS_3 = 1096
"""In days, a leap year among them."""


class Slice(BaseModel):
    """A part of the policy; a name that it does not know is an error, so that a typing mistake cannot hide."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ProvenanceLevel(Slice):
    """What a statement is worth when it is written."""

    provenance: Provenance = Field(description="Level of provenance that the memory gets")
    initial: float = Field(ge=0, le=1, description="Confidence when it is written")
    cap: float = Field(ge=0, le=1, description="The most that it can reach, however often it is said")


def _standings() -> dict[Assertion, ProvenanceLevel]:
    return {
        "directive": ProvenanceLevel(provenance="confirmed_by_user", initial=0.9, cap=1.0),
        "confirmed": ProvenanceLevel(provenance="confirmed_by_user", initial=0.8, cap=1.0),
        "correction": ProvenanceLevel(provenance="confirmed_by_user", initial=0.9, cap=1.0),
        "tool": ProvenanceLevel(provenance="tool", initial=0.9, cap=0.95),
        "declared": ProvenanceLevel(provenance="observation", initial=0.5, cap=0.5),
        "inferred": ProvenanceLevel(provenance="observation", initial=0.4, cap=0.6),
        "behaviour": ProvenanceLevel(provenance="analysis", initial=0.7, cap=0.8),
    }


class ConfidencePolicy(Slice):
    """How sure a memory is at first, and how sure it can become, by how the statement was made.

    A claim of money, entitlement or authority is capped however it is made. Higher provenance wins:
    `confirmed_by_user`, `tool`, `analysis`, `observation`; of two equals the one said later. Stored confidence
    never decays.
    """

    standings: dict[Assertion, ProvenanceLevel] = Field(
        default_factory=_standings, description="By how the statement was made"
    )
    self_benefit: ProvenanceLevel = Field(
        default=ProvenanceLevel(provenance="observation", initial=0.4, cap=0.5),
        description="Of a claim of money, entitlement or authority, however it is made",
    )
    repeated: ProvenanceLevel = Field(
        default=ProvenanceLevel(provenance="analysis", initial=0.7, cap=0.8),
        description="Of a declaration that was made in several sessions",
    )
    repeated_sessions: int = Field(default=2, ge=2, description="Sessions that turn a declaration into analysis")

    def provenance_cap(self, provenance: Provenance, flags: tuple[str, ...] = ()) -> float:
        """The most that a memory of this provenance can reach, whatever raises it."""
        if "self_benefit" in flags:
            return self.self_benefit.cap
        every = (*self.standings.values(), self.repeated)
        return max((each.cap for each in every if each.provenance == provenance), default=1.0)

    def level_of(self, assertion: Assertion, flags: tuple[str, ...] = ()) -> ProvenanceLevel:
        """What an assertion with these flags is worth."""
        return self.self_benefit if "self_benefit" in flags else self.standings[assertion]


class ObserverPolicy(Slice):
    """What the observer keeps, when it renews the summary, and what its model may cost.

    The chat model reads a turn after the rules, and nothing waits for it. Where it cannot be asked, the outcome
    of the turn says why: `model_unavailable`, `model_answer_malformed`, `model_budget_used_up`,
    `model_skipped`, `prompt_version_unknown`. A share of a day may be exceeded by one answer of each worker.
    """

    entity_min_mentions: int = Field(
        default=2, ge=1, description="A name becomes an entity memory after so many mentions"
    )
    entity_window_turns: int = Field(default=20, ge=1, description="... within so many turns")
    profile_slots: tuple[Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,47}$")], ...] = Field(
        default=(),
        description="Slots that keys of a profile may name beside the built-in ones, such as `favourite_colour`",
    )
    summarize_after_turns: int = Field(
        default=12, ge=1, description="Turns after which the session summary is renewed at the latest"
    )
    summary_token_share: float = Field(
        default=0.7, gt=0, le=1, description="It is renewed earlier when what was said since exceeds this share ..."
    )
    summary_token_limit: int = Field(default=8192, ge=512, description="... of so many tokens")
    habit_sessions_min: int = Field(
        default=4, ge=2, description="Sessions in which the same short message makes a pattern (on 3 days at least)"
    )
    use_model: bool = Field(default=True, description="Whether the chat model reads each turn after the rules")
    model_deadline_s: float = Field(default=30.0, gt=0, description="Time for one answer, its one repair included")
    extract_prompt: str = Field(
        default="extract-4",
        description="Version of the question: `extract-4` (short, and the model may take back what the rules found),"
        " `extract-3`, `extract-2`, `extract-1`; an"
        " unknown name stops the observer",
    )
    model_lag_max_s: float = Field(
        default=600.0, gt=0, le=1200, description="The model is not asked about a turn that has waited longer than this"
    )
    model_known_max: int = Field(
        default=20, ge=0, le=20, description="Current memories that the model is shown with a turn"
    )
    log_withheld: bool = Field(
        default=True, description="Whether the log keeps the words of turns that are not to be remembered"
    )
    model_tokens_per_day: int = Field(
        default=1_000_000, ge=0, description="Share of one user per day (UTC), both directions; 0: no limit"
    )
    model_seconds_per_day: float = Field(default=7200.0, ge=0, description="Share of one user per day; 0: no limit")
    tenant_model_tokens_per_day: int = Field(
        default=0, ge=0, description="Share of all users of a tenant together; 0: no limit"
    )
    tenant_model_seconds_per_day: float = Field(
        default=0.0, ge=0, description="Share of all users of a tenant together; 0: no limit"
    )


class AnalysisPolicy(Slice):
    """How a statement is related to what is known where keys, words and learned weights lead to no memory.

    The six nearest memories are found by their vectors. From `similarity` on two texts say the same, unless a
    denial, a number, another thing of one sort or the opposite liking speaks against it; from 0.6 on they are
    compared. Where the rules are in doubt the chat model judges at most six memories: `ends`, `same`, `both`,
    `apart`. A verdict never ends what the user confirmed.
    """

    similarity: float = Field(
        default=0.85, gt=0, le=1, description="Cosine of two vectors from which two texts say the same"
    )
    doubt_low: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Probability of a relation from which the chat model is asked, where the rules do not act on it",
    )
    use_model: bool = Field(
        default=True, description="Whether the chat model is asked; `observer.use_model` must allow it too"
    )
    prompt: str = Field(
        default="analysis-1", description="Version of the question (`analysis-1`); an unknown name stops the analyzer"
    )
    deadline_s: float = Field(default=10.0, gt=0, description="Time for one question, and for one vector")


class ArmWeights(Slice):
    """What a rank of each search arm counts for in fusion; all three must be named."""

    text: float = Field(default=1.0, ge=0, description="Search by words")
    vector: float = Field(default=1.0, ge=0, description="Search by meaning")
    entity: float = Field(default=0.7, ge=0, description="Search by names")


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
    """The least of each slot."""

    system: int = Field(default=1500, ge=0)
    user_turn: int = Field(default=1000, ge=0)
    generation: int = Field(default=2000, ge=0)
    personal: int = Field(default=2000, ge=0)
    window: int = Field(default=3000, ge=0)
    summary: int = Field(default=1000, ge=0)
    entities: int = Field(default=500, ge=0)
    knowledge: int = Field(default=0, ge=0)


class Maxima(Shares):
    """The most of each slot."""

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
    """Who gets how many tokens of a package.

    Rules and the user's message are never cut, and the answer keeps its least. Each other slot is given what it
    wants, up to its most; where that is too much, each gives way in `order`, down to its share and then to its
    least. What one slot does not use goes to those that want more. In windows below 8,192 tokens the minima
    shrink with the room. A budget that cannot hold `minima` of system, user turn and generation with the margin
    stops the start.
    """

    allocation: Literal["dynamic", "static"] = Field(
        default="dynamic",
        description="`dynamic`: the shares of the profile are moved by what there is to say. `static`: the shares as"
        " they are",
    )
    order: Literal["fixed_priority", "evidence_first"] = Field(
        default="fixed_priority",
        description="Who gives way first. `fixed_priority`: knowledge, summary, entities, window, personal."
        " `evidence_first`: entities, window, summary, knowledge, personal",
    )
    margin_share: float = Field(default=0.05, ge=0, lt=1, description="Share of the window that is never spent ...")
    margin_min: int = Field(default=200, ge=0, description="... and the least number of tokens of it")
    profiles: dict[BudgetProfileName, Shares] = Field(
        default_factory=_profiles, description="Tokens of each slot by the name of the window; other limits lie between"
    )
    minima: Minima = Field(default=Minima(), description="The least of each slot")
    maxima: Maxima = Field(default=Maxima(), description="The most of each slot")
    ceilings: Ceilings = Field(default=Ceilings(), description="The most tokens of personal memory by intent")
    small_talk_items: int = Field(default=2, ge=0, description="Memories at most in a greeting")

    def margin(self, window: float) -> float:
        """What is never spent: a share of the window, and at least so many tokens."""
        return max(window * self.margin_share, self.margin_min)

    @model_validator(mode="after")
    def _holds_what_is_never_cut(self) -> Self:
        """Fail at the start: every profile holds the incompressible minima, its shares and the margin (X24, X52)."""
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


class KnowledgePolicy(Slice):
    """When the knowledge side (SmartRAG) is asked, what it may be told, and what goes there."""

    ask: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="When it is asked. `auto`: the planner decides (documents, rules, the world; not small talk or"
        " oneself)",
    )
    deadline_ms: int = Field(
        default=300, ge=1, description="Time for one question, never beyond the request's own deadline"
    )
    top_k: int = Field(default=12, ge=1, le=200, description="Results asked for")
    weight: float = Field(default=1.0, ge=0, le=10, description="What a place in its answer counts for in fusion")
    send_user: bool = Field(
        default=True,
        description="Whether it is told the user's id; false: no user's things are offered to it either, unless"
        " `ingest_shared`",
    )
    precedence: bool = Field(
        default=True,
        description="Whether a rule of the enterprise keeps a preference that it forbids out of the package",
    )
    cache_s: float = Field(default=300.0, ge=0, description="How long an answer may be used again; 0: never")
    cache_size: int = Field(default=2000, ge=0, description="Answers kept by each compose process")
    ingest: tuple[Literal["url", "file", "artifact", "tool"], ...] = Field(
        default=("url", "file", "artifact", "tool"), description="What of turns is offered to it; empty: nothing"
    )
    ingest_shared: bool = Field(
        default=False,
        description="Whether it is offered things of users though it does not keep users apart: everybody of the"
        " tenant then finds them",
    )
    ingest_deadline_s: float = Field(default=10.0, gt=0, description="Time for one offer")
    ingest_attempts: int = Field(default=8, ge=1, description="Attempts after which a resource is set aside as failed")
    ingest_max_chars: int = Field(default=200_000, ge=1, description="Longer contents are cut here")


class FeedbackPolicy(Slice):
    """What the reception of a package does to its memories, and how long receptions are kept.

    A package that lacked something because a part failed or was late moves nothing.
    """

    positive_step: float = Field(
        default=0.02, ge=0, le=0.2, description="Confidence up where an answer that used the memory was confirmed"
    )
    correction_step: float = Field(
        default=0.05, ge=0, le=0.5, description="Confidence down where it was corrected or rejected"
    )
    least_confidence: float = Field(default=0.1, ge=0, le=1, description="Steps down end here")
    injections_keep_days: int = Field(
        default=30, ge=1, description="How long it is kept which memories a package carried"
    )
    injections_waiting_max: int = Field(
        default=500,
        ge=1,
        description="Packages that may wait to be recorded; beyond that a reply waits up to a second for a place",
    )


class ObservabilityPolicy(Slice):
    """What is kept of every package, so that it can be shown, explained and replayed."""

    store_plans: bool = Field(
        default=True, description="Whether the plan of each package and of each `/v1/retrieve` is kept"
    )
    store_contexts: bool = Field(default=True, description="Whether each package is kept as it was answered")
    contexts_keep_days: int = Field(default=7, ge=1, description="How long packages and plans are kept; they hold text")
    receipts_keep_days: int = Field(
        default=YEARS_3,
        ge=YEARS_3,
        description="How long receipts are kept (three years at least); they hold ids and numbers",
    )


class PromotionPolicy(Slice):
    """What a memory must reach to be offered to others; it must reach all of it."""

    least_confidence: float = Field(default=0.75, ge=0, le=1, description="Confidence of the memory")
    least_uses_30d: int = Field(
        default=3, ge=1, description="Answers that used it and times that it was said again, in 30 days"
    )
    least_sessions: int = Field(default=2, ge=1, description="Sessions in which it was said")
    conflict_ratio_below: float = Field(
        default=0.3, ge=0, le=1, description="What was said against it, as a share of that and its confirmations"
    )
    expires_days: int = Field(default=7, ge=1, description="How long a proposal waits for a decision")


class ExperiencePolicy(Slice):
    """What agents learn from receipts of their own tools and from the reception of packages."""

    days: int = Field(default=30, ge=1, description="Receipts that count; older ones are removed")
    share_users: int = Field(default=3, ge=2, description="What fewer users have done is shown to each of them alone")
    least_calls: int = Field(default=5, ge=1, description="Calls for one intent below which nothing is said of it")


class EvolutionPolicy(Slice):
    """What becomes of memories with time and use."""

    every_s: float = Field(default=300.0, gt=0, description="Seconds between two rounds of upkeep")
    consolidate_least: int = Field(default=3, ge=2, description="So many memories that are alike become one")
    consolidate_similarity: float = Field(default=0.85, gt=0, le=1, description="How alike each must be to each")
    outdated_below: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Confidence after decay below which a memory answers questions about the past only",
    )
    misses_most: int = Field(
        default=20,
        ge=1,
        description="A memory that nobody confirmed ends after so many packages that carried it in vain",
    )
    fuse_strikes: int = Field(
        default=3, ge=1, description="Corrections or rejections that take a memory out of packages"
    )
    promotion: PromotionPolicy = Field(default=PromotionPolicy(), description="See below")
    experience: ExperiencePolicy = Field(default=ExperiencePolicy(), description="See below")


class LegalProfile(Slice):
    """How long an erasure may take, and when somebody is told.

    The day of the request does not count, the deadline has its time of day, days are those of UTC. With a
    calendar the holidays of that country are no working days, and the weekend days that it makes up for them
    (调休) are. Without one holidays do not put the deadline off, so it is the earlier one, but for a day or two
    in the weeks after days are made up. How much time is left is a share of plain time, weekends included.
    """

    days: int = Field(ge=1, le=3660, description="Days between request and deadline")
    type: Literal["business", "calendar"] = Field(description="`business`: working days; `calendar`: all days")
    calendar: str = Field(
        default="", description="Country whose holidays count (`CN`, `US-CA`); empty: weekends alone are off"
    )
    warn_pct: float = Field(default=25.0, gt=0, lt=100, description="A ticket below this share of the time left")
    critical_pct: float = Field(default=10.0, gt=0, lt=100, description="A page below this one")
    source: str = Field(default="", description="Where the days come from")

    @field_validator("calendar")
    @classmethod
    def _has_days(cls, calendar: str) -> str:
        if not workdays.is_known(calendar):
            raise ValueError(f"no calendar is called {calendar!r}; a country is two capitals, a part of it CC-PART")
        return calendar

    @model_validator(mode="after")
    def _tells_in_order(self) -> Self:
        if self.critical_pct >= self.warn_pct:
            raise ValueError(f"critical_pct: {self.critical_pct:g} is not less than warn_pct, {self.warn_pct:g}")
        return self


def _legal_profiles() -> dict[str, LegalProfile]:
    return {
        "DEFAULT": LegalProfile(days=15, type="business", source="house rule: as PIPL"),
        "PIPL": LegalProfile(
            days=15, type="business", source="PIPL art. 47, 50; 15 working days: 国信办秘字〔2019〕191号 art. 6"
        ),
        "GDPR": LegalProfile(days=30, type="calendar", source="GDPR art. 12(3), 17: one month"),
        "CCPA": LegalProfile(days=45, type="calendar", source="Cal. Civ. Code § 1798.130(a)(2): 45 days"),
    }


class ErasurePolicy(Slice):
    """By when an erasure is done, what follows a failure, and how long its proof stays."""

    profile: str = Field(default="DEFAULT", description="Holds where a request names none")
    profiles: dict[str, LegalProfile] = Field(
        default_factory=_legal_profiles, description="Legal profiles by name; the list given replaces this one"
    )
    holidays: tuple[date, ...] = Field(default=(), description="Dates that are no working days in any profile")
    batch_rows: int = Field(default=5000, ge=1, description="Rows erased in one transaction")
    attempts_max: int = Field(
        default=5, ge=0, description="New attempts after a failure; then the erasure is escalated"
    )
    retry_after_s: tuple[Annotated[float, Field(gt=0)], ...] = Field(
        default=(1, 5, 30, 120, 600), min_length=1, description="Pauses before them; the last one repeats"
    )
    check_every_s: float = Field(default=60.0, gt=0, description="Seconds between two looks at deadlines")
    keep_years: int = Field(
        default=3, ge=3, le=100, description="How long tombstones and audit events stay after the erasure was completed"
    )

    @model_validator(mode="after")
    def _knows_its_profile(self) -> Self:
        if self.profile not in self.profiles:
            raise ValueError(f"profile: {self.profile!r} is none of {', '.join(self.profiles)}")
        return self


class SessionPolicy(Slice):
    """When a session ends by itself, and what is shown of it."""

    idle_hours: float = Field(default=24.0, gt=0, description="A session without a turn for so long is archived")
    blocks_max: int = Field(default=20, ge=1, description="Summary blocks of archived stretches that are shown")
    entity_slots_max: int = Field(default=20, ge=0, description="Names that are shown")
    use_model: bool = Field(
        default=True, description="Whether the chat model retells summaries; `observer.use_model` must allow it too"
    )
    summary_prompt: str = Field(default="summary-1", description="Version of the question (`summary-1`)")


class DeliveryPolicy(Slice):
    """Retries, redrive, relay, and what counts as standing still."""

    retry_delays_ms: tuple[int, ...] = Field(
        default=(100, 500, 2000), description="Pauses before a handler is tried again"
    )
    retry_jitter: float = Field(default=0.2, ge=0, lt=1, description="Share by which each pause is longer or shorter")
    handler_concurrency: int = Field(default=4, ge=1, description="Users that a worker handles side by side")
    batch: int = Field(default=200, ge=1, description="Events fetched at once")
    relay_batch: int = Field(default=500, ge=1, description="Outbox rows published at once")
    relay_poll_ms: int = Field(default=200, ge=10, description="How often the outbox is looked at without a notice")
    outbox_max_retries: int = Field(
        default=5, ge=1, description="Refusals of the broker after which a row is set aside"
    )
    redrive_after_s: float = Field(default=30.0, gt=0, description="Work without a result for so long is driven again")
    redrive_every_s: float = Field(default=10.0, gt=0, description="How often such work is looked for")
    inbox_keep_days: int = Field(
        default=32,
        ge=1,
        description="How long handled events are remembered: longer than the longest retention of a topic",
    )
    fuse_share: float = Field(default=0.5, gt=0, le=1, description="Share of dead letters that stops a consumer ...")
    fuse_window: int = Field(default=100, ge=10, description="... among so many of its latest events")
    fuse_cooldown_s: float = Field(default=30.0, gt=0, description="How long it then takes nothing")
    stall_s: float = Field(
        default=60.0,
        gt=0,
        description="How long a partition may stand still with more to read before `/ready` is false",
    )
    stalled_after_s: float = Field(default=300.0, gt=0, description="How long a loop may rest before `/live` is false")
    silent_after_s: float = Field(
        default=20.0, gt=0, description="A process not heard of for so long is `silent` in compose's `/ready`"
    )
    restart_after_s: float = Field(
        default=60.0,
        gt=0,
        description="`smartbrain up` kills and restarts a process whose `/live` was not true for so long",
    )


class Floor(Slice):
    """The least that one labelled set must reach, precision and recall together."""

    precision: float = Field(ge=0, le=1, description="Least precision")
    recall: float = Field(ge=0, le=1, description="Least recall")
    benign: float | None = Field(default=None, ge=0, le=1, description="Least share of benign messages left alone")


def _floors() -> dict[str, Floor]:
    return {
        "extraction": Floor(precision=0.9, recall=0.75),
        "corrections": Floor(precision=0.95, recall=0.85),
        "contradictions": Floor(precision=0.95, recall=0.65),
        "conversation turns": Floor(precision=0.68, recall=0.45),
        "end states": Floor(precision=0.38, recall=0.36),
        "refusal": Floor(precision=0.9, recall=0.98, benign=0.97),
        "feedback": Floor(precision=0.85, recall=0.85),
        "intents": Floor(precision=0.85, recall=0.85),
        "hostile": Floor(precision=0.88, recall=0.94, benign=0.88),
        "dates": Floor(precision=0.92, recall=0.93),
    }


class GatePolicy(Slice):
    """What `smartbrain eval --gate` asks of each labelled set before a release."""

    floors: dict[str, Floor] = Field(default_factory=_floors, description="Floors by labelled set")


class RetentionPolicy(Slice):
    """Older names of settings, read as the newer ones."""

    window_turns: int | None = Field(default=None, ge=0, description="Older name of `compose.recent_turns_max`")


class Policy(Slice):
    """All of brain.yml."""

    retention: RetentionPolicy = Field(default=RetentionPolicy(), exclude=True)
    confidence: ConfidencePolicy = ConfidencePolicy()
    observer: ObserverPolicy = ObserverPolicy()
    analysis: AnalysisPolicy = AnalysisPolicy()
    compose: ComposePolicy = ComposePolicy()
    knowledge: KnowledgePolicy = KnowledgePolicy()
    feedback: FeedbackPolicy = FeedbackPolicy()
    observability: ObservabilityPolicy = ObservabilityPolicy()
    evolution: EvolutionPolicy = EvolutionPolicy()
    erasure: ErasurePolicy = ErasurePolicy()
    session: SessionPolicy = SessionPolicy()
    delivery: DeliveryPolicy = DeliveryPolicy()
    gate: GatePolicy = GatePolicy()

    @model_validator(mode="before")
    @classmethod
    def _read_aliases(cls, raw: Any) -> Any:
        """What stands under another name of it stands under its own; ValueError where the two say different things."""
        fields = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        retention: Any = fields.get("retention")
        compose: Any = fields.get("compose") or {}
        if not isinstance(retention, dict) or not isinstance(compose, dict):
            return cast("Any", raw)
        turns = cast("dict[str, Any]", retention).get("window_turns")
        given = cast("dict[str, Any]", compose)
        if turns is None:
            return fields
        other = given.get("recent_turns_max", turns)
        if other != turns:
            raise ValueError(f"retention.window_turns: {turns} is not compose.recent_turns_max, {other}")
        return {**fields, "compose": {**given, "recent_turns_max": turns}}

    @property
    def version(self) -> str:
        """Names this policy in every event and receipt: a hash of its values."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]


def load(path: Path | None) -> Policy:
    """The policy in the file, or the defaults; a bad value raises ConfigurationError naming its place."""
    if path is None:
        return Policy()
    try:
        raw: Any = yaml.safe_load(path.read_text("utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    try:
        return Policy.model_validate(raw)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise ConfigurationError(f"{path}: {place}: {problem['msg']}") from error
