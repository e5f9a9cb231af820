"""The search arms of a plan, side by side under one deadline; what is missing or late is named, not raised."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from schemas.retrieval_plan import Query, RetrievalPlan
from schemas.vocabulary import SearchMode
from services.compose.rules.current import current_text
from services.compose.rules.model import Candidate, Frequency
from shared.db import Subject
from shared.models.errors import ModelUnavailable
from shared.runtime import Runtime
from shared.store import search as store
from shared.store.search import Hit, Within
from shared.telemetry import logger
from shared.text import segment
from shared.text.normalise import fold

Status = Literal["ok", "timeout", "failed", "skipped"]
WORDS: frozenset[SearchMode] = frozenset({"exact", "hybrid", "associative"})
MEANING: frozenset[SearchMode] = frozenset({"semantic", "hybrid", "associative"})
MAX_QUERIES = 6
UNSUPPORTED = ("document_ids", "tag_ids", "topic_ids", "source_type", "source_uri_prefix")


Running = asyncio.Task[tuple[list[Hit], float]]


@dataclass(frozen=True)
class Arm:
    """How one arm did."""

    name: str
    status: Status
    count: int = 0
    took_ms: float = 0.0


@dataclass
class Found:
    """All that the arms brought, with their weights, and what could not be had."""

    candidates: list[Candidate] = field(default_factory=list[Candidate])
    weights: dict[str, float] = field(default_factory=dict[str, float])
    arms: list[Arm] = field(default_factory=list[Arm])
    degraded: list[str] = field(default_factory=list[str])
    ignored: list[str] = field(default_factory=list[str])
    stale: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Task:
    """One arm to run: its name says which index and which query of the plan."""

    name: str
    weight: float
    mode: SearchMode
    run: Callable[[], Awaitable[list[Hit]]]


async def search(rt: Runtime, subject: Subject, plan: RetrievalPlan, entities: Sequence[str], left_s: float) -> Found:
    """What every arm found within `left_s` seconds."""
    found = Found(ignored=_ignored(plan))
    tasks = [task for n, query in enumerate(plan.queries[:MAX_QUERIES]) for task in _tasks(rt, subject, plan, n, query)]
    tasks += _entity_tasks(rt, subject, plan, entities)
    if rt.models.embedding_model_id is None and any(q.mode in MEANING for q in plan.queries):
        found.degraded.append("embedding_model_absent")
    running = {asyncio.create_task(_timed(task)): task for task in tasks}
    done: set[Running] = set()
    late: set[Running] = set()
    if running:
        done, late = await asyncio.wait(running, timeout=max(left_s, 0.0))
    for each in late:
        each.cancel()
        found.arms.append(Arm(running[each].name, "timeout", took_ms=left_s * 1000))
        found.degraded.append(f"{_kind(running[each].name)}_timeout")
    for each in sorted(done, key=lambda d: running[d].name):
        _take(found, running[each], each)
    await asyncio.gather(*late, return_exceptions=True)
    return found


def _kind(name: str) -> str:
    return name.partition("#")[0]


async def _timed(task: Task) -> tuple[list[Hit], float]:
    began = time.perf_counter()
    hits = await task.run()
    return hits, (time.perf_counter() - began) * 1000


def _take(found: Found, task: Task, done: Running) -> None:
    error = done.exception()
    if error is not None:
        found.arms.append(Arm(task.name, "failed"))
        found.degraded.append(_reason(task, error))
        logger().warning("arm_failed", arm=task.name, error=type(error).__name__)
        return
    hits, took = done.result()
    found.arms.append(Arm(task.name, "ok", len(hits), took))
    found.weights[task.name] = task.weight
    current = [(hit, current_text(hit.text, hit.ordinal, hit.ended)) for hit in hits]
    found.stale += [f"turn:{hit.turn_id}:{hit.ordinal}" for hit, text in current if text is None]
    fresh = [replace(hit, text=text) for hit, text in current if text is not None]
    found.candidates += [candidate(hit, task.name, rank, task.mode) for rank, hit in enumerate(fresh, 1)]


def _reason(task: Task, error: BaseException) -> str:
    kind = _kind(task.name)
    if isinstance(error, ModelUnavailable | TimeoutError):
        return "embedding_unavailable"
    return "pgvector_unavailable" if kind == "vector" else f"{kind}_unavailable"


def _ignored(plan: RetrievalPlan) -> list[str]:
    """What a plan asks of memory that memory does not have: said, not silently dropped."""
    asked = [name for name in UNSUPPORTED if getattr(plan.global_filters, name)]
    named = [f"global_filters.{name} does not apply to memory" for name in asked]
    if plan.ranking.rerank.enabled:
        named.append("ranking.rerank: no reranker is configured")
    if len(plan.queries) > MAX_QUERIES:
        named.append(f"queries: only the first {MAX_QUERIES} were executed")
    return named


def _tasks(rt: Runtime, subject: Subject, plan: RetrievalPlan, n: int, query: Query) -> list[Task]:
    policy = rt.policy.compose
    within = _within(plan, query)
    limit = min(policy.arm_limit, plan.budget.candidate_k)
    tasks: list[Task] = []
    words = segment.tsquery_literal(segment.query_terms(query.text))
    if query.mode in WORDS and words:

        async def text() -> list[Hit]:
            async with rt.db.transaction(subject) as conn:
                return await store.by_text(conn, subject, words, limit, within)

        tasks.append(Task(f"text#{n}", query.weight * policy.weights["text"], query.mode, text))
    model_id = rt.models.embedding_model_id
    if query.mode in MEANING and model_id is not None and (n == 0 or query.mode == "semantic"):

        async def vector() -> list[Hit]:
            (asked,) = await rt.models.embed([query.text], deadline_s=policy.embed_deadline_ms / 1000)
            async with rt.db.transaction(subject) as conn:
                return await store.by_vector(conn, subject, asked, model_id, limit, within)

        tasks.append(Task(f"vector#{n}", query.weight * policy.weights["vector"], query.mode, vector))
    return tasks


def _entity_tasks(rt: Runtime, subject: Subject, plan: RetrievalPlan, entities: Sequence[str]) -> list[Task]:
    policy = rt.policy.compose
    names = list(dict.fromkeys(fold(name) for name in entities))
    if not names:
        return []
    within = _within(plan, plan.queries[0])
    limit = min(policy.arm_limit, plan.budget.candidate_k)

    async def entity() -> list[Hit]:
        async with rt.db.transaction(subject) as conn:
            return await store.by_entity(conn, subject, names, limit, within)

    return [Task("entity#0", policy.weights["entity"], "relational", entity)]


def _within(plan: RetrievalPlan, query: Query) -> Within:
    span = plan.filters_of(query).time_range
    return Within(span.from_, span.to) if span else Within()


def candidate(hit: Hit, arm: str, rank: int, mode: SearchMode) -> Candidate:
    """The hit as fusing reads it, with its rank and score in this arm."""
    is_memory = hit.memory_id is not None
    return Candidate(
        kind="memory" if is_memory else "turn",
        text=hit.text,
        valid_at=hit.valid_at or hit.said_at,
        memory_id=str(hit.memory_id) if hit.memory_id else None,
        memory_type=hit.type,  # pyright: ignore[reportArgumentType] # the table's types are the vocabulary's
        turn_id=str(hit.turn_id) if hit.turn_id else None,
        message_ordinal=None if is_memory else hit.ordinal,
        session_id=hit.session_id,
        role=hit.role,  # pyright: ignore[reportArgumentType] # the table's roles are the vocabulary's
        name=hit.name,
        category=hit.key or hit.type or "",
        last_validated_at=hit.last_validated_at,
        confidence=hit.confidence if hit.confidence is not None else 0.6,
        provenance=hit.provenance_class or "observation",  # pyright: ignore[reportArgumentType] # as above
        epistemic=hit.epistemic_type or "fact",  # pyright: ignore[reportArgumentType] # as above
        frequency=Frequency(
            hit.injection_count, hit.positive_count / hit.injection_count if hit.injection_count else 0.0
        ),
        arm_ranks={arm: rank},
        arm_scores={arm: hit.score},
        mode=mode,
    )
