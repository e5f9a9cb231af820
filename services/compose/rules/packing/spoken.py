"""The message being answered as a package carries it: its text, and the media that the model reads itself (R188)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from schemas.content import BlockType, ContentBlock
from services.compose.rules.packing.draft import Decision
from shared.domain.blocks import Blocked, fit_blocks
from shared.language import tokens
from shared.screening.sanitize import SanitizePolicy

UNSUPPORTED = "content_type_unsupported"
"""The message has media that the model does not read: their fallback stands for them."""
SHARE_FOR_MEDIA = 0.5
"""Of the token limit, beyond which the message is not told with all that was recognised in its media."""
HANDED_ON = {"type", "media_id", "text_fallback", "security_status", "metadata"}
"""Of a media block: what was recognised has been screened and stands in the text."""


@dataclass(frozen=True, slots=True)
class UserMessageParts:
    """The whole message as text; where the model reads any of its media, also as parts with these media as blocks."""

    text: str
    parts: tuple[dict[str, JsonValue], ...] = ()
    withheld: tuple[Decision, ...] = ()
    degraded: tuple[str, ...] = ()


def split_message(
    blocks: Sequence[ContentBlock], modalities: Sequence[BlockType], limit: int, most: int, policy: SanitizePolicy
) -> UserMessageParts:
    """The message for a model that reads these types, within `most` and about half the limit but for its own words."""
    media = [block for block in blocks if block.is_media]
    fitted = fit_blocks(blocks, min(most, int(limit * SHARE_FOR_MEDIA)), tokens.count, policy)
    readable = [block for block in media if block.type in modalities]
    parts = (
        [_part(block, piece, modalities) for block, piece in zip(blocks, fitted.pieces, strict=True)]
        if readable
        else []
    )
    degraded = (UNSUPPORTED,) if len(readable) < len(media) else ()
    return UserMessageParts(fitted.text, tuple(parts), list_withheld(fitted.blocked), degraded)


def _part(block: ContentBlock, piece: str, modalities: Sequence[BlockType]) -> dict[str, Any]:
    if block.is_media and block.type in modalities:
        return block.model_dump(mode="json", include=HANDED_ON, exclude_none=True)
    return {"type": "text", "text": piece}


def list_withheld(blocked: Iterable[Blocked]) -> tuple[Decision, ...]:
    """The receipts of recognised text that gave orders: the fallback stands alone."""
    return tuple(
        Decision(f"media:{each.media_id}", False, "blocked", sanitization="blocked", rule=each.rule) for each in blocked
    )
