"""Commands that a user types (seed 002 section 6.2; X43), and what they are told."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from schemas.base import NO_NUL, Contract, ExternalId
from schemas.vocabulary import MemoryType

CommandName = Literal["memory", "summary", "forget", "remember", "help", "unknown"]


class CommandRequest(Contract):
    """A command as the user typed it, for an application that commits no turn of it."""

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    session_id: ExternalId
    text: Annotated[str, StringConstraints(min_length=1, max_length=4000, pattern=NO_NUL)]
    idempotency_key: ExternalId | None = None


class CommandItem(Contract):
    """One memory of a reply; /forget takes its `number` with its `kind`, or its id."""

    kind: Literal["fact", "note"]
    number: int | None = None
    memory_id: UUID
    type: MemoryType
    text: str


class CommandReply(Contract):
    """What came of a command, and the text that tells the user so in their language.

    `done` is false where nothing was done or changed; `reason` says why in one word.
    """

    command: CommandName
    done: bool
    reason: str | None = None
    text: str
    items: tuple[CommandItem, ...] = ()
    language: Annotated[Literal["zh", "en"], Field(description="Of the text")] = "en"
