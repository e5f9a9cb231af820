"""The resources of a turn for the knowledge side, and their description. Pure.

Chat text is never included: only references, and products of tools.
"""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import quote, urlsplit
from uuid import UUID

from pydantic import JsonValue

from schemas.evidence_pack import turn_uri
from schemas.retrieval_plan import SourceType
from shared.domain.turns import Event, Turn
from shared.extraction.turn_texts import render_result
from shared.knowledge.port import Resource
from shared.language.normalise import clip, detect, visible
from shared.language.patterns import to_pattern
from shared.secrets import ADDRESSES, PLACEHOLDER, redact

Kind = Literal["url", "file", "artifact", "tool"]
LEAST_PRODUCT = 200
"""A product with fewer characters is an answer, not a document."""
MAX_TITLE = 200
MAX_META = 40
_SCHEME = to_pattern(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_LOCAL = to_pattern(r"^(?:localhost|127\.|0\.0\.0\.0|169\.254\.|\[?::1)", re.IGNORECASE)
_SEARCH = to_pattern(
    r"(?:google\.[a-z.]+|bing\.com|duckduckgo\.com|yandex\.[a-z]+|so\.com|sogou\.com)/(?:search|web|s)\b|baidu\.com/s\b"
)
_PASSING = to_pattern(
    r"(?:^|/)(?:tmp|temp|node_modules|__pycache__|\.git|\.cache)/|\.(?:tmp|log|lock|swp|pyc|bak)$", re.IGNORECASE
)
_MAKES = to_pattern(
    r"(?:^|[_.\-/])(?:write|create|save|generate|export|draft|produce|publish|compose|render|author)(?:$|[_.\-/])"
    r"|^(?:write|create|save|generate|export|draft)[A-Z]|生成|撰写|写入|保存|创建|导出|起草",
)
_TALKS = to_pattern(
    r"memor|histor|conversation|chat|message|mail|reply|recall|remember|event|task|ticket|calendar"
    r"|记忆|对话|消息|邮件|日程",
    re.IGNORECASE,
)
_TEXTS = ("content", "document", "markdown", "text", "body", "report", "spec", "code", "file_text", "html")
_TITLES = ("title", "name", "filename", "file_name", "path", "file_path", "subject")


@dataclass(frozen=True, slots=True)
class Cited:
    """A log event that cites or created a resource; `reason` says why it is not offered to the knowledge side."""

    resource_id: UUID
    ordinal: int
    kind: Kind
    source_type: SourceType
    uri: str
    reason: str | None = None

    @property
    def uri_hash(self) -> str:
        """A hash of the address."""
        return hashlib.sha256(self.uri.encode("utf-8", "replace")).hexdigest()


def list_cited(turn: Turn, kinds: Collection[Kind]) -> list[Cited]:
    """The references and products of the turn, of these kinds, each address once."""
    cited: dict[str, Cited] = {}
    for event in turn.events:
        if each := to_cited(turn, event):
            cited.setdefault(each.uri, each)
    return [each for each in cited.values() if each.kind in kinds]


def to_cited(turn: Turn, event: Event) -> Cited | None:
    if event.content is None:
        return None
    if event.event_type == "ref":
        return _ref(turn, event)
    if event.event_type == "tool_result" and find_made_document(turn, event):
        uri = f"{turn_uri(str(turn.turn_id))}#{event.ordinal}"
        return Cited(event.event_id, event.ordinal, "tool", "memory_snapshot", uri)
    return None


def _ref(turn: Turn, event: Event) -> Cited:
    content = event.content or {}
    kind = cast("Kind", content["ref_type"])
    given = str(content["ref_uri"])
    uri = _address(turn, event, given)
    source: SourceType = {"url": "url", "file": "file"}.get(kind, "manual")  # type: ignore[assignment]
    meta: Any = content.get("meta")
    reason = find_fault(kind, given, cast("dict[str, Any]", meta) if isinstance(meta, dict) else {})
    return Cited(event.event_id, event.ordinal, kind, source, uri, reason)


def _address(turn: Turn, event: Event, given: str) -> str:
    """An address that identifies the source: the cited one, or that of the citation."""
    given = visible(given).strip()
    if _SCHEME.match(given) and not re.match(r"[A-Za-z]:[\\/]", given):
        return given
    return f"file://{quote(given)}" if given.startswith("/") else f"{turn_uri(str(turn.turn_id))}#{event.ordinal}"


def find_fault(kind: Kind, uri: str, meta: Mapping[str, Any]) -> str | None:
    if meta.get("ingest") is False:
        return "not_wanted"
    if PLACEHOLDER in uri or redact(uri, ADDRESSES)[1]:
        return "holds_a_secret"
    if uri.lower().startswith("smartbrain:"):
        return "own_conversation"
    if kind == "url":
        parts = urlsplit(uri)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return "no_address"
        if _LOCAL.match(parts.hostname):
            return "local_address"
        return "search_page" if _SEARCH.search(f"{parts.hostname}{parts.path}") else None
    return "passing_file" if _PASSING.search(uri) else None


def find_made_document(turn: Turn, event: Event) -> str:
    """The document that a tool wrote, if this is the end of such a call."""
    name = event.name or ""
    if (event.content or {}).get("status", "ok") != "ok" or not _MAKES.search(name) or _TALKS.search(name):
        return ""
    call = _call(turn, event)
    args = (call.content or {}).get("args") if call else None
    texts = [text for source in ((event.content or {}).get("result"), args) if (text := _document(source))]
    return next((text for text in texts if len(text) >= LEAST_PRODUCT), "")


def _call(turn: Turn, result: Event) -> Event | None:
    return next((e for e in turn.events if e.ordinal == result.ordinal - 1 and e.event_type == "tool_call"), None)


def _document(source: Any) -> str:
    """The text of a call or its result under a telling name; a bare text is one."""
    if isinstance(source, str):
        return source
    if not isinstance(source, dict):
        return ""
    fields = cast("dict[str, Any]", source)
    return next((value for name in _TEXTS if isinstance(value := fields.get(name), str) and value.strip()), "")


def resource_of(turn: Turn, ordinal: int, max_chars: int) -> Resource | None:
    """The description of this event for the knowledge side, secrets and personal numbers blanked; None once it is
    erased.

    The content is what a tool of the same turn returned; nothing is fetched.
    """
    event = next((each for each in turn.events if each.ordinal == ordinal), None)
    cited = to_cited(turn, event) if event else None
    if event is None or cited is None or event.content is None:
        return None
    content = event.content
    if cited.kind == "tool":
        call = _call(turn, event)
        args = (call.content or {}).get("args") if call else None
        text, title, meta = (
            find_made_document(turn, event),
            _title(args) or event.name or "",
            {"tool": event.name or ""},
        )
    else:
        text, title = find_brought_text(turn, str(content["ref_uri"])), str(content.get("title") or "")
        meta = _meta(content.get("meta"))
        if cited.uri != content["ref_uri"]:
            meta["path"] = redact(str(content["ref_uri"]), ADDRESSES)[0]
    clean = redact(visible(text)[:max_chars], ADDRESSES)[0] if text.strip() else None
    shown_title = redact(visible(title), ADDRESSES)[0] or cited.uri.rpartition("/")[2]
    return Resource(
        source_type=cited.source_type,
        source_uri=cited.uri,
        title=clip(shown_title, MAX_TITLE),
        language=detect(f"{shown_title} {clean or ''}"[:2000]),
        content=clean,
        meta=meta,
        created_at=event.said_at,
    )


def find_brought_text(turn: Turn, uri: str) -> str:
    """The result of a tool of the turn for this address."""
    for event in turn.events:
        if event.event_type != "tool_result" or not event.content or event.content.get("status", "ok") != "ok":
            continue
        call = _call(turn, event)
        result = event.content.get("result")
        asked = list(_strings((call.content or {}).get("args") if call else None))
        named = [result.get(name) for name in ("url", "uri", "path", "file_path")] if isinstance(result, dict) else []  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType] # raw JSON
        if uri in asked or uri in named:
            return _document(result) or (render_result(result) if result else "")
    return ""


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in cast("list[Any]", value):
            yield from _strings(each)
    elif isinstance(value, dict):
        yield from _strings(list(cast("dict[str, Any]", value).values()))


def _title(args: Any) -> str:
    fields = cast("dict[str, Any]", args) if isinstance(args, dict) else {}
    return next((value for name in _TITLES if isinstance(value := fields.get(name), str) and value), "")


def _meta(raw: Any) -> dict[str, JsonValue]:
    """The simple fields of the caller's metadata, secrets blanked."""
    if not isinstance(raw, dict):
        return {}
    fields: dict[str, JsonValue] = {}
    for name, value in list(cast("dict[str, Any]", raw).items())[:MAX_META]:
        if isinstance(value, str):
            fields[name[:64]] = redact(value[:1000], ADDRESSES)[0]
        elif isinstance(value, bool | int | float):
            fields[name[:64]] = value
    return fields
