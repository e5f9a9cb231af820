"""The timeline of a user: what was learnt, changed, ended, taken back, merged, confirmed, when and by what."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.base import Contract, Instant
from schemas.vocabulary import MemoryType

ChangeKind = Literal[
    "learnt",
    "changed",
    "ended",
    "taken_back",
    "merged",
    "restored",
    "confirmed",
    "pinned",
    "unpinned",
    "outdated",
    "hidden",
    "imported",
]
Cause = Literal["turn", "edit", "upkeep", "import"]


class MemoryChange(Contract):
    """One change of what is known: `before` are the texts that hold no longer by it, `after` the one that holds."""

    at: Instant
    what: ChangeKind
    by: Annotated[
        Cause,
        Field(description="What was said, what the user did by hand, what time and use did, or an import"),
    ]
    memory_id: UUID
    type: MemoryType
    before: tuple[str, ...] = ()
    after: str | None = None
    turn_id: UUID | None = None
    session_id: str | None = None
    reason: str | None = None


class ChangePage(Contract):
    """Some changes of one user, newest first."""

    changes: tuple[MemoryChange, ...]
