"""How long rows are kept before age alone deletes them: one period per kind of row. Erasures do not
wait for these periods.
"""

from typing import Self

from pydantic import Field, model_validator

from schemas.topics import ERASURE_REQUESTED, TOPICS
from shared.policy.base import Slice

YEARS_3 = 1096
HOURS = 24


class RetentionPolicy(Slice):
    """The log, memories, summaries and sessions stay until their owner has them erased, or until `user_days` is over.

    The retention of topics is in `schemas/topics.py` (docs/reference/topics.md).
    """

    user_days: int | None = Field(
        default=None,
        ge=1,
        description="Default retention of user data: memories that were not stated or confirmed, and sessions "
        "without a message, for this long are erased; null: no erasure by age",
    )
    packages_days: int = Field(default=7, ge=1, description="Packages and their plans; they contain text")
    receipts_days: int = Field(
        default=YEARS_3,
        ge=YEARS_3,
        description="Receipts of packages (at least three years); they contain ids and numbers",
    )
    injections_days: int = Field(default=30, ge=1, description="The memories of each package, which feedback needs")
    tool_receipts_days: int = Field(
        default=30, ge=1, description="Receipts of tool calls, which experience counts (`evolution.experience.days`)"
    )
    model_answers_days: int = Field(
        default=7, ge=1, description="Model answers that did not fit the schema, with the problem; they contain text"
    )
    usage_days: int = Field(default=90, ge=2, description="Cost of models per day and user")
    claims_days: int = Field(
        default=32,
        ge=1,
        description="Ids of handled events: longer than any topic keeps an event, or a repeated one counts twice",
    )
    proofs_years: int = Field(
        default=3,
        ge=3,
        le=100,
        description="Tombstones and audit events of completed erasures, and actions of operators",
    )
    window_turns: int | None = Field(
        default=None, ge=0, exclude=True, description="Older name of `compose.recent_turns_max`"
    )

    @model_validator(mode="after")
    def _keeps_what_others_need(self) -> Self:
        """ValueError if a period is shorter than what needs the rows; an erasure knows itself
        whether it is completed.
        """
        claimed = (topic for topic in TOPICS if topic is not ERASURE_REQUESTED and set(topic.readers) - {"users"})
        longest = max(topic.retention_hours for topic in claimed)
        if self.claims_days * HOURS <= longest:
            raise ValueError(f"claims_days: topics keep events for {longest / HOURS:g} days, claims must stay longer")
        for name in ("packages_days", "injections_days"):
            if getattr(self, name) > self.receipts_days:
                raise ValueError(f"{name}: longer than receipts_days, {self.receipts_days}: receipts explain them")
        return self
