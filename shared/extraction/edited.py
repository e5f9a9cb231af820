"""Applies an edit to a memory, so that its text, value and key stay consistent."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from typing import Any

from schemas.vocabulary import MemoryType
from shared.extraction import keys
from shared.extraction.clauses import split
from shared.extraction.dates import find_last_day
from shared.extraction.manipulation import serves_itself
from shared.extraction.model import Finding, MessageText
from shared.extraction.slots import with_due
from shared.extraction.stated import extract_statements
from shared.secrets import redact

VALUE = "value"
_WORDS = (VALUE, "target")
"""The fields of a memory's value that contain a word of its text."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a memory: its text, key, value and dates."""

    type: MemoryType
    key: str | None
    value: Mapping[str, Any]
    text: str
    polarity: int
    flags: tuple[str, ...] = ()
    valid_until: datetime | None = None


def edit_content(old: Content, text: str, value: Any, at: datetime) -> Content:
    """The memory with this text, this value or both; what is not given follows from the other.

    Where only the word is another one that the old text held, value and key change with it. Otherwise the text is read
    as if the user had said it; where nothing of the same type is read, the text is the value. It is valid as long as
    before, a task until the day that it is due.
    """
    new = change_content(old, text, value, at)
    claims = serves_itself(new.text, directed=True)
    return replace(new, flags=("self_benefit",) if claims else (), valid_until=_choose_end(old, new.value))


def change_content(old: Content, text: str, value: Any, at: datetime) -> Content:
    if isinstance(value, Mapping):
        given: dict[str, Any] = {str(name): part for name, part in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] # raw JSON
        word = next((given[name] for name in _WORDS if isinstance(given.get(name), str)), None)
        words = text or (_show_word(old, word) if word else show_value(given))
        return _put_under_key(old, word, words, given)
    if value is not None:
        word = show_value(value)
        words = text or _show_word(old, word)
        return _put_under_key(old, word, words, _put_word(old, word, value))
    word = _find_new_word(old, text)
    if word:
        return _put_under_key(old, word, text, _put_word(old, word, word))
    return _read_content(old, text, at) or Content(old.type, _find_slot(old), {VALUE: text}, text, old.polarity)


def show_value(value: Any) -> str:
    """The value as a text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def redact_value(value: Any) -> Any:
    """The value with placeholders for all secrets and personal numbers in it."""
    if isinstance(value, str):
        return redact(value)[0]
    if isinstance(value, Mapping):
        return {str(name): redact_value(part) for name, part in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] # raw JSON
    if isinstance(value, list):
        return [redact_value(part) for part in value]  # pyright: ignore[reportUnknownVariableType] # raw JSON
    return value


def _choose_end(old: Content, value: Mapping[str, Any]) -> datetime | None:
    """The end of validity: for a task the end of its due day, or none if it is not to be done; else as before."""
    if old.type != "task":
        return old.valid_until
    if value.get("status", "todo") != "todo":
        return None
    due = value.get("due")
    if due is None or due == old.value.get("due"):
        return old.valid_until
    try:
        return datetime.combine(find_last_day(due), time(23, 59, 59), UTC)
    except (AttributeError, ValueError):
        return old.valid_until


def _find_old_word(old: Content) -> str | None:
    """The word of the value that the text contains literally."""
    words = (old.value.get(name) for name in _WORDS)
    return next((word for word in words if isinstance(word, str) and word and old.text.count(word) == 1), None)


def _show_word(old: Content, word: str) -> str:
    held = _find_old_word(old)
    return old.text.replace(held, word) if held else word


def _find_new_word(old: Content, text: str) -> str | None:
    """The word of the new text in the place of the old word, if the rest is equal."""
    held = _find_old_word(old)
    if not held or held == old.text:
        return None
    before, _, after = old.text.partition(held)
    if len(text) <= len(before) + len(after) or not (text.startswith(before) and text.endswith(after)):
        return None
    return text[len(before) : len(text) - len(after)].strip() or None


def _put_word(old: Content, word: str, value: Any) -> dict[str, Any]:
    held = _find_old_word(old)
    same = {name for name, part in old.value.items() if held and part in (held, keys.to_target(held))}
    return {**{name: word if name in same else part for name, part in old.value.items()}, VALUE: value}


def _put_under_key(old: Content, word: str | None, text: str, value: Mapping[str, Any]) -> Content:
    """The content under the old key, or under the key of the new word if the key names the old one."""
    key = _find_slot(old)
    if old.key and key is None and word:
        prefix = old.key.rpartition(":")[0]
        named = f"{prefix}:{keys.slug(keys.to_target(word))}"
        key = keys.preference_key(word)[0] if old.type == "preference" else named
        follows = {"target": keys.to_target(word), "scope": key.split(":")[1]}
        value = {**value, **{name: part for name, part in follows.items() if name in value}}
    return Content(old.type, key, value, text, old.polarity)


def _find_slot(old: Content) -> str | None:
    """The key if it names a question (`profile:user:city`); None if it names the answer (`pref:food:tea`)."""
    last = old.key.rpartition(":")[2] if old.key else ""
    words = [part for name in _WORDS if isinstance(part := old.value.get(name), str) and part]
    slugs = {slug for word in words for slug in (keys.slug(word), keys.slug(keys.to_target(word)))}
    among = old.type in ("task", "goal", "event") and any(last in slug for slug in slugs)
    return None if old.type != "profile" and (last in slugs or among) else old.key


def _read_content(old: Content, text: str, at: datetime) -> Content | None:
    """The content of the text, if it states one thing of the memory's type."""
    message = MessageText("user", text, None, 0, at)
    statements = [
        one for one in extract_statements(message, split(text), at.date(), [], directed=True) if one.kind == old.type
    ]
    if len(statements) == 1 and statements[0].key and not statements[0].retracts:
        return Content(old.type, statements[0].key, statements[0].value, text, statements[0].polarity)
    due = with_due(Finding(old.type, None, {VALUE: text}, text, "edited", ""), text, at.date())
    return Content(old.type, _find_slot(old), due.value, text, old.polarity) if "due" in due.value else None
