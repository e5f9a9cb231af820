"""What the HTTP interface shows of sessions, and the receipt of one that ends (seed 004 sections 3.1, 5 and 6)."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from schemas.base import Contract, Instant, JsonObject
from schemas.views import SummaryView

SessionStanding = Literal["open", "ending", "archived"]
"""`ending`: its last turn ends it, and the observer has not had that turn yet."""


class EntitySlot(Contract):
    """A name that stands for the session: how often it was said there, and in which turn last."""

    name: str
    kind: str
    mentions: int
    last_seq: int


class SummaryBlock(Contract):
    """What one stretch of a session left behind when it was archived."""

    version: int
    from_seq: int
    to_seq: int
    text: str
    generated_at: Instant
    model_id: str


class SessionLine(Contract):
    """One session in a list; `turns` is the number of its last turn, `metadata` what the caller keeps with it."""

    session_id: str
    state: SessionStanding
    turns: int
    created_at: Instant
    last_turn_at: Instant
    archived_at: Instant | None = None
    metadata: JsonObject = Field(default_factory=dict)
    remembered: bool = Field(default=True, description="False: by the user's wish nothing is learnt in it now")


class SessionChange(Contract):
    """Whether a session is remembered from here on."""

    remembered: bool


class SessionWish(Contract):
    """The wish stands in the log, before everything that is committed after it."""

    session_id: str
    remembered: bool
    turn_id: UUID
    since: Instant


class SessionPage(Contract):
    """Some sessions of one user, the latest first."""

    sessions: tuple[SessionLine, ...]


class SessionView(SessionLine):
    """One session with all that is kept of it beside its turns; blocks oldest first, slots most mentioned first."""

    summary: SummaryView | None = None
    blocks: tuple[SummaryBlock, ...] = ()
    entity_slots: tuple[EntitySlot, ...] = ()


class ArchiveReceipt(Contract):
    """The session ends with this turn; asking again gives the same receipt until somebody speaks in it.

    `state` is `archived` once the summary stands, and `summary_version` then names it.
    """

    version: Literal["0.1"] = "0.1"
    receipt_id: UUID
    session_id: str
    turn_id: UUID
    archived_at: Instant
    state: Literal["ending", "archived"]
    summary_version: int | None = None
