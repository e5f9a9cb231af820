"""How SmartBrain behaves: brain.yml as frozen records with the seeds' values as defaults (decision 7, R194)."""

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
from shared.text.sanitize import SanitizePolicy

YEARS_3 = 1096
"""In days, a leap year among them."""


class Slice(BaseModel):
    """A part of the policy; a name that it does not know is an error, so that a typing mistake cannot hide."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Standing(Slice):
    """What an assertion is worth on write (model 4.2.1, X10)."""

    provenance: Provenance
    initial: float = Field(ge=0, le=1)
    cap: float = Field(ge=0, le=1)


def _standings() -> dict[Assertion, Standing]:
    return {
        "directive": Standing(provenance="confirmed_by_user", initial=0.9, cap=1.0),
        "confirmed": Standing(provenance="confirmed_by_user", initial=0.8, cap=1.0),
        "correction": Standing(provenance="confirmed_by_user", initial=0.9, cap=1.0),
        "tool": Standing(provenance="tool", initial=0.9, cap=0.95),
        "declared": Standing(provenance="observation", initial=0.5, cap=0.5),
        "inferred": Standing(provenance="observation", initial=0.4, cap=0.6),
        "behaviour": Standing(provenance="analysis", initial=0.7, cap=0.8),
    }


class ConfidencePolicy(Slice):
    """Initial confidence and cap by assertion; claims of money or authority are capped however they are made."""

    standings: dict[Assertion, Standing] = Field(default_factory=_standings)
    self_benefit: Standing = Standing(provenance="observation", initial=0.4, cap=0.5)
    repeated: Standing = Standing(provenance="analysis", initial=0.7, cap=0.8)
    repeated_sessions: int = Field(default=2, ge=2, description="Sessions that turn a declaration into analysis")

    def provenance_cap(self, provenance: Provenance, flags: tuple[str, ...] = ()) -> float:
        """The most that a memory of this provenance can reach, whatever raises it."""
        if "self_benefit" in flags:
            return self.self_benefit.cap
        every = (*self.standings.values(), self.repeated)
        return max((each.cap for each in every if each.provenance == provenance), default=1.0)

    def standing(self, assertion: Assertion, flags: tuple[str, ...] = ()) -> Standing:
        """What an assertion with these flags is worth."""
        return self.self_benefit if "self_benefit" in flags else self.standings[assertion]


class ObserverPolicy(Slice):
    """What the observer keeps and when it renews the summary (facts 2.1)."""

    entity_min_mentions: int = Field(default=2, ge=1)
    entity_window_turns: int = Field(default=20, ge=1)
    profile_slots: tuple[Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,47}$")], ...] = Field(
        default=(), description="What keys of a profile may name beside the built-in slots"
    )
    summarize_after_turns: int = Field(default=12, ge=1)
    summary_token_share: float = Field(default=0.7, gt=0, le=1)
    summary_token_limit: int = Field(default=8192, ge=512)
    habit_sessions_min: int = Field(
        default=4, ge=2, description="Sessions in which the same short message makes a pattern"
    )
    use_model: bool = True
    model_deadline_s: float = Field(default=30.0, gt=0)
    extract_prompt: str = Field(default="extract-4", description="Version of the question; the observer has the list")
    model_lag_max_s: float = Field(
        default=600.0, gt=0, le=1200, description="A turn that has waited for the model for longer is not asked about"
    )
    model_known_max: int = Field(default=20, ge=0, le=20, description="Memories that the model is shown with a turn")
    log_withheld: bool = Field(
        default=True, description="Whether the log keeps the words of turns that are not to be remembered"
    )
    model_tokens_per_day: int = Field(default=1_000_000, ge=0, description="Of one user, both directions; 0: no limit")
    model_seconds_per_day: float = Field(default=7200.0, ge=0, description="Of one user; 0: no limit")
    tenant_model_tokens_per_day: int = Field(default=0, ge=0, description="Of all users of a tenant; 0: no limit")
    tenant_model_seconds_per_day: float = Field(default=0.0, ge=0, description="Of all users of a tenant")


class AnalysisPolicy(Slice):
    """How a statement is related to what is known beyond keys and words (seed 004 sections 2.3 and 2.3.0.1-D)."""

    similarity: float = Field(
        default=0.85, gt=0, le=1, description="Cosine of vectors from which two texts say the same"
    )
    doubt_low: float = Field(default=0.2, ge=0, le=1, description="Share from which a relation is no longer nothing")
    use_model: bool = True
    prompt: str = Field(default="analysis-1", description="Version of the question; the analyzer has the list")
    deadline_s: float = Field(default=10.0, gt=0, description="Of one question, and of one vector")


class ArmWeights(Slice):
    """What a rank of each search arm counts for in fusion."""

    text: float = Field(default=1.0, ge=0)
    vector: float = Field(default=1.0, ge=0)
    entity: float = Field(default=0.7, ge=0)


class Shares(Slice):
    """Tokens of each slot of a package (seed 004 section 4.2)."""

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
    """The least of each slot (seed 004 section 4.2.1)."""

    system: int = Field(default=1500, ge=0)
    user_turn: int = Field(default=1000, ge=0)
    generation: int = Field(default=2000, ge=0)
    personal: int = Field(default=2000, ge=0)
    window: int = Field(default=3000, ge=0)
    summary: int = Field(default=1000, ge=0)
    entities: int = Field(default=500, ge=0)
    knowledge: int = Field(default=0, ge=0)


class Maxima(Shares):
    """The most of each slot (seed 004 section 4.2.1)."""

    system: int = Field(default=3000, ge=0)
    user_turn: int = Field(default=4000, ge=0)
    generation: int = Field(default=6000, ge=0)
    personal: int = Field(default=8000, ge=0)
    window: int = Field(default=10_000, ge=0)
    summary: int = Field(default=5000, ge=0)
    entities: int = Field(default=2000, ge=0)
    knowledge: int = Field(default=14_000, ge=0)


class Ceilings(Slice):
    """The most tokens of personal memory by intent (seed 004 section 4.1, step 3)."""

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
    """Who gets how many tokens of a package (seed 004 sections 4.1 and 4.2.1)."""

    allocation: Literal["dynamic", "static"] = "dynamic"
    order: Literal["fixed_priority", "evidence_first"] = Field(default="fixed_priority", description="Who is cut first")
    margin_share: float = Field(default=0.05, ge=0, lt=1)
    margin_min: int = Field(default=200, ge=0)
    profiles: dict[BudgetProfileName, Shares] = Field(default_factory=_profiles)
    minima: Minima = Minima()
    maxima: Maxima = Maxima()
    ceilings: Ceilings = Ceilings()
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
    """How a package is found and filled (seeds 003 and 004 section 4, facts 2.1)."""

    deadline_ms: int = Field(default=1000, ge=1, description="Time for one package or plan that names none")
    deadline_max_ms: int = Field(default=30_000, ge=1, description="The most that a request may name")
    default_profile: Literal["8k", "16k", "32k"] = "8k"
    recent_turns_max: int = Field(default=8, ge=0)
    evidence_max: int = Field(default=12, ge=0)
    inject_limit: int | None = Field(
        default=None,
        ge=0,
        le=40,
        description="Notes about the user in a package that names no limit; 0: nothing personal",
    )
    snippet_max_chars: int = Field(default=800, ge=1)
    arm_limit: int = Field(default=50, ge=1, le=1000)
    core_limit: int = Field(default=50, ge=0, description="Core memories that are looked through for what is needed")
    pending_turns_max: int = Field(default=64, ge=0, description="Turns without an outcome that compose reads itself")
    embed_deadline_ms: int = Field(default=150, ge=1)
    planner: Literal["rules", "model"] = "rules"
    planner_deadline_ms: int = Field(default=150, ge=1)
    planner_late_ms: int = Field(default=5000, ge=1, description="How long a late answer may still come for the cache")
    planner_cache_s: float = Field(default=600.0, ge=0)
    planner_cache_size: int = Field(default=2000, ge=0)
    reranker: Literal["none", "lexical", "model", "llm_json"] = "none"
    rerank_top_n: int = Field(default=20, ge=2, le=200)
    rerank_deadline_ms: int = Field(default=300, ge=1)
    least_score: float = Field(
        default=0.05, ge=0, le=1, description="How likely evidence must be to help; a plan may say otherwise"
    )
    weights: ArmWeights = ArmWeights()
    budget: BudgetPolicy = BudgetPolicy()
    sanitize: SanitizePolicy = SanitizePolicy()
    agent_hints: bool = True

    @model_validator(mode="after")
    def _allows_its_own_deadline(self) -> Self:
        if self.deadline_ms > self.deadline_max_ms:
            raise ValueError(f"deadline_ms: {self.deadline_ms} is more than deadline_max_ms, {self.deadline_max_ms}")
        return self

    def seconds(self, asked_ms: int | None) -> float:
        """The time of one request that names this deadline, or none."""
        return min(asked_ms or self.deadline_ms, self.deadline_max_ms) / 1000


class KnowledgePolicy(Slice):
    """When the resource side is asked, what it may be told, what goes there (seeds 000 section 2, 004 section 4.4)."""

    ask: Literal["auto", "always", "never"] = "auto"
    deadline_ms: int = Field(default=300, ge=1, description="Of one question, never beyond the request's own deadline")
    top_k: int = Field(default=12, ge=1, le=200)
    weight: float = Field(default=1.0, ge=0, le=10, description="What a rank in its answer counts for in fusion")
    send_user: bool = Field(default=True, description="Whether the user's id goes along with questions and offers")
    precedence: bool = Field(default=True, description="Whether its rules win over preferences that they forbid")
    cache_s: float = Field(default=300.0, ge=0, description="How long an answer may be used again; 0: never")
    cache_size: int = Field(default=2000, ge=0)
    ingest: tuple[Literal["url", "file", "artifact", "tool"], ...] = ("url", "file", "artifact", "tool")
    ingest_shared: bool = Field(
        default=False, description="Whether it is offered things of users too where it does not keep users apart"
    )
    ingest_deadline_s: float = Field(default=10.0, gt=0)
    ingest_attempts: int = Field(default=8, ge=1, description="Then the resource is set aside as failed")
    ingest_max_chars: int = Field(default=200_000, ge=1, description="Longer contents end there")


class FeedbackPolicy(Slice):
    """What their reception does to injected memories, and how long injections are kept (seed 004 section 4.1.1)."""

    positive_step: float = Field(default=0.02, ge=0, le=0.2, description="Confidence up where an answer was confirmed")
    correction_step: float = Field(default=0.05, ge=0, le=0.5, description="Down where it was corrected or rejected")
    least_confidence: float = Field(default=0.1, ge=0, le=1, description="Steps down end here")
    injections_keep_days: int = Field(default=30, ge=1)
    injections_waiting_max: int = Field(default=500, ge=1, description="Packages that may wait to be recorded")


class ObservabilityPolicy(Slice):
    """What is kept of every package, so that it can be explained, shown and replayed (facts 2.1)."""

    store_plans: bool = True
    store_contexts: bool = True
    contexts_keep_days: int = Field(default=7, ge=1, description="Packages and plans; they hold text")
    receipts_keep_days: int = Field(
        default=YEARS_3, ge=YEARS_3, description="Receipts, three years at least (X37); they hold ids and numbers"
    )


class PromotionPolicy(Slice):
    """What a memory must reach to be offered to the enterprise side (seed 004 section 2.3, R186)."""

    least_confidence: float = Field(default=0.75, ge=0, le=1)
    least_uses_30d: int = Field(default=3, ge=1, description="Times used by an answer or said again within 30 days")
    least_sessions: int = Field(default=2, ge=1)
    conflict_ratio_below: float = Field(default=0.3, ge=0, le=1)
    expires_days: int = Field(default=7, ge=1)


class ExperiencePolicy(Slice):
    """What agents learn of their own tools and retrieval (seed 004 section 2.3, R063)."""

    days: int = Field(default=30, ge=1, description="Receipts so old are counted and kept")
    share_users: int = Field(default=3, ge=2, description="What fewer users have done is shown to each of them alone")
    least_calls: int = Field(default=5, ge=1, description="Calls for one intent below which nothing is said of it")


class EvolutionPolicy(Slice):
    """What becomes of memories with time and use (seed 004 sections 2.3.0.1-D, 2.3.2, 2.3.2.4, 2.3.2.5)."""

    every_s: float = Field(default=300.0, gt=0, description="Seconds between two rounds of upkeep")
    consolidate_least: int = Field(default=3, ge=2, description="So many alike memories become one")
    consolidate_similarity: float = Field(default=0.85, gt=0, le=1)
    outdated_below: float = Field(default=0.25, ge=0, le=1, description="Effective confidence")
    misses_most: int = Field(default=20, ge=1, description="Injected in vain so often, a memory ends unless confirmed")
    fuse_strikes: int = Field(default=3, ge=1, description="Negative receptions that take a memory out of packages")
    promotion: PromotionPolicy = PromotionPolicy()
    experience: ExperiencePolicy = ExperiencePolicy()


class LegalProfile(Slice):
    """How long an erasure may take and when somebody is told (seed 004 section 3.1.1, legal_profiles).

    A calendar is a country, `CN`, or a part of one, `US-CA`: its holidays are no working days, the weekend days that it
    makes up for them are. Without one only weekends are off: holidays do not put the deadline off, so it is the earlier
    one, but for the weeks after a holiday that China makes up for.
    """

    days: int = Field(ge=1, le=3660)
    type: Literal["business", "calendar"]
    calendar: str = ""
    warn_pct: float = Field(default=25.0, gt=0, lt=100, description="A ticket below this share of the time left")
    critical_pct: float = Field(default=10.0, gt=0, lt=100, description="A page below this one")
    source: str = Field(default="", description="Where the days come from")

    @field_validator("calendar")
    @classmethod
    def _has_days(cls, calendar: str) -> str:
        if not workdays.known(calendar):
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
    """By when an erasure is done, what follows a failure, how long its proof stays (seed 004 section 3.1.1)."""

    profile: str = Field(default="DEFAULT", description="Holds where a request names none")
    profiles: dict[str, LegalProfile] = Field(default_factory=_legal_profiles)
    holidays: tuple[date, ...] = Field(default=(), description="No working days for any profile, beside its calendar")
    batch_rows: int = Field(default=5000, ge=1, description="Rows erased in one transaction")
    attempts_max: int = Field(default=5, ge=0, description="New attempts after a failure; then it is escalated")
    retry_after_s: tuple[Annotated[float, Field(gt=0)], ...] = Field(default=(1, 5, 30, 120, 600), min_length=1)
    check_every_s: float = Field(default=60.0, gt=0, description="Seconds between two looks at deadlines")
    keep_years: int = Field(
        default=3, ge=3, le=100, description="Tombstones and audit events of completed erasures stay so long (X37)"
    )

    @model_validator(mode="after")
    def _knows_its_profile(self) -> Self:
        if self.profile not in self.profiles:
            raise ValueError(f"profile: {self.profile!r} is none of {', '.join(self.profiles)}")
        return self


class SessionPolicy(Slice):
    """When a session ends by itself, and what is shown of it (seed 004 sections 3.1 and 5)."""

    idle_hours: float = Field(default=24.0, gt=0, description="Without a turn for so long, it is archived")
    blocks_max: int = Field(default=20, ge=1, description="Summary blocks of archived stretches that are shown")
    entity_slots_max: int = Field(default=20, ge=0)
    use_model: bool = True
    summary_prompt: str = Field(default="summary-1", description="Version of the question; the observer has the list")


class DeliveryPolicy(Slice):
    """Retries, redrive and relay (decision 16, facts 2.2)."""

    retry_delays_ms: tuple[int, ...] = (100, 500, 2000)
    retry_jitter: float = Field(default=0.2, ge=0, lt=1)
    handler_concurrency: int = Field(default=4, ge=1)
    batch: int = Field(default=200, ge=1)
    relay_batch: int = Field(default=500, ge=1)
    relay_poll_ms: int = Field(default=200, ge=10)
    outbox_max_retries: int = Field(default=5, ge=1)
    redrive_after_s: float = Field(default=30.0, gt=0)
    redrive_every_s: float = Field(default=10.0, gt=0)
    inbox_keep_days: int = Field(default=32, ge=1, description="Longer than the longest topic retention")
    fuse_share: float = Field(default=0.5, gt=0, le=1, description="Share of dead letters that stops a consumer")
    fuse_window: int = Field(default=100, ge=10)
    fuse_cooldown_s: float = Field(default=30.0, gt=0)
    stall_s: float = Field(default=60.0, gt=0, description="A partition may stand still so long with more to read")
    stalled_after_s: float = Field(default=300.0, gt=0, description="A loop that rests for longer makes /live false")
    silent_after_s: float = Field(default=20.0, gt=0, description="A process not heard of for so long is not there")
    restart_after_s: float = Field(default=60.0, gt=0, description="`up` restarts what is not live for so long")


class Floor(Slice):
    """The least that one labelled set must reach; both together (seed 004 section 2.3.2.1)."""

    precision: float = Field(ge=0, le=1)
    recall: float = Field(ge=0, le=1)
    benign: float | None = Field(default=None, ge=0, le=1, description="Share of benign messages left alone")


def _floors() -> dict[str, Floor]:
    return {
        "extraction": Floor(precision=0.9, recall=0.75),
        "corrections": Floor(precision=0.95, recall=0.85),
        "contradictions": Floor(precision=0.95, recall=0.65),
        "conversation turns": Floor(precision=0.68, recall=0.45),
        "end states": Floor(precision=0.3, recall=0.27),
        "refusal": Floor(precision=0.9, recall=0.98, benign=0.97),
        "feedback": Floor(precision=0.85, recall=0.85),
        "intents": Floor(precision=0.85, recall=0.85),
        "hostile": Floor(precision=0.88, recall=0.94, benign=0.88),
        "dates": Floor(precision=0.92, recall=0.93),
    }


class GatePolicy(Slice):
    """What `smartbrain eval --gate` asks of each labelled set before a release."""

    floors: dict[str, Floor] = Field(default_factory=_floors)


class RetentionPolicy(Slice):
    """What seed 003 calls by other names."""

    window_turns: int | None = Field(default=None, ge=0, description="Of compose.recent_turns_max (X26)")


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
