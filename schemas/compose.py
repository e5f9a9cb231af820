"""The question to compose (seed 000 section 6.1; decisions 9 and 10); its refusal is `turn_events.ErrorReply`."""

# ruff: noqa: RUF012 - pydantic copies a mutable default for every instance

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from pydantic import (
    AliasChoices,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from schemas.base import (
    NO_NUL,
    NULL,
    WORDS_PATTERN,
    Contract,
    ExternalId,
    HasWords,
    JsonObject,
    has,
    has_words,
    without_nulls,
)
from schemas.content import (
    MAX_BLOCKS,
    SAYS_SOMETHING,
    Blocks,
    BlockType,
    ContentBlock,
    blocks_of,
    by_shape,
    problems_at,
    words_of,
)
from schemas.experiment import ExperimentContext
from schemas.retrieval_plan import Version

BudgetProfileName = Literal["8k", "16k", "32k"]
PROFILE_WINDOWS: dict[BudgetProfileName, int] = {"8k": 8192, "16k": 16384, "32k": 32768}
MAX_MESSAGE_CHARS = 400_000
INJECT_MOST = 40


MessageText = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS),
    HasWords,
    Field(json_schema_extra={"pattern": WORDS_PATTERN}),
]


class IncomingMessage(Contract):
    """The user's message as sent: a text, or content blocks (R188); a bare text or list is its content."""

    nulls_are_absent: ClassVar[bool] = True

    role: Literal["user"] = "user"
    content: Annotated[MessageText | Blocks, by_shape(MessageText)]
    name: Annotated[str, StringConstraints(max_length=128, pattern=NO_NUL)] | None = None

    content_parts: Annotated[
        tuple[ContentBlock, ...],
        Field(max_length=MAX_BLOCKS, description="Media beside a text; blocks are the newer form"),
    ] = ()

    @model_validator(mode="before")
    @classmethod
    def _has_a_content(cls, raw: Any) -> Any:
        return {"content": cast("Any", raw)} if isinstance(raw, str | list | tuple) else without_nulls(raw)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not has_words(self.words) and not any(block.is_media for block in self.blocks):
            raise problems_at("IncomingMessage", [("content", "says nothing")])
        return self

    @property
    def placed(self) -> tuple[tuple[str, ContentBlock], ...]:
        """Its blocks in order, each with its place in the message; a text is a block, and media may follow it."""
        if isinstance(self.content, tuple):
            return tuple((f"content.{n}", block) for n, block in enumerate(self.content))
        parts = [(f"content_parts.{n}", block) for n, block in enumerate(self.content_parts) if block.is_media]
        return (("content", blocks_of(self.content)[0]), *parts)

    @property
    def blocks(self) -> tuple[ContentBlock, ...]:
        """Its blocks in order."""
        return tuple(block for _, block in self.placed)

    @property
    def words(self) -> str:
        """The user's own words."""
        return words_of(self.blocks)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """What is read: a bare text, bare blocks, or an object with either."""
        message = super().__get_pydantic_json_schema__(core_schema, handler)
        if handler.mode != "validation":
            return message
        content = handler.resolve_ref_schema(message)["properties"]["content"]
        content["allOf"] = [SAYS_SOMETHING]
        return {"anyOf": [{"allOf": [{"anyOf": content["anyOf"]}, SAYS_SOMETHING]}, message]}


class ComposeRequest(Contract):
    """Ask for the context of one turn; the budget is a profile, a limit, or the model's window, whichever is least."""

    nulls_are_absent: ClassVar[bool] = True

    version: Version = "0.1"
    request_id: Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=NO_NUL)] | None = None
    tenant_id: ExternalId = "default"
    user_id: ExternalId
    session_id: ExternalId
    org_id: ExternalId | None = None
    profile_id: ExternalId | None = None
    user_message: IncomingMessage
    model_modalities: Annotated[
        tuple[BlockType, ...], Field(max_length=5, description="What the model reads; media of other types go as text")
    ] = ("text",)
    agent_state: JsonObject = {}
    inject_limit: Annotated[
        int | None,
        Field(
            ge=0,
            le=INJECT_MOST,
            validation_alias=AliasChoices("inject_limit", "injectLimit"),
            description="So many notes about the user at most, core memory and evidence together; 0: nothing personal",
        ),
    ] = None
    budget_profile: Annotated[
        BudgetProfileName | None,
        WithJsonSchema(
            {
                "anyOf": [
                    {"enum": [*PROFILE_WINDOWS]},
                    {"type": "integer", "minimum": 256, "maximum": 4_000_000, "description": "A token_limit"},
                    NULL,
                ],
                "default": None,
            },
            mode="validation",
        ),
    ] = None
    token_limit: Annotated[
        int | None,
        Field(ge=256, le=4_000_000, validation_alias=AliasChoices("token_limit", "token_budget")),
    ] = None
    model_window: Annotated[int | None, Field(ge=256, le=10_000_000)] = None
    deadline_ms: Annotated[
        int | None, Field(ge=1, le=30_000, description="Without one the policy's; never more than the policy allows")
    ] = None
    debug: bool = False
    experiment_context: ExperimentContext | None = None

    @model_validator(mode="before")
    @classmethod
    def _nulls_are_absent(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            return raw
        return _number_is_a_limit(cast("dict[str, Any]", without_nulls(raw)))

    @classmethod
    def conditions(cls) -> Sequence[JsonSchemaValue]:
        """A number for a profile is a limit, and there is one limit."""
        named = {"properties": {"budget_profile": {"type": ["string", "null"]}}}
        return ({"anyOf": [{"not": has("token_limit", "token_budget")}, named]},)

    def limit(self, default: BudgetProfileName = "8k") -> int:
        """The token limit that every one of the given bounds allows."""
        profile = PROFILE_WINDOWS[self.budget_profile or default]
        if self.token_limit is None:
            asked = profile if self.budget_profile or self.model_window is None else self.model_window
        else:
            asked = self.token_limit if self.budget_profile is None else min(self.token_limit, profile)
        return asked if self.model_window is None else min(asked, self.model_window)


def _number_is_a_limit(raw: dict[str, Any]) -> dict[str, Any]:
    profile = raw.get("budget_profile")
    if isinstance(profile, int) and not isinstance(profile, bool) and not {"token_limit", "token_budget"} & raw.keys():
        return {**{name: value for name, value in raw.items() if name != "budget_profile"}, "token_limit": profile}
    return raw
