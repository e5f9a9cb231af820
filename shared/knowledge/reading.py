"""Parses responses of another server as hostile input: bounded, truncated, cleaned; invalid evidence is omitted."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast, get_args
from urllib.parse import quote

import orjson

from schemas.evidence_pack import EvidenceSourceType
from schemas.retrieval_plan import RetrievalPlan
from schemas.vocabulary import SearchMode
from shared.knowledge.owners import may_see, read_owner
from shared.knowledge.port import (
    Bundle,
    IngestReceipt,
    KnowledgeCapabilities,
    KnowledgeSection,
    KnowledgeUnavailable,
    Scope,
)
from shared.language.normalise import detect, visible
from shared.language.patterns import to_pattern
from shared.screening.sanitize import DEFAULT_SANITIZE, screen

MAX_ITEMS = 200
MAX_LOOKED_AT = 1000
"""Longer lists are truncated here."""
BY_PATTERNS = DEFAULT_SANITIZE.model_copy(update={"learned": False})
MAX_TEXT = 4000
MAX_TITLE = 300
MAX_ID = 200
_WORDLESS = to_pattern(r"[0-9a-f\W_]")
FEW_LETTERS = 8
"""An id of hexadecimal digits with this few letters is harmless, and no key although it may look like one."""
MAX_URI = 2048
MAX_IGNORED = 20
_MODES: frozenset[str] = frozenset(get_args(SearchMode))
_SOURCES: frozenset[str] = frozenset(get_args(EvidenceSourceType))
_SCHEME = to_pattern(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_UNSAFE_SCHEME = to_pattern(r"(?:javascript|vbscript|data|blob|about):", re.IGNORECASE)
_SLUG = to_pattern(r"[a-z][a-z0-9_-]{0,31}")
_READABLE = "!#$%&'()*+,/:;=?@[]~"
_SIGNALS = {"vector": "vector", "fts": "text"}


def body(raw: bytes) -> Mapping[str, Any]:
    """The JSON object in the bytes; KnowledgeUnavailable malformed if there is none."""
    try:
        parsed: Any = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise KnowledgeUnavailable("malformed", "not JSON") from error
    if not isinstance(parsed, dict):
        raise KnowledgeUnavailable("malformed", "not an object")
    return cast("dict[str, Any]", parsed)


def bundle(raw: bytes, plan: RetrievalPlan, scope: Scope) -> Bundle:
    """The evidence of an EvidencePack, in its order, up to the requested number, without duplicate sections.

    Results of other owners are dropped, even if the server ignores the requester.
    """
    pack = body(raw)
    listed: Any = pack.get("evidences")
    if not isinstance(listed, list):
        raise KnowledgeUnavailable("malformed", "evidences is not a list")
    items = cast("list[Any]", listed)
    most = min(plan.budget.top_k, MAX_ITEMS)
    sections: dict[str, KnowledgeSection] = {}
    foreign = 0
    for each in items[:MAX_LOOKED_AT]:
        if len(sections) >= most:
            break
        section = _section(each, plan)
        if section and not may_see(scope, read_owner(cast("dict[str, Any]", each), section.source_uri)):
            foreign += 1
        elif section and section.id not in sections:
            sections[section.id] = section
    if items and not sections and not any(isinstance(each, dict) and "snippet" in each for each in items[:MAX_ITEMS]):
        raise KnowledgeUnavailable("malformed", "evidences contain no valid evidence")
    return Bundle(tuple(sections.values()), list_ignored(pack), len(items) - len(sections) - foreign, foreign)


def capabilities(raw: bytes) -> KnowledgeCapabilities:
    """The capabilities that the server reports, with defaults for missing and invalid ones."""
    answer, defaults = body(raw), KnowledgeCapabilities()
    modes: Any = answer.get("modes")
    named = {each for each in cast("list[Any]", modes) if each in _MODES} if isinstance(modes, list) else set[str]()
    ingest: Any = answer.get("ingest")
    return KnowledgeCapabilities(
        cast("frozenset[SearchMode]", frozenset(named)) or defaults.modes,
        ingest if isinstance(ingest, bool) else defaults.ingest,
        answer.get("separates_users") is True,
    )


def receipt(raw: bytes) -> IngestReceipt:
    """The document's id, if one is given; a server need not return more than success."""
    try:
        told = body(raw)
    except KnowledgeUnavailable:
        return IngestReceipt()
    return IngestReceipt(_id(told.get("document_id") or told.get("id")))


def _section(raw: Any, plan: RetrievalPlan) -> KnowledgeSection | None:
    """None without text, without an address of its source, or if a filter is violated."""
    if not isinstance(raw, dict):
        return None
    item = cast("dict[str, Any]", raw)
    text, uri = _text(item.get("snippet"), min(MAX_TEXT, plan.output.max_snippet_chars)), _uri(item.get("source_uri"))
    if not text or not uri:
        return None
    provenance, metadata = _object(item.get("provenance")), _object(item.get("metadata"))
    query = _number(provenance.get("query_index"))
    at = int(query) if query is not None and 0 <= query < len(plan.queries) else 0
    mode, source = provenance.get("mode"), item.get("source_type")
    document, part = _id(item.get("document_id")), _id(item.get("section_id"))
    score = _number(item.get("score"))
    signals = _object(item.get("signals"))
    section = KnowledgeSection(
        id=_id(item.get("id")) or f"{document or uri}:{part or ''}",
        source_uri=uri,
        text=text,
        document_id=document,
        section_id=to_place(part, metadata),
        title=_text(item.get("title") or metadata.get("section_title"), MAX_TITLE),
        source_type=source if isinstance(source, str) and source in _SOURCES else "other",
        language=detect(text),
        mode=cast("SearchMode", mode) if isinstance(mode, str) and mode in _MODES else plan.queries[at].mode,
        query=at,
        score=score if score is not None else _number(signals.get("rrf_score")),
        scores=_signals(signals, "score"),
        ranks={name: int(rank) for name, rank in _signals(signals, "rank").items() if rank >= 1},
        org_tier=_slug(metadata.get("org_tier") or item.get("org_tier")),
        dated=_moment(metadata.get("created_at")),
    )
    return section if _fits(section, plan) else None


def _fits(section: KnowledgeSection, plan: RetrievalPlan) -> bool:
    """Whether the section satisfies the filters that can be checked on it, whatever the server does."""
    filters = plan.filters_of(plan.queries[section.query])
    return (
        (not filters.source_type or section.source_type in filters.source_type)
        and (not filters.source_uri_prefix or section.source_uri.startswith(tuple(filters.source_uri_prefix)))
        and (not filters.language or section.language in (*filters.language, "other"))
        and (not filters.document_ids or section.document_id is None or section.document_id in filters.document_ids)
    )


def to_place(section: str | None, metadata: Mapping[str, Any]) -> str | None:
    """The section with its chunk, so that two chunks of one section are two results."""
    chunk = _number(metadata.get("chunk_index"))
    return f"{section}#{int(chunk)}" if section and chunk is not None and abs(chunk) < 1e9 else section


def _signals(signals: Mapping[str, Any], kind: str) -> dict[str, float]:
    found = {ours: _number(signals.get(f"{theirs}_{kind}")) for theirs, ours in _SIGNALS.items()}
    return {name: value for name, value in found.items() if value is not None}


def _object(raw: Any) -> Mapping[str, Any]:
    return cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}


def _text(raw: Any, most: int) -> str:
    """The visible part of the beginning."""
    return visible(raw[: 2 * most]).strip()[:most] if isinstance(raw, str) else ""


def _number(raw: Any) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    return float(raw) if abs(raw) < 1e300 and math.isfinite(raw) else None


def _id(raw: Any) -> str | None:
    """The id without characters that could end a line or open a tag; None if it is empty, or gives orders."""
    given = str(raw) if isinstance(raw, int) and not isinstance(raw, bool) and abs(raw) < 1 << 63 else raw
    clean = _text(given, MAX_ID)
    words = _WORDLESS.sub("", clean.lower())
    if not clean or (len(words) > FEW_LETTERS and not _harmless(clean)):
        return None
    return quote(clean, safe=_READABLE, encoding="utf-8", errors="replace")


def _uri(raw: Any) -> str:
    """A valid address with nothing else: no white space, no tag, no script."""
    clean = _text(raw, MAX_URI + 1)
    if not _SCHEME.match(clean) or _UNSAFE_SCHEME.match(clean) or len(clean) > MAX_URI or not _harmless(clean):
        return ""
    return "".join(each if each.isalnum() or each in "-._~" + _READABLE else quote(each) for each in clean)


def _harmless(text: str) -> bool:
    """Whether no pattern finds an order in an id or an address, on which the learned weights were not trained."""
    return bool(text) and screen(re.sub(r"[-_/+.%]+", " ", text), BY_PATTERNS).outcome != "blocked"


def _slug(raw: Any) -> str:
    return raw if isinstance(raw, str) and _SLUG.fullmatch(raw) else ""


def _moment(raw: Any) -> datetime | None:
    if not isinstance(raw, str) or len(raw) > 40:
        return None
    try:
        found = datetime.fromisoformat(raw)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def list_ignored(pack: Mapping[str, Any]) -> tuple[str, ...]:
    """The plan fields that the server reports as ignored; other names are dropped."""
    listed: Any = _object(pack.get("explain")).get("ignored_fields")
    if not isinstance(listed, list):
        return ()
    names = [each for each in cast("list[Any]", listed)[:MAX_IGNORED] if isinstance(each, str)]
    return tuple(each for each in names if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\[\]]{0,80}", each))
