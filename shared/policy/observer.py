"""The policy of the observer: what it stores, and sessions."""

from typing import Annotated, get_args

from pydantic import Field

from schemas.memory_types import MemoryType
from shared.policy.base import Slice

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
