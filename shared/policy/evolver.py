"""What the evolver goes by: feedback, upkeep, promotion, the experience of agents."""

from pydantic import Field

from shared.policy.base import Slice


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
    injections_waiting_max: int = Field(
        default=500,
        ge=1,
        description="Packages that may wait to be recorded; beyond that a reply waits up to a second for a place",
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

    days: int = Field(default=30, ge=1, description="Receipts of so many days count")
    share_users: int = Field(default=3, ge=2, description="What fewer users have done is shown to each of them alone")
    least_calls: int = Field(default=5, ge=1, description="Calls for one intent below which nothing is said of it")


class CalibrationPolicy(Slice):
    """What the reception of a memory does to its confidence in a round of upkeep (R060); one rule applies at a time.

    What nobody judged is neutral: of praise and blame alone a share is made.
    """

    verdicts_least: int = Field(default=2, ge=1, description="Praise and blame of fewer packages make no share")
    rejected_uses: int = Field(default=5, ge=1, description="Packages after which it may be rejected or corrected ...")
    rejected_below: float = Field(default=0.3, ge=0, le=1, description="... rejected, where less than this was praise")
    rejected_step: float = Field(default=0.2, ge=0, le=1, description="Confidence down")
    corrected_least: int = Field(default=2, ge=1, description="... corrected, where so many packages were")
    corrected_step: float = Field(default=0.15, ge=0, le=1, description="Confidence down")
    praised_uses: int = Field(default=10, ge=1, description="Packages after which it may be praised ...")
    praised_above: float = Field(default=0.8, ge=0, le=1, description="... where more than this was praise")
    praised_step: float = Field(default=0.1, ge=0, le=1, description="Confidence up, within its cap")
    least: float = Field(default=0.1, ge=0, le=1, description="Steps down end here")
    evicted_below: float = Field(default=0.2, ge=0, le=1, description="A rejected memory below this goes out of sight")


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
    calibration: CalibrationPolicy = Field(default=CalibrationPolicy(), description="See below")
    promotion: PromotionPolicy = Field(default=PromotionPolicy(), description="See below")
    experience: ExperiencePolicy = Field(default=ExperiencePolicy(), description="See below")
