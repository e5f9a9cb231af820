"""ContentBlock 1.1: a message as a text or as blocks of text and media, and what is known of named media."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, cast, get_args

from pydantic import (
    AliasChoices,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from schemas.base import (
    ID_PATTERN,
    NO_NUL,
    NULL,
    WORDS_PATTERN,
    Contract,
    ExternalId,
    Instant,
    IsPlain,
    JsonObject,
    JsonSchemaValue,
    Reason,
    has,
    has_words,
    when,
    without_nulls,
)

BlockType = Literal["text", "image", "audio", "video", "document"]
MediaType = Literal["image", "audio", "video", "document"]
SecurityStatus = Literal["pending", "scanning", "safe", "rejected", "quarantined", "expired"]
_STATES: tuple[SecurityStatus, ...] = get_args(SecurityStatus)

TEXT_ONLY, BLOCKS = 0, 1
"""`content_schema_version` of a stored message: what its readers branch on."""
MAX_BLOCKS = 64
MAX_TEXT_CHARS = 200_000
Text = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS, pattern=NO_NUL)]
Fallback = Annotated[str, StringConstraints(max_length=4_000, pattern=r"^[^\x00]*\S[^\x00]*$")]
MediaId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=256),
    IsPlain,
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 256, "pattern": ID_PATTERN}),
]
"""An opaque id that the gateway chose, 1-256 characters on one line."""


def problems_at(model: str, wrong: Iterable[tuple[str, str]]) -> ValidationError:
    """The error that names each of these fields of a model with its problem."""
    lines = [
        InitErrorDetails(type=PydanticCustomError("content", "{problem}", {"problem": text}), loc=(name,), input=None)
        for name, text in wrong
    ]
    return ValidationError.from_exception_data(model, lines)


class ContentBlock(Contract):
    """One part of a message: a text, or media with what stands for it where it cannot be read.

    `security_status` is what the gateway vouches for, and may stand in `metadata`; `recognized_text` is what was read
    from the media (OCR, speech, a document's text) and never the user's own statement.
    """

    type: BlockType
    text: Text | None = None
    media_id: MediaId | None = None
    text_fallback: Fallback | None = None
    security_status: SecurityStatus | None = None
    recognized_text: Annotated[
        Text | None, Field(validation_alias=AliasChoices("recognized_text", "recognised_text"))
    ] = None
    metadata: JsonObject | None = None

    nulls_are_absent: ClassVar[bool] = True

    @classmethod
    def conditions(cls) -> Sequence[JsonSchemaValue]:
        """A text and nothing of media, or media and nothing of a text."""
        media = ("media_id", "security_status", "recognized_text", "recognised_text")
        text = {"allOf": [has("text", minLength=1), {"properties": dict.fromkeys(media, NULL)}]}
        told = {"properties": {"security_status": {"enum": [*_STATES, None]}}}
        about = {"properties": {"text": NULL, "metadata": told}}
        return (when("type", "text", text, {"allOf": [has("media_id"), has("text_fallback"), about]}),)

    @model_validator(mode="before")
    @classmethod
    def _state_of_metadata(cls, raw: Any) -> Any:
        """What the gateway says of media in `metadata` counts; where both are given, the one that is not safe."""
        if not isinstance(raw, Mapping):
            return raw
        block = cast("dict[str, Any]", without_nulls(raw))
        metadata: Any = block.get("metadata")
        if block.get("type") == "text" or not isinstance(metadata, Mapping):
            return block
        told = cast("Mapping[str, Any]", metadata).get("security_status")
        if told is not None and (block.get("security_status", "safe") == "safe" or told not in _STATES):
            block["security_status"] = told
        return block

    @model_validator(mode="after")
    def _is_text_or_media(self) -> Self:
        is_text = self.type == "text"
        needed = ("text",) if is_text else ("media_id", "text_fallback")
        alien = ("media_id", "security_status", "recognized_text") if is_text else ("text",)
        wrong = [(name, f"required for {self.type}") for name in needed if not getattr(self, name)]
        wrong += [(name, f"not allowed for {self.type}") for name in alien if getattr(self, name) is not None]
        if wrong:
            raise problems_at("ContentBlock", wrong)
        return self

    @property
    def fallback(self) -> str:
        """What stands for the block where only text can be shown."""
        return self.text_fallback or self.text or ""

    @property
    def is_media(self) -> bool:
        """Whether it is anything but text."""
        return self.type != "text"


Blocks = Annotated[tuple[ContentBlock, ...], Field(min_length=1, max_length=MAX_BLOCKS)]
_BLOCKS: TypeAdapter[tuple[ContentBlock, ...]] = TypeAdapter(
    Annotated[tuple[ContentBlock, ...], Field(max_length=MAX_BLOCKS)]
)


def by_shape(text: Any) -> WrapValidator:
    """Reads a list as blocks and all else as `text`, so that an error names the place inside and not a branch."""
    plain: TypeAdapter[str] = TypeAdapter(text)

    def read(raw: Any, _: ValidatorFunctionWrapHandler) -> Any:
        if not isinstance(raw, list | tuple):
            return plain.validate_python(raw)
        if not raw:
            raise PydanticCustomError("too_short", "needs at least one block")
        return _BLOCKS.validate_python(raw)

    return WrapValidator(read)


Content = Annotated[Text | Blocks, by_shape(Text)]
"""What a message says: a text, or blocks."""


SAYS_SOMETHING: JsonSchemaValue = {
    "anyOf": [
        {"type": "string", "pattern": WORDS_PATTERN},
        {
            "type": "array",
            "contains": {
                "anyOf": [
                    {
                        "properties": {
                            "type": {"const": "text"},
                            "text": {"type": "string", "pattern": WORDS_PATTERN},
                        },
                        "required": ["type", "text"],
                    },
                    {"properties": {"type": {"enum": [*get_args(MediaType)]}}, "required": ["type"]},
                ]
            },
        },
    ]
}
"""A text with words, or blocks of which one has words or is media."""


def says_something(content: str | tuple[ContentBlock, ...]) -> bool:
    """Whether there is a word or media in it."""
    blocks = blocks_of(content)
    return any(block.is_media or has_words(block.text or "") for block in blocks)


def blocks_of(content: str | tuple[ContentBlock, ...]) -> tuple[ContentBlock, ...]:
    """The blocks of a message; a text is one of them."""
    return content if isinstance(content, tuple) else (ContentBlock.model_construct(type="text", text=content),)


def words_of(blocks: Iterable[ContentBlock]) -> str:
    """What was said in words: the text blocks joined, and nothing of the media."""
    return "\n".join(block.text for block in blocks if block.text is not None)


Checksum = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
"""The hash of the content itself; an ETag is none."""


class MediaState(Contract):
    """The body of `PUT /v1/media/{media_id}`; a checksum or recognised text that is not given stays as it was.

    `requested_by` comes from the key; it is on record with `reason`.
    """

    tenant_id: ExternalId = "default"
    user_id: ExternalId
    type: MediaType
    security_status: SecurityStatus
    checksum: Checksum | None = None
    recognized_text: Annotated[
        Text | None, Field(validation_alias=AliasChoices("recognized_text", "recognised_text"))
    ] = None
    requested_by: ExternalId | None = None
    reason: Reason | None = None


class MediaView(Contract):
    """A registered media file."""

    media_id: str
    type: MediaType
    security_status: SecurityStatus
    checksum: str | None = None
    recognized_text: str | None = None
    created_at: Instant
    updated_at: Instant
