"""The search arms of a plan, side by side under one deadline; what is missing or late is named, not raised."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

import numpy as np

from schemas.retrieval_plan import Query, RetrievalPlan
from schemas.vocabulary import SearchMode
from services.compose.rules import cues
from services.compose.rules.current import current_text
from services.compose.rules.model import Candidate, Frequency
from services.compose.rules.nearby import DEFAULT_CONTEXT, Floats, Ids, VectorIndex, WordIndex
from services.compose.rules.weigh import DEFAULT_WEIGHTS, Scored, weigh
from shared import clock, place
from shared.db import Subject
from shared.models.errors import ModelUnavailable
from shared.runtime import Runtime
from shared.store import search as store
from shared.store.search import Hit, Within, Words
from shared.telemetry import logger
from shared.text import alike, segment
from shared.text.normalise import fold

Status = Literal["ok", "timeout", "failed", "skipped"]
WORDS: frozenset[SearchMode] = frozenset({"exact", "hybrid", "associative"})
MEANING: frozenset[SearchMode] = frozenset({"semantic", "hybrid", "associative"})
MAX_QUERIES = 6
UNSUPPORTED = ("document_ids", "tag_ids", "topic_ids", "source_type", "source_uri_prefix")


OPEN = Within()
MAX_CANDIDATES = 400


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
    """One ranked list that an arm brings: `all#1` is what the plan's second query found, by words and by meaning."""

    name: str
    weight: float
    mode: SearchMode


@dataclass(frozen=True)
class Task:
    """One arm to run: what it answers for the queries that it serves."""

    kind: str
    run: Callable[[], Awaitable[Any]]
    within: Within = OPEN


@dataclass
class Heard:
    """What the arms of one span of time have answered: postings, and cosines by query."""

    words: Words | None = None
    cosines: dict[int, tuple[bytes, bytes]] = field(default_factory=dict[int, tuple[bytes, bytes]])


async def search(rt: Runtime, subject: Subject, plan: RetrievalPlan, entities: Sequence[str], left_s: float) -> Found:
    """What every arm found within `left_s` seconds, each query's finds in the order of all their signals."""
    ends = time.perf_counter() + left_s
    found = Found(ignored=_ignored(plan))
    spans: dict[Within, list[int]] = {}
    for n, query in enumerate(plan.queries[:MAX_QUERIES]):
        if query.mode in WORDS | MEANING:
            spans.setdefault(_within(plan, query), []).append(n)
    tasks = [
        task
        for within, numbers in spans.items()
        for task in (
            *_word_tasks(rt, subject, plan, within, numbers),
            *_vector_tasks(rt, subject, plan, within, numbers),
        )
    ]
    tasks += _entity_tasks(rt, subject, plan, entities)
    if rt.models.embedding_model_id is None and any(q.mode in MEANING for q in plan.queries):
        found.degraded.append("embedding_model_absent")
    heard = {within: Heard() for within in spans}
    entity: list[Find] = []
    for task, answer in await _answers(found, tasks, left_s):
        match task.kind:
            case "text":
                heard[task.within].words = answer
            case "vector":
                heard[task.within].cosines = answer
            case _:
                entity = [Find(hit, hit.score) for hit in answer]
    _take(found, List("entity#0", rt.policy.compose.weights.entity, "relational"), entity)
    for within, numbers in spans.items():
        reading = Task("rank", lambda w=within, n=numbers: _ranked(rt, subject, plan, w, n, heard[w], found))
        await _answers(found, [reading], max(ends - time.perf_counter(), 0.0))
    return found


async def _answers(found: Found, tasks: Sequence[Task], left_s: float) -> list[tuple[Task, Any]]:
    """What the tasks answer in time; what fails or is late is named."""
    running = {asyncio.create_task(_timed(task)): task for task in tasks}
    if not running:
        return []
    done, late = await asyncio.wait(running, timeout=max(left_s, 0.0))
    for each in late:
        each.cancel()
        found.arms.append(Arm(running[each].kind, "timeout", took_ms=left_s * 1000))
        found.degraded.append(f"{running[each].kind}_timeout")
    answers: list[tuple[Task, Any]] = []
    for each in sorted(done, key=lambda d: running[d].kind):
        task, error = running[each], each.exception()
        if error is not None:
            found.arms.append(Arm(task.kind, "failed"))
            found.degraded.append(_reason(task, error))
            logger().warning("arm_failed", arm=task.kind, error=type(error).__name__)
            continue
        answer, took = each.result()
        found.arms.append(Arm(task.kind, "ok", _count(answer), took))
        answers.append((task, answer))
    await asyncio.gather(*late, return_exceptions=True)
    return answers


def _count(answer: Any) -> int:
    return len(answer.posted) if isinstance(answer, Words) else len(answer)


async def _timed(task: Task) -> tuple[Any, float]:
    began = time.perf_counter()
    answer = await task.run()
    return answer, (time.perf_counter() - began) * 1000


@dataclass(frozen=True, slots=True)
class Find:
    """One hit with what a list says of it; `alone` has rank and score by words and by meaning."""

    hit: Hit
    score: float
    support: float = 1.0
    alone: Mapping[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])


def _take(found: Found, of: List, finds: Sequence[Find]) -> None:
    """The finds in their order under the list's name; what of them no longer holds is left out."""
    found.weights[of.name] = of.weight
    rank = 0
    for each in finds:
        hit = each.hit
        text = current_text(hit.text, hit.ordinal, hit.ended)
        if text is None:
            found.stale.append(f"turn:{hit.turn_id}:{hit.ordinal}")
        else:
            rank += 1
            found.candidates.append(candidate(each, text, of, rank))


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


def _word_tasks(
    rt: Runtime, subject: Subject, plan: RetrievalPlan, within: Within, numbers: Sequence[int]
) -> Iterator[Task]:
    """One statement for the words of all queries that search this span of time."""
    asked = [n for n in numbers if plan.queries[n].mode in WORDS]
    terms = list(dict.fromkeys(term for n in asked for term in segment.query_terms(plan.queries[n].text)))
    terms += alike.others(terms)

    async def run() -> Words:
        async with rt.db.transaction(subject) as conn:
            return await store.words(conn, subject, terms, within)

    yield Task("text", run, within)


def _vector_tasks(
    rt: Runtime, subject: Subject, plan: RetrievalPlan, within: Within, numbers: Sequence[int]
) -> Iterator[Task]:
    """The question itself by meaning, and every query that asks for nothing else."""
    model_id = rt.models.embedding_model_id
    asked = [n for n in numbers if plan.queries[n].mode in MEANING and (n == 0 or plan.queries[n].mode == "semantic")]
    if model_id is None or not asked:
        return

    async def run() -> dict[int, tuple[bytes, bytes]]:
        async with rt.db.transaction(subject) as conn:
            names = await store.names(conn, subject)
        texts = [cues.read(plan.queries[n].text, names, clock.now()).text for n in asked]
        vectors = await rt.models.embed(texts, deadline_s=rt.policy.compose.embed_deadline_ms / 1000)
        async with rt.db.transaction(subject) as conn:
            near = [await store.near(conn, subject, vector, model_id, within) for vector in vectors]
        return {n: packed for n, packed in zip(asked, near, strict=True) if packed is not None}

    yield Task("vector", run, within)


async def _ranked(
    rt: Runtime,
    subject: Subject,
    plan: RetrievalPlan,
    within: Within,
    numbers: Sequence[int],
    heard: Heard,
    found: Found,
) -> list[Hit]:
    """The chunks around all that was heard, read once and put in order for every query."""
    policy = rt.policy.compose
    heard_words = heard.words or Words()
    index = WordIndex(
        {term: (p.ids, p.counts) for term, p in heard_words.posted.items()},
        heard_words.chunks,
        heard_words.terms,
        DEFAULT_CONTEXT,
    )
    near = {n: VectorIndex(*packed, DEFAULT_CONTEXT) for n, packed in heard.cosines.items()}
    now = clock.now()
    asked = {n: cues.read(plan.queries[n].text, heard_words.names, now) for n in numbers}
    wanted: list[tuple[Ids, Ids]] = []
    for n in numbers:
        if plan.queries[n].mode in WORDS:
            wanted.append(index.best(asked[n].terms))
        if n in near:
            wanted.append(near[n].best(policy.arm_limit))
    chunks = {UUID(int=(int(a) << 64) | int(b)) for memories, _ in wanted for a, b in memories}
    turns = {(int(a), int(seq)) for _, turns in wanted for a, seq in turns}
    if not chunks and not turns:
        return []
    async with rt.db.transaction(subject) as conn:
        bounds = [place.bounds(first, seq) for first, seq in turns]
        hits = await store.at(conn, subject, list(chunks), bounds, MAX_CANDIDATES, within)
    of = np.array([(h.chunk_id.int >> 64, h.chunk_id.int & 0xFFFF_FFFF_FFFF_FFFF) for h in hits], dtype=np.uint64)
    of = of.reshape(-1, 2)
    weights = DEFAULT_WEIGHTS.scaled(policy.weights.text, policy.weights.vector)
    for n in numbers:
        query = plan.queries[n]
        by_words = index if query.mode in WORDS else None
        scored = weigh(asked[n], hits, of, by_words, near.get(n), weights)
        _order(found, n, query, hits, scored, _limit(rt, plan))
    return hits


def _order(found: Found, n: int, query: Query, hits: Sequence[Hit], scored: Scored, most: int) -> None:
    """The query's list by all signals; the ranks by words and by meaning alone are shown and count no more."""
    total = [round(float(score), 9) for score in scored.total]
    best = sorted(range(len(hits)), key=lambda at: (-total[at], hits[at].chunk_id.int))[:most]
    alone = {f"text#{n}": _places(scored.words), f"vector#{n}": _places(scored.meaning)}
    found.weights |= dict.fromkeys(alone, 0.0)
    finds = [
        Find(
            hits[at],
            total[at],
            float(scored.support[at]),
            {arm: places[at] for arm, places in alone.items() if at in places},
        )
        for at in best
    ]
    _take(found, List(f"all#{n}", query.weight, query.mode), finds)


def _places(scores: Floats) -> dict[int, tuple[int, float]]:
    """Rank and score of everything above nothing."""
    order = [int(at) for at in np.argsort(-scores, kind="stable") if scores[at] > 0]
    return {at: (rank, round(float(scores[at]), 6)) for rank, at in enumerate(order, 1)}


def _limit(rt: Runtime, plan: RetrievalPlan) -> int:
    return min(max(rt.policy.compose.arm_limit, plan.budget.top_k), plan.budget.candidate_k)


def _entity_tasks(rt: Runtime, subject: Subject, plan: RetrievalPlan, entities: Sequence[str]) -> Iterator[Task]:
    """Turns that name what the question names, where the plan asks for relations."""
    named = list(dict.fromkeys(fold(name) for name in entities))
    asked = next((query for query in plan.queries[:MAX_QUERIES] if query.mode == "relational"), None)
    if not named or asked is None:
        return
    within = _within(plan, asked)

    async def run() -> list[Hit]:
        async with rt.db.transaction(subject) as conn:
            return await store.by_entity(conn, subject, named, _limit(rt, plan), within)

    yield Task("entity", run, within)


def _within(plan: RetrievalPlan, query: Query) -> Within:
    span = plan.filters_of(query).time_range
    return Within(span.from_, span.to) if span else OPEN


def candidate(find: Find, text: str, of: List, rank: int) -> Candidate:
    """The find as fusing reads it, with its rank and score in this list."""
    hit = find.hit
    is_memory = hit.memory_id is not None
    return Candidate(
        kind="memory" if is_memory else "turn",
        text=text,
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
        arm_ranks={of.name: rank, **{arm: place for arm, (place, _) in find.alone.items()}},
        arm_scores={of.name: find.score, **{arm: score for arm, (_, score) in find.alone.items()}},
        support=find.support,
        mode=of.mode,
    )
