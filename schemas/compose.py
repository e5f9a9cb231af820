"""The question to compose (seed 000 section 6.1; decisions 9 and 10); its refusal is `turn_events.ErrorReply`."""

# ruff: noqa: RUF012 - pydantic copies a mutable default for every instance

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import (
    AliasChoices,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from schemas.base import Contract, ExternalId, JsonObject
from schemas.context_package import UserMessage
from schemas.experiment import ExperimentContext
from schemas.retrieval_plan import Version, without_nulls

BudgetProfileName = Literal["8k", "16k", "32k"]
PROFILE_WINDOWS: dict[BudgetProfileName, int] = {"8k": 8192, "16k": 16384, "32k": 32768}
MAX_MESSAGE_CHARS = 400_000


class IncomingMessage(UserMessage):
    """The user's message as sent: a text, or content blocks that are reduced to their text (R188)."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARS, pattern=r"\S")]
    name: Annotated[str, StringConstraints(max_length=128)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _blocks_to_text(cls, raw: Any) -> Any:
        if isinstance(raw, str):
            return {"content": raw}
        if not isinstance(raw, Mapping):
            return raw
        message = cast("Mapping[str, Any]", without_nulls(raw))
        blocks = message.get("content")
        if not isinstance(blocks, list):
            return message
        parts = [cast("dict[str, Any]", block) for block in cast("list[Any]", blocks) if isinstance(block, dict)]
        texts = [str(part.get("text") or part.get("text_fallback") or "") for part in parts]
        return {**message, "content": "\n".join(filter(None, texts)), "content_parts": parts}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """What is read: a bare text, or an object whose content is a text or blocks."""
        message = super().__get_pydantic_json_schema__(core_schema, handler)
        if handler.mode != "validation":
            return message
        fields = handler.resolve_ref_schema(message)["properties"]
        text = {name: value for name, value in fields["content"].items() if name != "title"}
        blocks = {"type": "array", "items": {"type": "object"}, "minItems": 1}
        fields["content"] = {"anyOf": [text, blocks]}
        return {"anyOf": [text, message]}


class ComposeRequest(Contract):
    """Ask for the context of one turn; the budget is a profile, a limit, or the model's window, whichever is least."""

    version: Version = "0.1"
    request_id: Annotated[str, StringConstraints(min_length=1, max_length=128)] | None = None
    tenant_id: ExternalId = "default"
    user_id: ExternalId
    session_id: ExternalId
    org_id: ExternalId | None = None
    profile_id: ExternalId | None = None
    user_message: IncomingMessage
    agent_state: JsonObject = {}
    budget_profile: BudgetProfileName | None = None
    token_limit: Annotated[
        int | None,
        Field(ge=256, le=4_000_000, validation_alias=AliasChoices("token_limit", "token_budget")),
    ] = None
    model_window: Annotated[int | None, Field(ge=256, le=10_000_000)] = None
    deadline_ms: Annotated[int, Field(ge=1, le=30_000)] = 1000
    debug: bool = False
    experiment_context: ExperimentContext | None = None

    @model_validator(mode="before")
    @classmethod
    def _nulls_are_absent(cls, raw: Any) -> Any:
        if not isinstance(raw, Mapping):
            return raw
        return _number_is_a_limit(cast("dict[str, Any]", without_nulls(raw)))

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
    if isinstance(profile, int) and not isinstance(profile, bool) and "token_limit" not in raw:
        return {**{name: value for name, value in raw.items() if name != "budget_profile"}, "token_limit": profile}
    return raw
