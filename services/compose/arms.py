"""The search arms of a plan, side by side under one deadline; what is missing or late is named, not raised."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

import numpy as np

from schemas.vocabulary import SearchMode
from services.compose import links
from services.compose.rules import cues
from services.compose.rules.current import current_text
from services.compose.rules.execute import MEANING, TAIL_WEIGHT, WORDS, Bounds, Execution, Step
from services.compose.rules.model import Candidate, Frequency, ListOf
from services.compose.rules.nearby import DEFAULT_CONTEXT, Floats, Ids, VectorIndex, WordIndex
from services.compose.rules.weigh import DEFAULT_WEIGHTS, Scored, weigh
from shared import clock, place
from shared.db import Subject
from shared.models.errors import ModelUnavailable
from shared.runtime import Runtime
from shared.store import search as store
from shared.store.search import Hit, Within, Words
from shared.telemetry import logger
from shared.text import segment

Status = Literal["ok", "timeout", "failed", "skipped"]
RANKED = WORDS | MEANING
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
    lists: dict[str, ListOf] = field(default_factory=dict[str, ListOf])
    served: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])


@dataclass(frozen=True)
class List:
    """One ranked list that an arm brings: `all#1` is what the second query that ran found, by words and by meaning."""

    name: str
    weight: float
    mode: SearchMode
    of: int = 0


NO_LIST = List("", 0.0, "hybrid")


@dataclass(frozen=True)
class Task:
    """One arm to run: what it answers for the queries that it serves."""

    kind: str
    run: Callable[[], Awaitable[Any]]
    within: Within = OPEN
    brings: List = NO_LIST


@dataclass
class Heard:
    """What the arms of one span of time have answered: postings, and cosines by query."""

    words: Words | None = None
    cosines: dict[int, tuple[bytes, bytes]] = field(default_factory=dict[int, tuple[bytes, bytes]])


async def search(rt: Runtime, subject: Subject, run: Execution, left_s: float) -> Found:
    """What every arm found within `left_s` seconds, each query's finds in the order of all their signals."""
    ends = time.perf_counter() + left_s
    found = Found(ignored=[*run.ignored, *_ignored(run)])
    spans: dict[Within, list[int]] = {}
    for n, step in enumerate(run.steps):
        if step.query.mode in RANKED and not step.bounds.empty:
            spans.setdefault(_within(step.bounds), []).append(n)
    tasks = [
        task
        for within, numbers in spans.items()
        for task in (*_word_tasks(rt, subject, run, within, numbers), *_vector_tasks(rt, subject, run, within, numbers))
    ]
    tasks += _link_tasks(rt, subject, run)
    if rt.models.embedding_model_id is None and any(step.query.mode in MEANING for step in run.steps):
        found.degraded.append("embedding_model_absent")
    heard = {within: Heard() for within in spans}
    linked: list[tuple[List, list[Find]]] = []
    for task, answer in await _answers(found, tasks, left_s):
        match task.kind:
            case "text":
                heard[task.within].words = answer
            case "vector":
                heard[task.within].cosines = answer
            case _:
                linked.append((task.brings, [Find(hit, hit.score) for hit in answer]))
    for brings, finds in sorted(linked, key=lambda each: each[0].name):
        _take(found, brings, finds)
    for within, numbers in spans.items():
        reading = Task("rank", lambda w=within, n=numbers: _ranked(rt, subject, run, w, n, heard[w], found))
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
    found.lists[of.name] = ListOf(of.of, of.mode)
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


def _ignored(run: Execution) -> list[str]:
    """What a plan asks for that is not configured: said, not silently dropped."""
    return ["ranking.rerank: no reranker is configured"] if run.plan.ranking.rerank.enabled else []


def _word_tasks(
    rt: Runtime, subject: Subject, run: Execution, within: Within, numbers: Sequence[int]
) -> Iterator[Task]:
    """One statement for the words of all queries that search within these bounds; those of a semantic one stand by."""
    terms = list(dict.fromkeys(term for n in numbers for term in segment.query_terms(run.steps[n].query.text)))

    async def read() -> Words:
        async with rt.db.transaction(subject) as conn:
            return await store.words(conn, subject, terms, within)

    yield Task("text", read, within)


def _vector_tasks(
    rt: Runtime, subject: Subject, run: Execution, within: Within, numbers: Sequence[int]
) -> Iterator[Task]:
    """The queries that are asked by meaning."""
    model_id = rt.models.embedding_model_id
    asked = [n for n in numbers if run.steps[n].embed]
    if model_id is None or not asked:
        return

    async def read() -> dict[int, tuple[bytes, bytes]]:
        async with rt.db.transaction(subject) as conn:
            names = await store.names(conn, subject)
        texts = [cues.read(run.steps[n].query.text, names, clock.now()).text for n in asked]
        vectors = await rt.models.embed(texts, deadline_s=rt.policy.compose.embed_deadline_ms / 1000)
        async with rt.db.transaction(subject) as conn:
            near = [await store.near(conn, subject, vector, model_id, within) for vector in vectors]
        return {n: packed for n, packed in zip(asked, near, strict=True) if packed is not None}

    yield Task("vector", read, within)


async def _ranked(
    rt: Runtime,
    subject: Subject,
    run: Execution,
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
    asked = {n: cues.read(run.steps[n].query.text, heard_words.names, now) for n in numbers}
    by_words = {n: index for n in numbers if run.steps[n].query.mode in WORDS or n not in near}
    wanted: dict[int, list[tuple[Ids, Ids]]] = {n: [] for n in numbers}
    for n in numbers:
        if n in by_words:
            wanted[n].append(index.best(asked[n].terms))
        if n in near:
            wanted[n].append(near[n].best(max(policy.arm_limit, run.plan.budget.top_k)))
    chunks = {
        UUID(int=(int(a) << 64) | int(b)) for each in wanted.values() for memories, _ in each for a, b in memories
    }
    turns = {(int(a), int(seq)) for each in wanted.values() for _, turns in each for a, seq in turns}
    if not chunks and not turns:
        return []
    async with rt.db.transaction(subject) as conn:
        bounds = [place.bounds(first, seq) for first, seq in turns]
        hits = await store.at(conn, subject, list(chunks), bounds, MAX_CANDIDATES, within)
    of = np.array([(h.chunk_id.int >> 64, h.chunk_id.int & 0xFFFF_FFFF_FFFF_FFFF) for h in hits], dtype=np.uint64)
    of = of.reshape(-1, 2)
    for n in numbers:
        step = run.steps[n]
        mixed = (run.words, run.meaning) if step.query.mode in WORDS & MEANING else (1.0, 1.0)
        weights = DEFAULT_WEIGHTS.scaled(policy.weights.text * mixed[0], policy.weights.vector * mixed[1])
        scored = weigh(asked[n], hits, of, by_words.get(n), near.get(n), weights)
        found.served[n] = (*(["words"] if n in by_words else []), *(["meaning"] if n in near else []))
        mine = range(len(hits)) if not run.wide else _own(hits, wanted[n])
        _order(found, n, step, hits, scored, mine, _limit(rt, run))
    return hits


def _own(hits: Sequence[Hit], wanted: Sequence[tuple[Ids, Ids]]) -> list[int]:
    """The places of the hits that this query asked for, not another of the plan."""
    chunks = {(int(a), int(b)) for memories, _ in wanted for a, b in memories}
    turns = {(int(a), int(seq)) for _, turns in wanted for a, seq in turns}
    return [
        at
        for at, hit in enumerate(hits)
        for half in (hit.chunk_id.int >> 64,)
        if (half, hit.seq) in turns or (half, hit.chunk_id.int & 0xFFFF_FFFF_FFFF_FFFF) in chunks
    ]


def _order(
    found: Found, n: int, step: Step, hits: Sequence[Hit], scored: Scored, mine: Collection[int], most: int
) -> None:
    """The query's list by all signals; the ranks by words and by meaning alone are shown and count no more."""
    total = [round(float(score), 9) for score in scored.total]
    best = sorted(mine, key=lambda at: (-total[at], hits[at].chunk_id.int))[:most]
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
    _take(found, List(f"all#{n}", step.weight, step.query.mode, step.of), finds)


def _places(scores: Floats) -> dict[int, tuple[int, float]]:
    """Rank and score of everything above nothing."""
    order = [int(at) for at in np.argsort(-scores, kind="stable") if scores[at] > 0]
    return {at: (rank, round(float(scores[at]), 6)) for rank, at in enumerate(order, 1)}


def _limit(rt: Runtime, run: Execution) -> int:
    return min(max(rt.policy.compose.arm_limit, run.plan.budget.top_k), run.plan.budget.candidate_k)


def _link_tasks(rt: Runtime, subject: Subject, run: Execution) -> Iterator[Task]:
    """What is linked with the names of relational queries, and the end of the caller's session."""
    most = _limit(rt, run)
    share = rt.policy.compose.weights.entity
    for n, step in enumerate(run.steps):
        if step.entities and not step.bounds.empty:
            within = _within(step.bounds)
            brings = List(f"entity#{n}", step.weight * share if run.wide else share, "relational", step.of)
            yield Task("entity", links.entities(rt, subject, step, most, within, wide=run.wide), within, brings)
    first = next((step for step in run.steps if step.query.mode == "relational"), next(iter(run.steps), None))
    if run.tail and first and not first.bounds.empty:
        within = _within(first.bounds)
        brings = List("tail#0", TAIL_WEIGHT, "relational", first.of)
        yield Task("session", links.tail(rt, subject, run.tail, most, within), within, brings)


def _within(bounds: Bounds) -> Within:
    span = bounds.time
    return Within(
        span.from_ if span else None, span.to if span else None, bounds.languages, bounds.prefixes, bounds.past
    )


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
        query=of.of,
        language=hit.language,  # pyright: ignore[reportArgumentType] # the table holds what detect says
        original=hit.text,
    )
