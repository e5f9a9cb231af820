"""Dead letters and quarantined events as an operator sees them, and what is done with one (R183, X51)."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from schemas.base import WORDS_PATTERN, Contract, ExternalId, HasWords, Instant

LetterId = Annotated[str, StringConstraints(pattern=r"^[a-z.]{1,64}-[0-9a-f]{32}$")]
"""The short name of the topic that it failed on, and a hash: `turn.commit-4f0c...`."""
LetterState = Literal["open", "redriven", "dropped"]
RedriveEffect = Literal["commits", "derives", "applies", "nothing", "returns", "impossible"]
"""What a redrive would do.

`commits`: the record goes through intake again. `derives`: its turn is read again, or goes on where it was given up.
`applies`: its event is handled again. `nothing`: there is an outcome already, or nobody waits for one. `returns`: it
would fail again as it stands. `impossible`: the record itself is not kept. Only the first three are carried out.
"""


class Redrive(Contract):
    """What would happen if it were redriven now, and why; `topic` and `group`: where it would go and who reads it."""

    effect: RedriveEffect
    why: str
    topic: str
    group: str | None = None


class ActView(Contract):
    """What an operator did: when, and where it is asked for by its id who and why."""

    act: Literal["redriven", "dropped"]
    at: Instant
    requested_by: str | None = None
    reason: str | None = None


class DeadLetterView(Contract):
    """One dead letter without its words; `tenant_id` and `user_id` are null where nothing in it tells whose it is."""

    letter_id: LetterId
    topic: str
    partition: int
    offset: int
    origin: str
    error: str
    dead_at: Instant
    value_bytes: int
    tenant_id: str | None = None
    user_id: str | None = None
    event_type: str | None = None
    event_id: UUID | None = None
    state: LetterState = "open"
    act: ActView | None = None


class DeadLetterPage(Contract):
    """Dead letters, newest first. `unread`: older ones stand there that were not looked at; ask for a larger limit."""

    letters: tuple[DeadLetterView, ...]
    unread: bool = False


class DeadLetterDetail(DeadLetterView):
    """One dead letter with what it says and what a redrive would do.

    Words of `value` are blanked where `raw` was not asked for; `encoding` says whether it is JSON, text or base64.
    """

    key: str | None = None
    value: Any = None
    encoding: Literal["json", "text", "base64"] = "json"
    redrive: Redrive


class OperatorRequest(Contract):
    """What an operator asks for is on record with who and why."""

    requested_by: ExternalId
    reason: Annotated[
        str,
        StringConstraints(min_length=1, max_length=500),
        HasWords,
        Field(json_schema_extra={"pattern": WORDS_PATTERN}),
    ]


class RedriveRequest(OperatorRequest):
    """`vouched`: the operator says that a record may be taken that was refused because of who sent it."""

    vouched: bool = False


class OperatorResult(Contract):
    """What became of it. Not `fresh`: it had been done before, and nothing was done now."""

    state: LetterState
    fresh: bool
    act: ActView


class QuarantineView(Contract):
    """An event that a worker gave up, and the turn behind it; `error` only where it is asked for by its id."""

    quarantine_id: UUID
    tenant_id: str
    user_id: str
    stage: str
    turn_id: UUID | None = None
    event_id: UUID
    created_at: Instant
    error: str | None = None
    state: LetterState = "open"
    act: ActView | None = None
    redrive: Redrive | None = None


class QuarantinePage(Contract):
    """Quarantined events, newest first."""

    events: tuple[QuarantineView, ...]
