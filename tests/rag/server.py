"""A small SmartRAG over real HTTP: an in-memory index that applies a RetrievalPlan, with scripted faults."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from schemas.retrieval_plan import Filters, RetrievalPlan
from shared.language.normalise import detect
from shared.language.segment import query_terms, terms
from tests.system.serving import serving

Mode = Literal[
    "well", "slow", "http_500", "unauthorised", "refused", "html", "broken_json", "wrong_schema", "list", "empty",
    "huge", "endless", "many", "deep", "redirect", "packed", "no_content", "bare_items",
]  # fmt: skip
MODES = frozenset({"exact", "semantic", "hybrid"})


@dataclass(frozen=True)
class Document:
    """One document of one section, visible to its tenant, one organisation of it, or one user."""

    id: str
    text: str
    uri: str
    title: str = ""
    source_type: str = "url"
    tenant: str = ""
    org: str = ""
    user: str = ""
    org_tier: str = ""
    owner: dict[str, str] | None = None
    """The owner given at its ingest; returned with each result."""
    tags: tuple[str, ...] = ()
    dated: datetime = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Rag:
    """The index, scripted modes and received requests; a mode stays until it is changed."""

    url: str = ""
    documents: list[Document] = field(default_factory=list[Document])
    mode: Mode = "well"
    ingest_mode: Mode = "well"
    delete_mode: Mode = "well"
    slow_s: float = 30.0
    token: str | None = None
    with_capabilities: bool = True
    capabilities_mode: Mode = "well"
    separates_users: bool = True
    """Whether it isolates the documents of users and organisations, and reports that."""
    filters: bool = True
    """Whether results depend on the requester: otherwise everybody gets everything."""
    forged: Callable[[dict[str, Any]], Any] | None = None
    """Computes a response to send instead of the pack."""
    asked: list[tuple[str, dict[str, Any], dict[str, str]]] = field(
        default_factory=list[tuple[str, dict[str, Any], dict[str, str]]]
    )
    ingested: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """By idempotency key."""
    ever: set[str] = field(default_factory=set[str])
    """Keys of all ingested documents, deleted ones included."""

    def reset(self) -> None:
        """Resets everything but the address."""
        self.__init__(self.url)

    def put(self, *documents: Document) -> None:
        """Adds these to the index."""
        self.documents += documents

    def plans(self, tenant: str | None = None) -> list[dict[str, Any]]:
        """The received plans, in order."""
        return [
            body
            for path, body, headers in self.asked
            if path == "/retrieve" and (tenant is None or headers.get("x-tenant-id") == tenant)
        ]


@asynccontextmanager
async def serve_rag() -> AsyncGenerator[Rag]:
    """A running server; stopped when the block ends, slow responses aborted."""
    state = Rag()
    async with serving(_app(state), "critical") as state.url:
        yield state


def _app(state: Rag) -> Starlette:
    async def handle(request: Request) -> Response:
        raw = await request.body()
        body: dict[str, Any] = json.loads(raw) if raw else {}
        headers = {name: unquote(value) for name, value in request.headers.items()}
        path = request.url.path
        state.asked.append((path, body, headers))
        if state.token and headers.get("authorization") != f"Bearer {state.token}":
            return JSONResponse({"error": "who are you?"}, 401)
        if path == "/capabilities":
            return await _make_fault(state, state.capabilities_mode) or _capabilities(state)
        mode = {"/ingest": state.ingest_mode, "/delete": state.delete_mode}.get(path, state.mode)
        if wrong := await _make_fault(state, mode):
            return wrong
        if path == "/ingest":
            return _ingest(state, body, headers)
        if path == "/delete":
            return _delete(state, body, headers)
        pack = _retrieve(state, RetrievalPlan.model_validate(body), headers)
        return JSONResponse(state.forged(pack) if state.forged else pack)

    paths = {"/retrieve": "POST", "/ingest": "POST", "/delete": "POST", "/capabilities": "GET", "/elsewhere": "POST"}
    return Starlette(routes=[Route(path, handle, methods=[method]) for path, method in paths.items()])


def _capabilities(state: Rag) -> Response:
    if not state.with_capabilities:
        return JSONResponse({"error": "no such path"}, 404)
    told = {"modes": sorted(MODES), "ingest": True, "version": "0.1", "vendor": "reference"}
    return JSONResponse({**told, "separates_users": True} if state.separates_users else told)


async def _make_fault(state: Rag, mode: Mode) -> Response | None:
    match mode:
        case "slow":
            await asyncio.sleep(state.slow_s)
        case "http_500":
            return JSONResponse({"error": "the index is gone"}, 500)
        case "unauthorised":
            return JSONResponse({"error": "who are you?"}, 401)
        case "refused":
            return JSONResponse({"error": "no such plan"}, 422)
        case "html":
            return Response("<html><body>Please log in</body></html>", media_type="text/html")
        case "broken_json":
            return Response('{"version": "0.1", "evidences": [{"id": "a",', media_type="application/json")
        case "wrong_schema":
            return JSONResponse({"colour": ["blue"], "evidences": {"a": 1}})
        case "list":
            return JSONResponse([{"id": "a", "snippet": "b", "source_uri": "https://c.d/e"}])
        case "bare_items":
            return JSONResponse({"evidences": ["a", 1, None, [], {"colour": "blue"}]})
        case "empty":
            return JSONResponse({"version": "0.1", "evidences": []})
        case "no_content":
            return Response(status_code=204)
        case "huge":
            return Response(b'{"evidences": [], "x": "' + b"x" * 5_000_000 + b'"}', media_type="application/json")
        case "endless":
            return StreamingResponse(_endless(), media_type="application/json")
        case "deep":
            return Response(b"[" * 100_000, media_type="application/json")
        case "redirect":
            return RedirectResponse(f"{state.url}/elsewhere", 307)
        case "packed":
            return Response(b"\x1f\x8b not really", headers={"content-encoding": "gzip"})
        case "many":
            return JSONResponse({"evidences": [_junk(n) for n in range(10_000)]})
        case _:
            return None
    return None


async def _endless() -> AsyncGenerator[bytes]:
    yield b'{"evidences": ['
    while True:
        yield b'{"id": "x"},' * 1000
        await asyncio.sleep(0)


def _junk(n: int) -> dict[str, Any]:
    return {
        "id": f"junk:{n}",
        "document_id": f"junk{n}",
        "snippet": f"junk number {n}",
        "source_uri": f"https://junk{n}.example/{n}",
        "provenance": {"mode": "hybrid", "query_index": 0},
    }


def _ingest(state: Rag, body: dict[str, Any], headers: Mapping[str, str]) -> Response:
    key = body["idempotency_key"]
    known = key in state.ingested
    if not known:
        state.ever.add(key)
        state.ingested[key] = {**body, "whose": _read_owner(state, headers)}
        if body.get("content"):
            said = (body["content"], body["source_uri"], body["title"], body["source_type"])
            state.put(Document(key, *said, *_read_owner(state, headers), owner=body["owner"]))
    return JSONResponse({"document_id": f"doc-{key}", "status": "known" if known else "created"}, 200 if known else 201)


def _read_owner(state: Rag, headers: Mapping[str, str]) -> tuple[str, str, str]:
    """Tenant, organisation and user; without isolation only the tenant."""
    tenant, *named = (headers.get(name, "") for name in ("x-tenant-id", "x-org-id", "x-user-id"))
    org, user = named if state.separates_users else ("", "")
    return tenant, org, user


def _delete(state: Rag, body: dict[str, Any], headers: Mapping[str, str]) -> Response:
    """A missing document counts as deleted; one of another owner stays."""
    keys = {*body["idempotency_keys"], *(id.removeprefix("doc-") for id in body["document_ids"])}
    gone = {key for key in keys if state.ingested.get(key, {}).get("whose") == _read_owner(state, headers)}
    for key in gone:
        del state.ingested[key]
    state.documents = [each for each in state.documents if each.id not in gone]
    return JSONResponse({"deleted": len(gone)}, 200 if gone else 404)


def _retrieve(state: Rag, plan: RetrievalPlan, headers: Mapping[str, str]) -> dict[str, Any]:
    mine = [
        each
        for each in state.documents
        if not state.filters
        or (
            each.tenant in ("", headers.get("x-tenant-id", ""))
            and each.org in ("", headers.get("x-org-id", ""))
            and each.user in ("", headers.get("x-user-id", ""))
        )
    ]
    best: dict[str, tuple[float, int, str, dict[str, float]]] = {}
    for n, query in enumerate(plan.queries):
        for each in mine:
            if not _passes(each, plan.filters_of(query)):
                continue
            signals = _signals(query.text, f"{each.title} {each.text}")
            wanted = {"exact": ("fts_score",), "semantic": ("vector_score",)}.get(query.mode, tuple(signals))
            score = query.weight * max(signals[name] for name in wanted)
            if score > best.get(each.id, (0.0,))[0]:
                best[each.id] = (score, n, query.mode, {name: signals[name] for name in wanted})
    by_id = {each.id: each for each in mine}
    ordered = sorted(best.items(), key=lambda found: -found[1][0])[: plan.budget.top_k]
    evidences = [_evidence(by_id[id], rank, *found, plan) for rank, (id, found) in enumerate(ordered, 1)]
    return {
        "version": "0.1",
        "plan": plan.model_dump(mode="json"),
        "plan_id": "p1",
        "request_id": plan.request_id,
        "generated_at": "2026-07-01T00:00:00Z",
        "evidences": evidences,
        "stats": {"candidates": len(best), "returned": len(evidences), "took_ms": 1.0},
        "explain": {"fusion": "none", "ignored_fields": ["global_filters.topic_ids"]},
        "vendor": {"anything": "else"},
    }


def _evidence(
    document: Document, rank: int, score: float, query: int, mode: str, signals: dict[str, float], plan: RetrievalPlan
) -> dict[str, Any]:
    return {
        "id": f"{document.id}:s1:0",
        "kind": "resource_section",
        "document_id": document.id,
        "section_id": "s1",
        "title": document.title,
        "source_uri": document.uri,
        "source_type": document.source_type,
        "snippet": document.text[: plan.output.max_snippet_chars],
        "language": detect(document.text),
        "score": score,
        "signals": {**signals, "rrf_score": 1 / (60 + rank)},
        "provenance": {"mode": mode, "query_index": query, "retrieved_at": "2026-07-01T00:00:00Z"},
        "metadata": {
            "chunk_index": 0,
            **({"org_tier": document.org_tier} if document.org_tier else {}),
            **({"owner": document.owner} if document.owner else {}),
        },
    }


def _passes(document: Document, filters: Filters) -> bool:
    span = filters.time_range
    return (
        (not filters.document_ids or document.id in filters.document_ids)
        and (not filters.tag_ids or bool(set(document.tags) & set(filters.tag_ids)))
        and (not filters.source_type or document.source_type in filters.source_type)
        and (not filters.source_uri_prefix or document.uri.startswith(tuple(filters.source_uri_prefix)))
        and (not filters.language or detect(document.text) in filters.language)
        and (
            span is None
            or ((not span.from_ or span.from_ <= document.dated) and (not span.to or document.dated < span.to))
        )
    )


def _signals(question: str, text: str) -> dict[str, float]:
    asked, told = query_terms(question), set(terms(text))
    words = sum(term in told for term in asked) / max(len(asked), 1)
    one, other = _grams(asked), _grams(query_terms(text, 200))
    near = sum((one & other).values()) / max(sum(one.values()), 1)
    return {"fts_score": round(words, 4), "vector_score": round(near, 4)}


def _grams(words: Iterable[str]) -> Counter[str]:
    return Counter(word[at : at + 2] for word in words for at in range(max(len(word) - 1, 1)))
