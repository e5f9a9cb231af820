"""Removes secrets from what is stored of a turn and, where the policy demands it, the words of turns that are not
learnt.

Texts, JSON, ids and blocks are blanked, and the fields are reported.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from schemas.content import TEXT_ONLY, ContentBlock, words_of
from schemas.turn_events import Redaction, TurnEvents
from services.compose.intake.decisions import to_turn_text
from shared import clock
from shared.domain.blocks import line
from shared.domain.subjects import Subject
from shared.extraction.standing_wishes import TurnPlace
from shared.extraction.turn_texts import left_of, place_of, turn_text
from shared.extraction.wishes import find_wishes
from shared.runtime import Runtime
from shared.secrets import (
    PLACEHOLDER,
    SecretHit,
    SecretKind,
    find_secrets,
    kind_of_field,
    kind_of_id,
    placeholder,
    redact,
)
from shared.store import told_before, turns


@dataclass(frozen=True)
class Cleaning:
    """Which personal data a request may hold in clear, and what has been blanked so far."""

    kept: frozenset[SecretKind]
    redacted: list[Redaction] = field(default_factory=list[Redaction])

    def note(self, place: str, kind: SecretKind) -> None:
        """Records that this kind of data was blanked in this field."""
        self.redacted.append(Redaction(field=place, kind=kind))


SAID = ("text", "text_fallback", "recognized_text")
"""The text fields of a block."""


def clean_blocks(blocks: tuple[ContentBlock, ...], field: str, cleaning: Cleaning) -> dict[str, Any]:
    """The stored form of a message of blocks: `text` is its words, `text_fallback` all of it without media.

    A secret that is split over two blocks is found too.
    """
    texts = [(n, name, str(text)) for n, block in enumerate(blocks) for name in SAID if (text := getattr(block, name))]
    texts.sort(key=lambda each: each[1] != "text")
    hits = find_secrets("\n".join(text for *_, text in texts), cleaning.kept)
    changed: dict[int, dict[str, str]] = {}
    at = 0
    for n, name, text in texts:
        place = f"{field}.{n}.{name}"
        inside = [hit for hit in hits if hit.start < at + len(text) and hit.end > at]
        for hit in inside:
            cleaning.note(place, hit.kind)
        clean = clean_text(_without(text, inside, at), place, cleaning)
        changed.setdefault(n, {})[name] = clean
        at += len(text) + 1
    cleaned = [_clean_block(block, changed.get(n, {}), f"{field}.{n}", cleaning) for n, block in enumerate(blocks)]
    return {
        "text": words_of(cleaned),
        "blocks": [block.model_dump(mode="json", exclude_none=True) for block in cleaned],
        "text_fallback": "\n".join(line(block) if block.is_media else block.fallback for block in cleaned),
    }


def _without(text: str, hits: list[SecretHit], offset: int) -> str:
    pieces: list[str] = []
    at = 0
    for hit in hits:
        start, end = max(hit.start - offset, 0), min(hit.end - offset, len(text))
        pieces += text[at:start], placeholder(hit.kind)
        at = end
    return "".join(pieces) + text[at:]


def _clean_block(block: ContentBlock, changed: dict[str, str], field: str, cleaning: Cleaning) -> ContentBlock:
    metadata = clean_json(block.metadata, f"{field}.metadata", cleaning) if block.metadata else None
    return block.model_copy(update={**changed, "metadata": metadata})


def clean_text(text: str, field: str, cleaning: Cleaning) -> str:
    """The text with placeholders for credentials and refused personal data."""
    clean, hits = redact(text, cleaning.kept)
    for hit in hits:
        cleaning.note(field, hit.kind)
    return clean


def clean_id(text: str | None, field: str, cleaning: Cleaning) -> str | None:
    """The id, unless it has the form of a secret."""
    kind = kind_of_id(text) if text else None
    if kind is None:
        return text
    cleaning.note(field, kind)
    return PLACEHOLDER


def clean_json(value: JsonValue, field: str, cleaning: Cleaning) -> Any:
    """The value with a placeholder for every credential in a text, a key, or under a key that names a secret."""
    if isinstance(value, str):
        return clean_text(value, field, cleaning)
    if isinstance(value, list):
        return [clean_json(each, f"{field}.{n}", cleaning) for n, each in enumerate(value)]
    if isinstance(value, dict):
        return _clean_dict(value, field, cleaning)
    return value


def _clean_dict(value: dict[str, JsonValue], field: str, cleaning: Cleaning) -> dict[str, Any]:
    """The fields under clean names; in `{"name": "DB_PASSWORD", "value": ...}` the name decides as a key would."""
    named = next((each for name in ("name", "key") if isinstance(each := value.get(name), str)), None)
    clean: dict[str, Any] = {}
    for raw, each in value.items():
        name = clean_text(raw, field, cleaning)
        teller = named if named and name == "value" else name
        clean[name] = _clean_named(teller, each, f"{field}.{name}", cleaning)
    return clean


def _clean_named(name: str, value: JsonValue, field: str, cleaning: Cleaning) -> Any:
    """Blanks a text or number whose name says that it is a secret."""
    if isinstance(value, list):
        return [_clean_named(name, each, f"{field}.{n}", cleaning) for n, each in enumerate(value)]
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        kind = _kind_of(name, str(value), cleaning.kept)
        if kind:
            cleaning.note(field, kind)
            return PLACEHOLDER
    return clean_json(value, field, cleaning)


def _kind_of(name: str, value: str, kept: frozenset[SecretKind]) -> SecretKind | None:
    lead = f"{name}: "
    named = kind_of_field(name, value)
    found = [hit for hit in find_secrets(lead + value, kept) if hit.end > len(lead)] if named is None else []
    return named or (
        found[0].kind if found and found[0].start <= len(lead) and found[0].end >= len(lead + value) else None
    )


async def find_word_objection(turn: TurnEvents, rt: Runtime, *, learning: bool) -> str | None:
    """Whose wish makes the log omit the words of the turn; None if the policy keeps them or nobody wishes so."""
    if rt.policy.observer.log_withheld:
        return None
    subject = Subject(turn.tenant_id, turn.user_id)
    silence, waiting, last = await rt.db.read(
        subject,
        told_before.load_wishes(subject, [turn.session_id]),
        turns.load_pending(subject, rt.policy.compose.pending_turns_max),
        turns.load_last(subject, turn.session_id),
    )
    seq, why = last
    if why:
        silence.note(turn.session_id, seq, why)
    for each in waiting:
        silence.hear(place_of(each), turn_text(each))
    place = TurnPlace(clock.uuid7(), turn.session_id, seq + 1, clock.now(), turn.remember, learning=learning)
    return silence.hear(place, to_turn_text(turn))


def drop_words(events: Sequence[dict[str, Any]], why: str) -> list[dict[str, Any]]:
    """The same events with only the words that express wishes or retract known facts."""
    return [_drop_event_words(event, why) for event in events if event["event_type"] != "item" or _names_memory(event)]


def _names_memory(event: dict[str, Any]) -> bool:
    return bool(event["content"].get("memory_id") or event["content"].get("retract"))


def _drop_event_words(event: dict[str, Any], why: str) -> dict[str, Any]:
    match event["event_type"]:
        case "user_message":
            text: str = event["content"]["text"]
            wished = [(wish.start, wish.end) for wish in find_wishes(text)]
            return {**event, "content": {"text": left_of(text, why, wished)}, "version": TEXT_ONLY}
        case "assistant_message" | "system":
            return {**event, "content": {"text": ""}, "version": TEXT_ONLY}
        case "tool_call":
            return {**event, "content": {"args": {}, "call_id": None}}
        case "tool_result":
            return {**event, "content": {"result": None, "status": event["content"].get("status")}}
        case "ref":
            return {**event, "content": {**event["content"], "ref_uri": "withheld:", "title": None, "meta": {}}}
        case _:
            return event
