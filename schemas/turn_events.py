"""What a caller commits for one turn, and what it gets back (seed 000 section 6.2, decision 12, X32)."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self
from uuid import UUID

import orjson
from pydantic import (
    AfterValidator,
    AliasChoices,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    StringConstraints,
    model_validator,
)
from pydantic_core import CoreSchema

from schemas.base import NO_NUL, Contract, ExternalId, Instant, Json, JsonObject, JsonSchemaValue, has, when
from schemas.commands import CommandReply
from schemas.content import SAYS_SOMETHING, Content, problems_at, says_something
from schemas.experiment import ExperimentContext
from schemas.vocabulary import MemoryType, Role

MAX_BODY_BYTES = 1_048_576
"""A commit larger than this is refused before it is parsed."""

Text = Annotated[str, StringConstraints(max_length=200_000, pattern=NO_NUL)]
ShortText = Annotated[str, StringConstraints(max_length=512, pattern=NO_NUL)]
Uri = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=NO_NUL)]
MAX_METADATA_BYTES = 8192
"""The most that the metadata of a session, or of one message, may hold as JSON."""

MERGED_MOST = 20
"""So many others at most become one with a memory at once."""


def _within_bounds(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if len(orjson.dumps(value)) > MAX_METADATA_BYTES:
        raise ValueError(f"is longer than {MAX_METADATA_BYTES} bytes of JSON")
    return value


Metadata = Annotated[JsonObject, AfterValidator(_within_bounds)]
"""What the caller keeps beside the words: channel, locale, ids of its own. Given back as it came, learnt from never."""


class Message(Contract):
    """One utterance, a text or blocks; `name` says who spoke where a chat has several people in one role."""

    role: Role
    content: Content
    name: ShortText | None = None
    model: ShortText | None = None
    created_at: Instant | None = None
    meta: Annotated[Metadata | None, Field(description="The caller's own, kept with the message")] = None

    @classmethod
    def conditions(cls) -> Sequence[JsonSchemaValue]:
        """The user says something; an assistant that only calls tools may be silent."""
        return (when("role", "user", {"properties": {"content": SAYS_SOMETHING}}, {}),)

    @model_validator(mode="after")
    def _user_says_something(self) -> Self:
        if self.role == "user" and not says_something(self.content):
            raise problems_at("Message", [("content", "says nothing")])
        return self


class ToolCall(Contract):
    """One call of a tool with its result, as the assistant made it."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=256, pattern=NO_NUL)]
    args: JsonObject = Field(default_factory=dict)
    result: Json = None
    status: Literal["ok", "error", "pending"] = "ok"
    call_id: ShortText | None = None
    created_at: Instant | None = None


class TurnRef(Contract):
    """A resource that the turn referred to: a file, a URL or an artefact."""

    ref_type: Literal["file", "url", "artifact"]
    ref_uri: Uri
    title: ShortText | None = None
    meta: JsonObject = Field(default_factory=dict)


Judgement = Literal["not_useful", "never_again", "bring_up_again"]
"""What the user says of the use of a memory: of no use, not to be brought up, or no longer so."""
_ALONE: JsonSchemaValue = {"properties": {"retract": {"const": False}, "restore": {"const": False}}}


class StructuredItem(Contract):
    """A memory that the caller already knows in structured form; `retract` takes one back by its key or id.

    With `memory_id` alone it is the next version of that memory; `restore` makes that version's content hold again,
    `pin` has it lead every package, or no more, `merge` names others that become one with it, and `feedback` judges its
    use.
    """

    type: MemoryType
    key: ShortText | None = None
    memory_id: UUID | None = Field(
        default=None, validation_alias=AliasChoices("memory_id", "memory_item_id", "item_id")
    )
    value: Json = None
    text: Text | None = None
    confirmed: bool = False
    retract: bool = False
    restore: bool = False
    feedback: Annotated[
        Judgement | None, Field(description="Of the use of the memory that `memory_id` names; nothing else is read")
    ] = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    pin: bool | None = None
    merge: Annotated[tuple[UUID, ...], Field(max_length=MERGED_MOST)] = ()

    @classmethod
    def conditions(cls) -> Sequence[JsonSchemaValue]:
        """What is taken back is named, what is restored, pinned, merged or judged by its id alone; else something is said."""
        named, says = (
            {"anyOf": [has("key", minLength=1), has("memory_id")]},
            {"anyOf": [has("value"), has("text"), has("feedback")]},
        )
        no_pin, no_merge = {"pin": {"type": "null"}}, {"merge": {"maxItems": 0}}
        alone = {"retract": {"const": False}, "restore": {"const": False}}
        pinned = {"required": ["pin"], "properties": {"pin": {"type": "boolean"}}}
        merged = {"required": ["merge"], "properties": {"merge": {"minItems": 1}}}
        merge = {"if": merged, "then": {"allOf": [has("memory_id"), {"properties": {**alone, **no_pin}}]}, "else": says}
        pin = {
            "if": pinned,
            "then": {"allOf": [has("memory_id"), {"properties": {**alone, **no_merge}}]},
            "else": merge,
        }
        others = {**no_pin, **no_merge}
        restored = {"allOf": [has("memory_id"), {"properties": {"retract": {"const": False}, **others}}]}
        restore = when("restore", True, restored, pin)
        taken = {"allOf": [named, {"properties": {"restore": {"const": False}, **others}}]}
        judges = {"if": has("feedback"), "then": {"allOf": [has("memory_id"), {"properties": {**alone, **others}}]}}
        return (when("retract", True, taken, restore), judges)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.retract and not (self.key or self.memory_id):
            raise ValueError("an item to retract needs its key or its memory_id")
        if self.restore and (self.retract or not self.memory_id):
            raise ValueError("an item to restore needs its memory_id, and cannot be retracted as well")
        acts = (self.retract, self.restore, self.pin is not None, bool(self.merge), bool(self.feedback))
        if sum(acts) > 1:
            raise ValueError("an item does one thing: it retracts, restores, pins, merges or judges")
        if (self.pin is not None or self.merge or self.feedback) and not self.memory_id:
            raise ValueError("an item to pin, to merge or to judge needs its memory_id")
        if not any(acts) and self.text is None and self.value is None:
            raise ValueError("an item needs a value or a text")
        return self


class TurnEvents(Contract):
    """All that happened in one turn; published to `smartbrain.turn.commit.v1` or posted to `/v1/turns`."""

    version: Literal["0.1"] = "0.1"
    tenant_id: ExternalId = "default"
    user_id: ExternalId
    session_id: ExternalId
    org_id: Annotated[ExternalId | None, Field(description="Where what the turn cites may be found again")] = None
    idempotency_key: ExternalId | None = None
    created_at: Instant | None = None
    messages: Annotated[tuple[Message, ...], Field(max_length=64)] = ()
    tool_calls: Annotated[tuple[ToolCall, ...], Field(max_length=128)] = ()
    refs: Annotated[tuple[TurnRef, ...], Field(max_length=128)] = ()
    items: Annotated[tuple[StructuredItem, ...], Field(max_length=128)] = ()
    metadata: Annotated[
        Metadata | None, Field(description="The caller's own, kept with the session in place of what stood there")
    ] = None
    end_session: Annotated[bool, Field(description="The session ends with this turn, which may hold nothing else")] = (
        False
    )
    remember: Annotated[bool, Field(description="False: nothing is learnt from this turn; its outcome says so")] = True
    session_remembered: Annotated[
        bool | None, Field(description="False: nothing is learnt in this session from here on, until it is true")
    ] = None
    context_id: UUID | None = None
    experiment_context: ExperimentContext | None = None

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """At least one of what a turn can hold; the events may stand in a field of their own."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        if handler.mode == "validation":
            own = handler.resolve_ref_schema(schema)
            some = [has(name, minItems=1) for name in ("messages", "tool_calls", "refs", "items")]
            some += [has("end_session", const=True), has("session_remembered")]
            nested = {"type": "object", "properties": {**own["properties"]}, "anyOf": some}
            own["properties"]["turn_events"] = {**nested, "deprecated": True}
            own["anyOf"] = [*some, has("turn_events")]
        return schema

    @model_validator(mode="before")
    @classmethod
    def _unwrap(cls, raw: Any) -> Any:
        """`commit_turn(session_id, turn_events)` of seed 000: the events may stand in a field of their own."""
        if isinstance(raw, dict) and isinstance(raw.get("turn_events"), dict):  # pyright: ignore[reportUnknownMemberType] # raw JSON
            inner: dict[str, Any] = raw["turn_events"]  # pyright: ignore[reportUnknownVariableType] # raw JSON
            return {**inner, **{k: v for k, v in raw.items() if k != "turn_events"}}  # pyright: ignore[reportUnknownVariableType] # raw JSON
        return raw  # pyright: ignore[reportUnknownVariableType] # raw JSON

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not (self.messages or self.tool_calls or self.refs or self.items or self.end_session) and (
            self.session_remembered is None
        ):
            raise ValueError(
                "a turn needs at least one of messages, tool_calls, refs, items, end_session, session_remembered"
            )
        return self


DEFERRED = ("extraction", "consolidation", "summary")
"""What follows a commit where anything may be learnt from it."""


class Accepted(Contract):
    """How many events of each kind were written."""

    messages: int
    tool_calls: int
    refs: int
    items: int


class Redaction(Contract):
    """A secret that was replaced by a placeholder before anything was stored."""

    field: str
    kind: str


class CommitResult(Contract):
    """A turn is durable; what is derived from it follows as the event `turn.outcome`."""

    version: Literal["0.1"] = "0.1"
    turn_id: UUID
    session_id: str
    seq: int
    outbox_event_id: UUID
    committed_at: Instant
    accepted: Accepted
    deferred: tuple[str, ...] = DEFERRED
    remember: bool = True
    learning: bool = True
    """False: the user's settings decline learning, and nothing is derived from the turn."""
    redacted: tuple[Redaction, ...] = ()
    ignored_fields: tuple[str, ...] = ()
    reply: Annotated[
        CommandReply | None, Field(description="Where the user gave a command: what came of it; over HTTP")
    ] = None


class FieldProblem(Contract):
    """One field of a request and what is wrong with it."""

    field: str
    problem: str


class ErrorReply(Contract):
    """Every refusal, over HTTP and over Kafka (decision 10)."""

    code: str
    message: str
    details: tuple[FieldProblem, ...] = ()
    request_id: str
    degraded_reason: tuple[str, ...] = ()
    retry_after_s: int | None = None
