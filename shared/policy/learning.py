"""How a turn becomes memories and what becomes of them: intake, observer, confidence, analysis, feedback, upkeep,
promotion, and the experience of agents.
"""

from typing import Annotated, Self, get_args

from pydantic import Field, model_validator

from schemas.memory_types import MemoryType
from schemas.settings import Handling, Strict
from schemas.vocabulary import Assertion, Provenance
from shared.policy.base import Slice
from shared.policy.compose import Steps, check_steps
from shared.secrets import SecretKind


class PersonalDataPolicy(Slice):
    """Handling by kind, in all incoming text (messages, tool results, references, items, edits, media) and in model
    prompts."""

    phone: Handling = Field(default="keep", description="Telephone numbers")
    email: Handling = Field(default="keep", description="Mail addresses")
    id_number: Strict = Field(
        default="redact", description="Numbers of identity documents, social and tax numbers (China, US, UK, EU)"
    )
    bank_card: Strict = Field(default="redact", description="Numbers of cards and bank accounts")
    address: Handling = Field(default="keep", description="Streets with a house number")

    @property
    def kinds_kept(self) -> frozenset[SecretKind]:
        """The kinds that are kept."""
        return self._list_kinds("keep")

    @property
    def kinds_refused(self) -> frozenset[SecretKind]:
        """The kinds that are refused."""
        return self._list_kinds("refuse")

    def _list_kinds(self, handling: Handling) -> frozenset[SecretKind]:
        kinds: tuple[SecretKind, ...] = ("phone", "email", "id_number", "bank_card", "address")
        return frozenset(kind for kind in kinds if getattr(self, kind) == handling)


USER_TYPES: tuple[MemoryType, ...] = tuple(each for each in get_args(MemoryType) if each != "agent_experience")


class ObserverPolicy(Slice):
    """What the observer keeps, when it updates the summary, and what its model may cost.

    The chat model reads a turn after the rules, and nothing waits for it. If it cannot be called, the outcome of the
    turn says why: `model_unavailable`, `model_answer_malformed`, `model_budget_used_up`, `model_skipped`,
    `prompt_version_unknown`. A daily share may be exceeded by one answer per worker.
    """

    entity_min_mentions: int = Field(
        default=2, ge=1, description="A name becomes an entity memory after this many mentions"
    )
    entity_window_turns: int = Field(default=20, ge=1, description="... within this many turns")
    kinds: tuple[MemoryType, ...] = Field(
        default=USER_TYPES,
        description="Types of undictated statements that are kept; dictated statements are always kept",
    )
    refused_keys: tuple[Annotated[str, Field(pattern="^[a-z]+:[^\\s]{0,127}$")], ...] = Field(
        default=(),
        description="Key prefixes under which nothing is kept, such as `profile:` or `preference:food`",
    )
    profile_slots: tuple[Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,47}$")], ...] = Field(
        default=(),
        description="Additional slots for profile keys, such as `favourite_colour`",
    )
    summarize_after_turns: int = Field(
        default=12, ge=1, description="Turns after which the session summary is updated at the latest"
    )
    summary_token_share: float = Field(
        default=0.7, gt=0, le=1, description="It is updated earlier if the text since then exceeds this share ..."
    )
    summary_token_limit: int = Field(default=8192, ge=512, description="... of this many tokens")
    habit_sessions_min: int = Field(
        default=4, ge=2, description="Sessions with the same short message that make a pattern (on at least 3 days)"
    )
    use_model: bool = Field(default=True, description="Whether the chat model reads each turn after the rules")
    model_deadline_s: float = Field(default=30.0, gt=0, description="Time for one answer, including one repair")
    extract_prompt: str = Field(
        default="extract-4",
        description="Version of the prompt: `extract-4` (short; the model may also withdraw findings of the rules),"
        " `extract-3`, `extract-2`, `extract-1`; an"
        " unknown name stops the observer",
    )
    model_lag_max_s: float = Field(
        default=600.0, gt=0, le=1200, description="The model skips turns that have waited longer than this"
    )
    model_known_max: int = Field(default=20, ge=0, le=20, description="Current memories shown to the model with a turn")
    learn: bool = Field(
        default=True,
        description="Default of the setting `learning`: whether anything is derived from turns; they are logged"
        " in any case",
    )
    auto_remember: bool = Field(
        default=True,
        description="Default of the setting `auto_remember`: whether undictated statements are kept",
    )
    log_withheld: bool = Field(
        default=True, description="Whether the log keeps the text of turns that must not be remembered"
    )
    model_tokens_per_day: int = Field(
        default=1_000_000, ge=0, description="Daily share (UTC) of one user, both directions; 0: no limit"
    )
    model_seconds_per_day: float = Field(default=7200.0, ge=0, description="Daily share of one user; 0: no limit")
    tenant_model_tokens_per_day: int = Field(
        default=0, ge=0, description="Share of all users of a tenant together; 0: no limit"
    )
    tenant_model_seconds_per_day: float = Field(
        default=0.0, ge=0, description="Share of all users of a tenant together; 0: no limit"
    )


class SessionPolicy(Slice):
    """When a session ends on its own, and how much of it is shown."""

    summaries: bool = Field(default=True, description="Default of the setting `summary_enabled`")
    idle_hours: float = Field(default=24.0, gt=0, description="A session without a turn for this long is archived")
    blocks_max: int = Field(default=20, ge=1, description="Summary blocks that are shown")
    entity_slots_max: int = Field(default=20, ge=0, description="Names that are shown")
    use_model: bool = Field(
        default=True, description="Whether the chat model edits summaries; `observer.use_model` must allow it too"
    )
    summary_prompt: str = Field(default="summary-1", description="Version of the prompt (`summary-1`)")


class ProvenanceLevel(Slice):
    """Provenance and confidence of a new memory."""

    provenance: Provenance = Field(description="Provenance of the memory")
    initial: float = Field(ge=0, le=1, description="Initial confidence")
    cap: float = Field(ge=0, le=1, description="Maximum confidence, however often it is repeated")


def _default_confidences() -> dict[Assertion, ProvenanceLevel]:
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
    """The initial and maximum confidence of a memory, by how the statement was made.

    A claim of money, entitlement or authority is always capped. The higher provenance wins: `confirmed_by_user`,
    `tool`, `analysis`, `observation`; among equals the later statement. Stored confidence never decays.
    """

    standings: dict[Assertion, ProvenanceLevel] = Field(
        default_factory=_default_confidences, description="By how the statement was made"
    )
    self_benefit: ProvenanceLevel = Field(
        default=ProvenanceLevel(provenance="observation", initial=0.4, cap=0.5),
        description="For claims of money, entitlement or authority, however they are made",
    )
    repeated: ProvenanceLevel = Field(
        default=ProvenanceLevel(provenance="analysis", initial=0.7, cap=0.8),
        description="For a declaration that was made in several sessions",
    )
    decay: Steps = Field(
        default=((0, 1.0), (30, 0.85), (90, 0.6), (180, 0.3)),
        description="Decay of confidence since the last confirmation: pairs of days and factor",
    )
    repeated_sessions: int = Field(
        default=2, ge=2, description="Number of sessions that raise a declaration to `analysis`"
    )

    @model_validator(mode="after")
    def _rises(self) -> Self:
        check_steps("decay", self.decay)
        return self

    def provenance_cap(self, provenance: Provenance, flags: tuple[str, ...] = ()) -> float:
        """The maximum confidence of a memory with this provenance."""
        if "self_benefit" in flags:
            return self.self_benefit.cap
        every = (*self.standings.values(), self.repeated)
        return max((each.cap for each in every if each.provenance == provenance), default=1.0)

    def level_of(self, assertion: Assertion, flags: tuple[str, ...] = ()) -> ProvenanceLevel:
        """The initial confidence of an assertion with these flags."""
        return self.self_benefit if "self_benefit" in flags else self.standings[assertion]


class AnalysisPolicy(Slice):
    """How a statement is compared with memories if keys, words and learned weights find none.

    The six nearest memories are found by their vectors. Above `similarity` two texts say the same, unless a denial, a
    number, another item of the same kind or the opposite liking contradicts that; above 0.6 they are compared. If the
    rules are in doubt, the chat model judges at most six memories: `ends`, `same`, `both`, `apart`. A verdict never
    ends a confirmed memory.
    """

    similarity: float = Field(default=0.85, gt=0, le=1, description="Cosine above which two texts say the same")
    doubt_low: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Probability of a relation above which the chat model is asked, if the rules do not act on it",
    )
    use_model: bool = Field(
        default=True, description="Whether to ask the chat model; `observer.use_model` must allow it too"
    )
    prompt: str = Field(
        default="analysis-1", description="Version of the prompt (`analysis-1`); an unknown name stops the analyzer"
    )
    deadline_s: float = Field(default=10.0, gt=0, description="Time for one question to the model, and for one vector")


class FeedbackPolicy(Slice):
    """How the reception of a package changes the confidence of its memories.

    A package that was incomplete because a part failed or was late changes nothing.
    """

    positive_step: float = Field(
        default=0.02, ge=0, le=0.2, description="Increase of confidence if an answer that used the memory was confirmed"
    )
    correction_step: float = Field(
        default=0.05, ge=0, le=0.5, description="Decrease of confidence if it was corrected or rejected"
    )
    least_confidence: float = Field(default=0.1, ge=0, le=1, description="Steps down end here")
    injections_waiting_max: int = Field(
        default=500,
        ge=1,
        description="Packages that may wait to be recorded; beyond that, a reply waits up to a second",
    )


class PromotionPolicy(Slice):
    """Requirements for proposing a memory for promotion; all must be met."""

    least_confidence: float = Field(default=0.75, ge=0, le=1, description="Confidence of the memory")
    least_uses_30d: int = Field(default=3, ge=1, description="Uses by answers and repetitions by the user in 30 days")
    least_sessions: int = Field(default=2, ge=1, description="Sessions in which it was stated")
    conflict_ratio_below: float = Field(
        default=0.3, ge=0, le=1, description="Contradictions as a share of contradictions and confirmations"
    )
    expires_days: int = Field(default=7, ge=1, description="How long a proposal waits for a decision")


class ExperiencePolicy(Slice):
    """What agents learn from receipts of their tools and from the reception of packages."""

    days: int = Field(default=30, ge=1, description="Days of receipts that count")
    share_users: int = Field(default=3, ge=2, description="Experience of fewer users is shown only to each of them")
    least_calls: int = Field(default=5, ge=1, description="Minimum number of calls for one intent")


class CalibrationPolicy(Slice):
    """How receptions change the confidence of a memory in a round of upkeep; one rule applies at a time.

    Silence is neutral: shares count only praise and blame.
    """

    verdicts_least: int = Field(default=2, ge=1, description="Minimum number of packages with praise or blame")
    rejected_uses: int = Field(
        default=5, ge=1, description="Minimum number of packages for the rules `rejected` and `corrected`"
    )
    rejected_below: float = Field(default=0.3, ge=0, le=1, description="Rejected: if the share of praise is below this")
    rejected_step: float = Field(default=0.2, ge=0, le=1, description="Decrease of confidence")
    corrected_least: int = Field(
        default=2, ge=1, description="Corrected: if at least this many packages were corrected"
    )
    corrected_step: float = Field(default=0.15, ge=0, le=1, description="Decrease of confidence")
    praised_uses: int = Field(default=10, ge=1, description="Minimum number of packages for the rule `praised`")
    praised_above: float = Field(default=0.8, ge=0, le=1, description="Praised: if the share of praise is above this")
    praised_step: float = Field(default=0.1, ge=0, le=1, description="Increase of confidence, within the cap")
    least: float = Field(default=0.1, ge=0, le=1, description="Steps down end here")
    evicted_below: float = Field(
        default=0.2, ge=0, le=1, description="A rejected memory below this confidence is hidden"
    )


class EvolutionPolicy(Slice):
    """Upkeep of memories, by time and use."""

    every_s: float = Field(default=300.0, gt=0, description="Seconds between two rounds of upkeep")
    consolidate_least: int = Field(default=3, ge=2, description="Number of similar memories that are merged")
    consolidate_similarity: float = Field(default=0.85, gt=0, le=1, description="Required similarity of each pair")
    outdated_below: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Confidence after decay below which a memory is used only for questions about the past",
    )
    misses_most: int = Field(
        default=20,
        ge=1,
        description="An unconfirmed memory ends after this many packages in which it was not used",
    )
    fuse_strikes: int = Field(default=3, ge=1, description="Corrections or rejections after which a memory is hidden")
    calibration: CalibrationPolicy = Field(default=CalibrationPolicy(), description="See below")
    promotion: PromotionPolicy = Field(default=PromotionPolicy(), description="See below")
    experience: ExperiencePolicy = Field(default=ExperiencePolicy(), description="See below")
