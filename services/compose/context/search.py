"""Searches memory and knowledge for a plan: arms run in parallel under one deadline.

Arms that fail or are late are reported, not raised. Link arms lead from names to what mentions them, and from a session
to its latest messages.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from schemas.retrieval_plan import RetrievalPlan
from services.compose.context.planner import ask_knowledge
from services.compose.context.scope_indexes import (
    LexicalHits,
    NearnessResult,
    ScopeHits,
    ScopeQueries,
    choose_common_limit,
    choose_hit_limit,
    read_near,
)
from services.compose.context.scope_ranking import place_linked_hits, rank_hits
from services.compose.context.stages import (
    ArmReport,
    Call,
    RankedList,
    SearchPart,
    SearchRequest,
    SearchResult,
    StageReport,
    join_reports,
)
from services.compose.rules.pending.pending_changes import ARM, PendingChanges, list_pending_candidates
from services.compose.rules.planning import questions
from services.compose.rules.planning.given import TAIL_WEIGHT, list_identifiers
from services.compose.rules.planning.plan import MEANING, WORDS, ExecutablePlan, QueryFilter, QueryStep
from services.compose.rules.ranking import weigh
from services.compose.rules.searching.bm25 import DEFAULT_CONTEXT
from shared import clock
from shared.domain.search_results import Hit, LexicalStats, PostingList
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.language import segment
from shared.language.names import names
from shared.language.normalise import fold
from shared.language.segment import list_synonyms
from shared.runtime import Runtime
from shared.store import relations
from shared.store import search as store
from shared.store.search import SearchScope
from shared.telemetry import logger

TAIL_MESSAGES = 24
TOGETHER = 4


def make_entity_search(
    rt: Runtime, subject: Subject, step: QueryStep, most: int, within: SearchScope
) -> Callable[[], Awaitable[list[Hit]]]:
    """The arm for the names of this step: messages and memories that mention them, references, and their tasks."""
    spelt = list(dict.fromkeys(to_stored_name(name) for name in step.entities if to_stored_name(name)))
    canonical = list(dict.fromkeys(fold(name) for name in spelt))

    async def run() -> list[Hit]:
        async with rt.db.transaction(subject) as conn:
            scores = dict(await relations.load_related(conn, subject, canonical, spelt, step.terms, most * 2))
            hits = await store.at(subject, list(map(str, scores)), [], most * 2, within).on(conn)
        scored = [hit._replace(score=scores[hit.chunk_id]) for hit in hits]
        return sorted(scored, key=lambda hit: (-hit.score, -hit.said_at.timestamp(), hit.chunk_id.int))[:most]

    return run


def make_tail_search(
    rt: Runtime, subject: Subject, session_id: str, most: int, within: SearchScope
) -> Callable[[], Awaitable[list[Hit]]]:
    """The arm for the latest messages of this session, newest first."""

    async def run() -> list[Hit]:
        async with rt.db.transaction(subject) as conn:
            chunks = await relations.tail(conn, subject, session_id, min(most, TAIL_MESSAGES))
            hits = await store.at(subject, list(map(str, chunks)), [], len(chunks), within).on(conn) if chunks else []
        newest = sorted(hits, key=lambda hit: -hit.chunk_id.int)
        return [hit._replace(score=1.0 / place) for place, hit in enumerate(newest, 1)]

    return run


async def load_cooccurrences(rt: Runtime, subject: Subject, plan: RetrievalPlan, left_s: float) -> dict[int, list[str]]:
    """For each associative query, what most often occurs together with its entities; empty if that takes too long."""
    named = {
        n: [fold(to_stored_name(name)) for name in names(query.text)]
        for n, query in enumerate(plan.queries)
        if query.mode == "associative"
    }
    asking = {n: of for n, of in named.items() if of}
    if not asking:
        return {}
    try:
        async with asyncio.timeout(left_s), rt.db.transaction(subject) as conn:
            return {
                n: await relations.load_together(conn, subject, of, list_identifiers(of), TOGETHER)
                for n, of in asking.items()
            }
    except (TimeoutError, TransientError):
        return {}


def to_stored_name(name: str) -> str:
    """The name in a form that PostgreSQL can store."""
    return name.replace("\x00", "")


RANKED = WORDS | MEANING
OPEN = SearchScope()
NO_LIST = RankedList("", 0.0, "hybrid")
STATIC = "embedding_static"
"""A note: without a configured encoder, the static vectors of the product were used."""
SHARE_FOR_SEARCH = 0.8
"""The arms' share of the time left; fusion and packing need the rest."""
SHARE_FOR_READING = 0.75
"""The share of the search time for the arms: a late arm must not cost the results of others."""
SPAN_MOST = 2000
"""The most chunks from a named time, newest first."""


@dataclass(frozen=True)
class SearchArm:
    """One arm, with the queries that it serves."""

    kind: str
    run: Callable[[], Awaitable[Any]]
    within: SearchScope = OPEN
    ranked: RankedList = NO_LIST


Answers = Sequence[tuple[SearchArm, Any]]


async def search(rt: Runtime, call: Call, request: SearchRequest) -> SearchResult:
    """What memory and knowledge return in their share of the time left, and pending statements.

    What has ended is left out, and named if the search would have returned it.
    """
    left_s = call.left_s() * SHARE_FOR_SEARCH
    memory = request.memory
    async with ask_knowledge(rt, memory, request.knowledge, request.run.plan, left_s) as asked:
        parts = await search_memory(rt, call.subject, request.run, left_s, memory.changes)
        parts += [await asked] if asked else []
    return join_parts(parts, request)


def join_parts(parts: Sequence[SearchPart], request: SearchRequest) -> SearchResult:
    """Joins the parts. Pending statements come first: their list weighs more than all others together."""
    weights = {name: weight for part in parts for name, weight in part.weights.items()}
    stale_answers = frozenset(request.hidden).union(*(part.stale_answers for part in parts))
    pending = tuple(list_pending_candidates(request.memory.changes, request.shown, stale_answers))
    if pending:
        weights[ARM] = 1.0 + sum(weights.values())
    return SearchResult(
        candidates=(*chain.from_iterable(part.candidates for part in parts), *pending),
        weights=weights,
        lists={name: owner for part in parts for name, owner in part.lists.items()},
        served={n: arms for part in parts for n, arms in part.served.items()},
        stale=(*chain.from_iterable(part.stale for part in parts), *request.hidden),
        changes=request.memory.changes,
        pending=pending,
        report=join_reports(part.report for part in parts),
    )


async def search_memory(
    rt: Runtime, subject: Subject, run: ExecutablePlan, left_s: float, changes: PendingChanges
) -> list[SearchPart]:
    """The results of every arm within `left_s` seconds, ranked for each query by all signals."""
    ends = time.perf_counter() + left_s
    scopes = _group_queries(rt, subject, run)
    arms = [arm for queries in scopes for arm in (*_word_arms(queries), *_vector_arms(queries))]
    arms += _link_arms(rt, subject, run)
    answers, report = await _run_arms(arms, left_s * SHARE_FOR_READING)
    notes = (STATIC,) if rt.models.embedding_model_id is None and any(step.embed for step in run.steps) else ()
    missing = dict.fromkeys(near.missing for _, near in answers if isinstance(near, NearnessResult) and near.missing)
    begun = StageReport(degraded=tuple(missing), ignored=run.ignored, notes=notes)
    parts = [SearchPart(report=join_reports((report, begun)))]
    linked = sorted((arm.ranked.name, n) for n, (arm, _) in enumerate(answers) if arm.ranked is not NO_LIST)
    for _, n in linked:
        arm, hits = answers[n]
        parts.append(place_linked_hits(changes, arm.ranked, hits, past=arm.within.past))
    for queries in scopes:
        parts.append(await _search_scope(queries, answers, changes, ends))
    return parts


def _group_queries(rt: Runtime, subject: Subject, run: ExecutablePlan) -> list[ScopeQueries]:
    """Groups the queries that use words or vectors by their filters."""
    now = clock.now()
    numbers: dict[SearchScope, list[int]] = {}
    for n, step in enumerate(run.steps):
        if step.query.mode in RANKED and not step.bounds.empty:
            numbers.setdefault(_to_scope(step.bounds), []).append(n)
    return [ScopeQueries(rt, subject, run, within, each, now) for within, each in numbers.items()]


async def _search_scope(queries: ScopeQueries, answers: Answers, changes: PendingChanges, ends: float) -> SearchPart:
    """Ranks what the arms of one scope returned."""
    own = {arm.kind: answer for arm, answer in answers if arm.within == queries.within and arm.ranked is NO_LIST}
    hits = ScopeHits(own.get("text") or LexicalHits(LexicalStats()), own.get("vector") or NearnessResult())
    hits, spelt = await retry_misspelt_terms(queries, hits, ends)
    arm = SearchArm("rank", lambda: rank_hits(queries, hits, changes))
    ranked, report = await _run_arms([arm], max(ends - time.perf_counter(), 0.0))
    part: SearchPart = ranked[0][1] if ranked else SearchPart()
    return replace(part, report=join_reports((spelt, report)))


async def _run_arms(arms: Sequence[SearchArm], left_s: float) -> tuple[Answers, StageReport]:
    """Runs the arms; reports those that fail or are late."""
    running = {asyncio.create_task(time_arm(arm)): arm for arm in arms}
    if not running:
        return [], StageReport()
    done, late = await asyncio.wait(running, timeout=max(left_s, 0.0))
    reports: list[ArmReport] = []
    degraded: list[str] = []
    for task in late:
        task.cancel()
        reports.append(ArmReport(running[task].kind, "timeout", took_ms=left_s * 1000))
        degraded.append(f"{running[task].kind}_timeout")
    answers: list[tuple[SearchArm, Any]] = []
    for task in sorted(done, key=lambda each: running[each].kind):
        arm, error = running[task], task.exception()
        if error is not None:
            reports.append(ArmReport(arm.kind, "failed"))
            degraded.append(f"{arm.kind}_unavailable")
            logger().warning("arm_failed", arm=arm.kind, error=type(error).__name__)
            continue
        answer, took = task.result()
        reports.append(ArmReport(arm.kind, "ok", _count_results(answer), took))
        answers.append((arm, answer))
    await asyncio.gather(*late, return_exceptions=True)
    return answers, StageReport(tuple(reports), tuple(degraded))


def _count_results(answer: Any) -> int:
    match answer:
        case NearnessResult():
            return len(answer.lifts)
        case LexicalHits():
            return len(answer.words.posted)
        case SearchPart():
            return answer.looked_at
        case _:
            return len(answer)


async def time_arm(arm: SearchArm) -> tuple[Any, float]:
    began = time.perf_counter()
    answer = await arm.run()
    return answer, (time.perf_counter() - began) * 1000


def _word_arms(queries: ScopeQueries) -> Iterator[SearchArm]:
    """The word arm: one statement for all queries of the scope. Words of a semantic query are read but weigh little."""
    subject, within = queries.subject, queries.within
    searches = [queries.query(n) for n in queries.numbers]
    terms = list(dict.fromkeys(term for query in searches for term in segment.query_terms(query.text)))
    terms += list_synonyms(terms)
    bounds = {"inside": store.inside(subject, within, DEFAULT_CONTEXT.inside)} if within.bound else {}
    if not (within.since or within.until):
        texts = (query.text for query in searches if query.mode != "associative")
        if span := weigh.find_named_span(texts, queries.now):
            bounds["then"] = store.inside(subject, replace(within, since=span[0], until=span[1]), SPAN_MOST)

    async def read() -> LexicalHits:
        words = store.words(subject, terms, choose_common_limit(within))
        known, *inside = await queries.rt.db.read(subject, words, *bounds.values())
        ids_of = dict(zip(bounds, inside, strict=True))
        return LexicalHits(known, ids_of.get("inside"), ids_of.get("then"))

    yield SearchArm("text", read, within)


async def retry_misspelt_terms(queries: ScopeQueries, hits: ScopeHits, ends: float) -> tuple[ScopeHits, StageReport]:
    """Adds the postings of similarly spelt terms for terms that memory does not have."""
    words = hits.text.words
    texts = [queries.query(n).text for n in queries.numbers if queries.query(n).mode in WORDS]
    if not words.chunks or not texts:
        return hits, StageReport()
    misspelt = questions.list_doubtful_terms(texts[0], segment.query_terms(texts[0]), words.posted)
    if not misspelt:
        return hits, StageReport()

    async def read() -> dict[str, tuple[str, PostingList]]:
        alike = store.load_alike(queries.subject, misspelt, questions.LIKENESS, DEFAULT_CONTEXT.common)
        return (await queries.rt.db.read(queries.subject, alike))[0]

    trigram = SearchArm("trigram", read, queries.within)
    answers, report = await _run_arms([trigram], max(ends - time.perf_counter(), 0.0))
    posted = {**words.posted, **{term: posted for _, spelt in answers for term, (_, posted) in spelt.items()}}
    return replace(hits, text=replace(hits.text, words=replace(words, posted=posted))), report


def _vector_arms(queries: ScopeQueries) -> Iterator[SearchArm]:
    """The vector arm of the queries that are embedded."""
    embedded = [n for n in queries.numbers if queries.run.steps[n].embed]
    if not embedded:
        return

    def texts(names: Sequence[str]) -> dict[int, str]:
        return {n: queries.cues(n, names).text for n in embedded}

    async def read() -> NearnessResult:
        return await read_near(queries.rt, queries.subject, texts, queries.within)

    yield SearchArm("vector", read, queries.within)


def _link_arms(rt: Runtime, subject: Subject, run: ExecutablePlan) -> Iterator[SearchArm]:
    """The arms for names of relational queries and for the end of the caller's session."""
    most = choose_hit_limit(rt, run)
    share = rt.policy.compose.weights.entity
    for n, step in enumerate(run.steps):
        if step.entities and not step.bounds.empty:
            within = _to_scope(step.bounds)
            ranked = RankedList(f"entity#{n}", step.weight * share, "relational", step.of)
            yield SearchArm("entity", make_entity_search(rt, subject, step, most, within), within, ranked)
    first = next((step for step in run.steps if step.query.mode == "relational"), next(iter(run.steps), None))
    if run.tail and first and not first.bounds.empty:
        within = _to_scope(first.bounds)
        ranked = RankedList("tail#0", TAIL_WEIGHT, "relational", first.of)
        yield SearchArm("session", make_tail_search(rt, subject, run.tail, most, within), within, ranked)


def _to_scope(bounds: QueryFilter) -> SearchScope:
    span = bounds.time
    return SearchScope(
        span.from_ if span else None, span.to if span else None, bounds.languages, bounds.prefixes, bounds.past
    )
