"""The search arms of a plan, side by side under one deadline; what is missing or late is named, not raised."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
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


Running = asyncio.Task[tuple[list[list[Hit]], float]]


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
class List:
    """One ranked list that an arm brings: `text#1` is what the full-text arm found for the plan's second query."""

    name: str
    weight: float
    mode: SearchMode


@dataclass(frozen=True)
class Task:
    """One arm to run: one statement, one ranked list a query."""

    kind: str
    lists: tuple[List, ...]
    run: Callable[[], Awaitable[list[list[Hit]]]]


async def search(rt: Runtime, subject: Subject, plan: RetrievalPlan, entities: Sequence[str], left_s: float) -> Found:
    """What every arm found within `left_s` seconds."""
    found = Found(ignored=_ignored(plan))
    tasks = [
        *_text_tasks(rt, subject, plan),
        *_vector_tasks(rt, subject, plan),
        *_entity_tasks(rt, subject, plan, entities),
    ]
    if rt.models.embedding_model_id is None and any(q.mode in MEANING for q in plan.queries):
        found.degraded.append("embedding_model_absent")
    running = {asyncio.create_task(_timed(task)): task for task in tasks}
    done: set[Running] = set()
    late: set[Running] = set()
    if running:
        done, late = await asyncio.wait(running, timeout=max(left_s, 0.0))
    for each in late:
        each.cancel()
        found.arms.append(Arm(running[each].kind, "timeout", took_ms=left_s * 1000))
        found.degraded.append(f"{running[each].kind}_timeout")
    for each in sorted(done, key=lambda d: running[d].kind):
        _take(found, running[each], each)
    await asyncio.gather(*late, return_exceptions=True)
    return found


async def _timed(task: Task) -> tuple[list[list[Hit]], float]:
    began = time.perf_counter()
    lists = await task.run()
    return lists, (time.perf_counter() - began) * 1000


def _take(found: Found, task: Task, done: Running) -> None:
    error = done.exception()
    if error is not None:
        found.arms.append(Arm(task.kind, "failed"))
        found.degraded.append(_reason(task, error))
        logger().warning("arm_failed", arm=task.kind, error=type(error).__name__)
        return
    lists, took = done.result()
    found.arms.append(Arm(task.kind, "ok", sum(map(len, lists)), took))
    for of, hits in zip(task.lists, lists, strict=True):
        found.weights[of.name] = of.weight
        current = [(hit, current_text(hit.text, hit.ordinal, hit.ended)) for hit in hits]
        found.stale += [f"turn:{hit.turn_id}:{hit.ordinal}" for hit, text in current if text is None]
        fresh = [replace(hit, text=text) for hit, text in current if text is not None]
        found.candidates += [candidate(hit, of.name, rank, of.mode) for rank, hit in enumerate(fresh, 1)]


def _reason(task: Task, error: BaseException) -> str:
    if isinstance(error, ModelUnavailable | TimeoutError):
        return "embedding_unavailable"
    return "pgvector_unavailable" if task.kind == "vector" else f"{task.kind}_unavailable"


def _ignored(plan: RetrievalPlan) -> list[str]:
    """What a plan asks of memory that memory does not have: said, not silently dropped."""
    asked = [name for name in UNSUPPORTED if getattr(plan.global_filters, name)]
    named = [f"global_filters.{name} does not apply to memory" for name in asked]
    if plan.ranking.rerank.enabled:
        named.append("ranking.rerank: no reranker is configured")
    if len(plan.queries) > MAX_QUERIES:
        named.append(f"queries: only the first {MAX_QUERIES} were executed")
    return named


def _limit(rt: Runtime, plan: RetrievalPlan) -> int:
    return min(rt.policy.compose.arm_limit, plan.budget.candidate_k)


def _text_tasks(rt: Runtime, subject: Subject, plan: RetrievalPlan) -> Iterator[Task]:
    """One arm for all queries that search the same span of time."""
    spans: dict[Within, list[tuple[List, list[str]]]] = {}
    for n, query in enumerate(plan.queries[:MAX_QUERIES]):
        words = segment.query_terms(query.text) if query.mode in WORDS else []
        if words:
            of = List(f"text#{n}", query.weight * rt.policy.compose.weights.text, query.mode)
            spans.setdefault(_within(plan, query), []).append((of, words))
    for within, asked in spans.items():
        yield Task("text", tuple(of for of, _ in asked), _by_text(rt, subject, [w for _, w in asked], within, plan))


def _by_text(
    rt: Runtime, subject: Subject, asked: list[list[str]], within: Within, plan: RetrievalPlan
) -> Callable[[], Awaitable[list[list[Hit]]]]:
    async def run() -> list[list[Hit]]:
        async with rt.db.transaction(subject) as conn:
            return await store.by_text(conn, subject, asked, _limit(rt, plan), within)

    return run


def _vector_tasks(rt: Runtime, subject: Subject, plan: RetrievalPlan) -> Iterator[Task]:
    """The question itself by meaning, and every query that asks for nothing else."""
    policy = rt.policy.compose
    model_id = rt.models.embedding_model_id
    if model_id is None:
        return
    asked = [
        (n, query)
        for n, query in enumerate(plan.queries[:MAX_QUERIES])
        if query.mode in MEANING and (n == 0 or query.mode == "semantic")
    ]
    if not asked:
        return
    lists = tuple(List(f"vector#{n}", query.weight * policy.weights.vector, query.mode) for n, query in asked)

    async def run() -> list[list[Hit]]:
        vectors = await rt.models.embed([q.text for _, q in asked], deadline_s=policy.embed_deadline_ms / 1000)
        async with rt.db.transaction(subject) as conn:
            return [
                await store.by_vector(conn, subject, vector, model_id, _limit(rt, plan), _within(plan, query))
                for (_, query), vector in zip(asked, vectors, strict=True)
            ]

    yield Task("vector", lists, run)


def _entity_tasks(rt: Runtime, subject: Subject, plan: RetrievalPlan, entities: Sequence[str]) -> Iterator[Task]:
    """Turns that name what the question names."""
    named = list(dict.fromkeys(fold(name) for name in entities))
    if not named:
        return
    within = _within(plan, plan.queries[0])

    async def run() -> list[list[Hit]]:
        async with rt.db.transaction(subject) as conn:
            return [await store.by_entity(conn, subject, named, _limit(rt, plan), within)]

    yield Task("entity", (List("entity#0", rt.policy.compose.weights.entity, "relational"),), run)


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
