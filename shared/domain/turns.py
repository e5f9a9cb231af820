"""A turn of a conversation and its events, as the log keeps them, and the turn that ends a session."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from schemas.content import BLOCKS, TEXT_ONLY, ContentBlock
from schemas.turn_events import TurnEvents
from shared.domain.blocks import load_blocks
from shared.domain.subjects import Subject

SESSION_END = "session_end"
"""The event in the log that ends a session."""
WISH = "wish"
"""The event that turns remembering of the session on or off."""
WORDLESS = frozenset({SESSION_END, WISH})
"""Events in which nobody says or does anything."""


@dataclass(frozen=True)
class Event:
    """One row of the log. `content` is None after an erasure; `unsafe` names media that may not be read now."""

    event_id: UUID
    turn_id: UUID
    ordinal: int
    event_type: str
    role: str | None
    name: str | None
    content: dict[str, Any] | None
    said_at: datetime
    version: int = TEXT_ONLY
    unsafe: frozenset[str] = frozenset()
    meta: dict[str, Any] | None = None

    @property
    def blocks(self) -> tuple[ContentBlock, ...]:
        """The blocks of the message; none if it is plain text."""
        return load_blocks(self.content) if self.version == BLOCKS else ()


@dataclass(frozen=True)
class Turn:
    """A turn with its events in order; `recalled` has, by ordinal, the spans from earlier packages."""

    turn_id: UUID
    session_id: str
    seq: int
    event_id: UUID
    trace_id: str
    policy_version: str
    said_at: datetime
    committed_at: datetime
    observed: bool
    events: tuple[Event, ...]
    context_id: UUID | None = None
    experiment: dict[str, Any] | None = None
    recalled: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict[str, Sequence[Sequence[int]]])
    remember: bool = True
    """False if the caller forbids learning from it."""
    learning: bool = True
    """False if `learning` was off when it was committed."""
    withheld: str | None = None
    """The wish because of which nothing is learnt from it, once decided."""
    org_id: str | None = None
    imported: bool = False
    """Whether it was imported: nothing is learnt from its text, because its items contain the memories."""
    command: Mapping[str, Any] | None = None
    """What the command of its user did, if they gave one."""

    def list_texts(self, event_type: str) -> list[str]:
        """The texts of its messages of this type that were not erased, in order."""
        return [e.content["text"] for e in self.events if e.event_type == event_type and e.content]

    @property
    def ends(self) -> bool:
        """Whether its session ends with it."""
        return any(e.event_type == SESSION_END for e in self.events)

    @property
    def only_ends(self) -> bool:
        """Whether it only ends its session or turns remembering on or off."""
        return all(e.event_type in WORDLESS for e in self.events)

    def dimension(self, name: str) -> str | None:
        """The value of this dimension in the turn's experiment, if any."""
        found: dict[str, str] = (self.experiment or {}).get("dimensions", {})
        return found.get(name)


MAX_NAME = 96
"""Longer session ids appear in the key as a hash."""


def make_session_end(subject: Subject, session_id: str, next_seq: int) -> TurnEvents:
    """A turn that only ends the session; two requests without a turn in between give the same one."""
    name = session_id if len(session_id) <= MAX_NAME else hashlib.sha256(session_id.encode()).hexdigest()
    return TurnEvents(
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        session_id=session_id,
        idempotency_key=f"end:{name}:{next_seq}",
        end_session=True,
    )
