"""The policy of the evolver: feedback, upkeep, promotion, the experience of agents."""

from pydantic import Field

from shared.policy.base import Slice


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
