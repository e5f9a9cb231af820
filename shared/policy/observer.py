"""What the observer goes by: what it keeps, and sessions."""

from typing import Annotated, get_args

from pydantic import Field

from schemas.memory_types import MemoryType
from shared.policy.base import Slice

USER_TYPES: tuple[MemoryType, ...] = tuple(each for each in get_args(MemoryType) if each != "agent_experience")


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
    kinds: tuple[MemoryType, ...] = Field(
        default=USER_TYPES,
        description="Types that are kept of what is said by the way; what is dictated is kept whatever its type",
    )
    refused_keys: tuple[Annotated[str, Field(pattern="^[a-z]+:[^\\s]{0,127}$")], ...] = Field(
        default=(),
        description="Beginnings of keys under which nothing is kept, such as `profile:` or `preference:food`",
    )
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
    learn: bool = Field(
        default=True, description="Whether anything is derived from turns where nobody chose; they are logged anyway"
    )
    auto_remember: bool = Field(
        default=True,
        description="Whether what is said by the way is kept where nobody chose; false: what is dictated alone",
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


class SessionPolicy(Slice):
    """When a session ends by itself, and what is shown of it."""

    summaries: bool = Field(default=True, description="Whether sessions have a summary where nobody chose")
    idle_hours: float = Field(default=24.0, gt=0, description="A session without a turn for so long is archived")
    blocks_max: int = Field(default=20, ge=1, description="Summary blocks of archived stretches that are shown")
    entity_slots_max: int = Field(default=20, ge=0, description="Names that are shown")
    use_model: bool = Field(
        default=True, description="Whether the chat model retells summaries; `observer.use_model` must allow it too"
    )
    summary_prompt: str = Field(default="summary-1", description="Version of the question (`summary-1`)")
