"""The search arms of a plan, side by side under one deadline; what is missing or late is named, not raised."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from schemas.retrieval_plan import Query
from services.compose.context import relations
from services.compose.context.hits import (
    NO_LIST,
    ArmReport,
    ListPlacement,
    RankedList,
    SearchResult,
    candidate,
    drop_stale_hits,
    end_moments,
    key_of,
    note,
    stand,
    take_linked,
    tells,
)
from services.compose.context.nearest import Near, read_near
from services.compose.rules.pending.pending_changes import NOTHING, PendingChanges
from services.compose.rules.planning import cues, spelling
from services.compose.rules.planning.cues import Cues
from services.compose.rules.planning.execute import MEANING, TAIL_WEIGHT, WORDS, ExecutablePlan, QueryFilter
from services.compose.rules.ranking import spans
from services.compose.rules.ranking.fuse import best_of
from services.compose.rules.ranking.shortlist import Shortlist, shorten
from services.compose.rules.ranking.weigh import DEFAULT_WEIGHTS, SignalScores, weigh
from services.compose.rules.resolving.current import CurrentText
from services.compose.rules.searching.bm25 import (
    DEFAULT_CONTEXT,
    NO_IDS,
    Ids,
    LexicalIndex,
    VectorIndex,
    ids,
    newest,
    too_common,
)
from shared import clock
from shared.domain import chunk_ids
from shared.domain.subjects import Subject
from shared.language import segment, synonyms
from shared.runtime import Runtime
from shared.store import search as store
from shared.store.search import Hit, LexicalStats, PostingList, SearchScope
from shared.telemetry import logger

RANKED = WORDS | MEANING
OPEN = SearchScope()
MAX_CANDIDATES = 400
PART_TURNS, PART_MEMORIES = 24, 8
"""Of what each part of a question finds, so much is looked at beside what the whole does."""
OF_BEST_PART = 0.5
"""A part of a question asks for one thing: what answers it is half as likely as the best that does."""
STATIC = "embedding_static"
"""A note: what texts mean is told by the static vectors that ship with the product, no encoder being configured."""
SHARE_FOR_READING = 0.75
"""Of the time for searching: what one arm is late with must not cost what the others found."""
MOST_ENDERS = 8
"""So many messages at most are looked up that ended what a question would have found."""
SPAN_MOST = 2000
"""Of what was said at a time that a question names, so much is looked at, the newest."""


@dataclass(frozen=True)
class SearchArm:
    """One arm to run: what it answers for the queries that it serves."""

    kind: str
    run: Callable[[], Awaitable[Any]]
    within: SearchScope = OPEN
    brings: RankedList = NO_LIST


@dataclass(frozen=True)
class LexicalHits:
    """What is known of the words; the ids of the chunks inside bounds, and of those said at a time that is named."""

    words: LexicalStats
    inside: bytes | None = None
    then: bytes | None = None


@dataclass
class ScopeHits:
    """What the arms of one span of time have answered: postings, and how near chunks are to each query."""

    text: LexicalHits | None = None
    near: Near = field(default_factory=Near)


@dataclass
class SearchRequest:
    """The queries of a plan that search within the same bounds, whose they are, and how each is read, by all arms."""

    rt: Runtime
    subject: Subject
    run: ExecutablePlan
    within: SearchScope
    numbers: list[int]
    now: datetime
    _cues: dict[tuple[int, tuple[str, ...]], Cues] = field(default_factory=dict[tuple[int, tuple[str, ...]], Cues])

    def query(self, n: int) -> Query:
        """The n-th query of the plan."""
        return self.run.steps[n].query

    def cues(self, n: int, names: Sequence[str]) -> Cues:
        """The n-th query as scoring reads it, once it is known who spoke to the user."""
        key = n, tuple(names)
        if key not in self._cues:
            self._cues[key] = cues.read(self.query(n).text, names, self.now)
        return self._cues[key]


async def search(
    rt: Runtime, subject: Subject, run: ExecutablePlan, left_s: float, overlay: PendingChanges = NOTHING
) -> SearchResult:
    """What every arm found within `left_s` seconds, each query's finds in the order of all their signals.

    What the overlay ends is left out, as is what has ended.
    """
    ends = time.perf_counter() + left_s
    found = SearchResult(ignored=list(run.ignored), overlay=overlay)
    now = clock.now()
    spans: dict[SearchScope, SearchRequest] = {}
    for n, step in enumerate(run.steps):
        if step.query.mode in RANKED and not step.bounds.empty:
            within = _within(step.bounds)
            spans.setdefault(within, SearchRequest(rt, subject, run, within, [], now)).numbers.append(n)
    tasks = [task for asking in spans.values() for task in (*_word_tasks(asking), *_vector_tasks(asking))]
    tasks += _link_tasks(rt, subject, run)
    if rt.models.embedding_model_id is None and any(step.embed for step in run.steps):
        found.notes.append(STATIC)
    heard = {within: ScopeHits() for within in spans}
    linked: list[tuple[SearchArm, list[Hit]]] = []
    for task, answer in await _answers(found, tasks, left_s * SHARE_FOR_READING):
        match task.kind:
            case "text":
                heard[task.within].text = answer
            case "vector":
                heard[task.within].near = answer
                if answer.missing and answer.missing not in found.degraded:
                    found.degraded.append(answer.missing)
            case _:
                linked.append((task, answer))
    for task, hits in sorted(linked, key=lambda each: each[0].brings.name):
        take_linked(found, task.brings, hits, past=task.within.past)
    for within, asking in spans.items():
        await retry_misspelt_terms(asking, heard[within], found, ends)
        reading = SearchArm("rank", lambda a=asking: rank_hits(a, heard[a.within], found))
        await _answers(found, [reading], max(ends - time.perf_counter(), 0.0))
    return found


async def _answers(found: SearchResult, tasks: Sequence[SearchArm], left_s: float) -> list[tuple[SearchArm, Any]]:
    """What the tasks answer in time; what fails or is late is named."""
    running = {asyncio.create_task(time_task(task)): task for task in tasks}
    if not running:
        return []
    done, late = await asyncio.wait(running, timeout=max(left_s, 0.0))
    for each in late:
        each.cancel()
        found.arms.append(ArmReport(running[each].kind, "timeout", took_ms=left_s * 1000))
        found.degraded.append(f"{running[each].kind}_timeout")
    answers: list[tuple[SearchArm, Any]] = []
    for each in sorted(done, key=lambda d: running[d].kind):
        task, error = running[each], each.exception()
        if error is not None:
            found.arms.append(ArmReport(task.kind, "failed"))
            found.degraded.append(f"{task.kind}_unavailable")
            logger().warning("arm_failed", arm=task.kind, error=type(error).__name__)
            continue
        answer, took = each.result()
        found.arms.append(ArmReport(task.kind, "ok", _count(answer), took))
        answers.append((task, answer))
    await asyncio.gather(*late, return_exceptions=True)
    return answers


def _count(answer: Any) -> int:
    if isinstance(answer, Near):
        return len(answer.lifts)
    return len(answer.words.posted) if isinstance(answer, LexicalHits) else len(answer)


async def time_task(task: SearchArm) -> tuple[Any, float]:
    began = time.perf_counter()
    answer = await task.run()
    return answer, (time.perf_counter() - began) * 1000


def _word_tasks(asking: SearchRequest) -> Iterator[SearchArm]:
    """One statement for the words of all queries that search within these bounds; those of a semantic one stand by."""
    subject, within = asking.subject, asking.within
    queries = [asking.query(n) for n in asking.numbers]
    terms = list(dict.fromkeys(term for query in queries for term in segment.query_terms(query.text)))
    terms += synonyms.others(terms)
    bounds = {"inside": store.inside(subject, within, DEFAULT_CONTEXT.inside)} if within.bound else {}
    if not (within.since or within.until):
        asked = (query.text for query in queries if query.mode != "associative")
        if span := spans.named_span(asked, asking.now):
            bounds["then"] = store.inside(subject, replace(within, since=span[0], until=span[1]), SPAN_MOST)

    async def read() -> LexicalHits:
        words = store.words(subject, terms, _common(within))
        known, *inside = await asking.rt.db.read(subject, words, *bounds.values())
        ids_of = dict(zip(bounds, inside, strict=True))
        return LexicalHits(known, ids_of.get("inside"), ids_of.get("then"))

    yield SearchArm("text", read, within)


async def retry_misspelt_terms(asking: SearchRequest, heard: ScopeHits, found: SearchResult, ends: float) -> None:
    """Words that memory does not have are read as those that it spells most like them."""
    text = heard.text or LexicalHits(LexicalStats())
    texts = [asking.query(n).text for n in asking.numbers if asking.query(n).mode in WORDS]
    if not text.words.chunks or not texts:
        return
    asked = spelling.doubtful(texts[0], segment.query_terms(texts[0]), text.words.posted)
    if not asked:
        return

    async def read() -> dict[str, tuple[str, PostingList]]:
        alike = store.load_alike(asking.subject, asked, spelling.LIKENESS, DEFAULT_CONTEXT.common)
        return (await asking.rt.db.read(asking.subject, alike))[0]

    trigram = SearchArm("trigram", read, asking.within)
    for _, spelt in await _answers(found, [trigram], max(ends - time.perf_counter(), 0.0)):
        posted = {**text.words.posted, **{term: posted for term, (_, posted) in spelt.items()}}
        heard.text = replace(text, words=replace(text.words, posted=posted))


def _vector_tasks(asking: SearchRequest) -> Iterator[SearchArm]:
    """The queries that are asked by meaning."""
    asked = [n for n in asking.numbers if asking.run.steps[n].embed]
    if not asked:
        return

    def texts(names: Sequence[str]) -> dict[int, str]:
        return {n: asking.cues(n, names).text for n in asked}

    async def read() -> Near:
        return await read_near(asking.rt, asking.subject, texts, asking.within)

    yield SearchArm("vector", read, asking.within)


async def rank_hits(asking: SearchRequest, heard: ScopeHits, found: SearchResult) -> list[Hit]:
    """The best of the chunks around all that was heard, read once and put in order for every query."""
    rt, subject, run = asking.rt, asking.subject, asking.run
    within, numbers, now = asking.within, asking.numbers, asking.now
    policy = rt.policy.compose
    shown = best_of(policy.least_score)
    text = heard.text or LexicalHits(LexicalStats())
    known = text.words
    read = {n: asking.cues(n, known.names) for n in numbers}
    posted = {term: (p.ids, p.counts) for term, p in known.posted.items()}
    common = too_common(posted, {term for each in read.values() for term in each.terms}, _common(within))
    asked = {n: each.without(common) for n, each in read.items()}
    telling = {term: packed for term, packed in posted.items() if term not in common}
    inside = ids(text.inside) if text.inside else NO_IDS
    index = LexicalIndex(telling, known.chunks, known.terms, DEFAULT_CONTEXT, inside if within.bound else None)
    near = {n: VectorIndex(lifts, DEFAULT_CONTEXT) for n, lifts in heard.near.lifts.items() if len(lifts.lift)}
    by_words = {n: index for n in numbers if run.steps[n].query.mode in WORDS or n not in near}
    dates_alone = any(each.time and each.only_dates for each in read.values())
    then = newest(ids(text.then), DEFAULT_CONTEXT if dates_alone else spans.BESIDE_WORDS) if text.then else None
    dated = {n for n in by_words if within.since and read[n].only_dates}
    wanted: dict[int, Shortlist] = {}
    among: dict[int, int] = {}
    for n in numbers:
        part = run.steps[n].is_part
        pointed: list[tuple[Ids, Ids]] = []
        if n in by_words:
            best = newest(inside, DEFAULT_CONTEXT) if n in dated else index.list_best(asked[n].terms)
            pointed.append((best[0][:PART_MEMORIES], best[1][:PART_TURNS]) if part else best)
            if part:
                among[n] = len(best[0]) + len(best[1]) + policy.arm_limit
        if n in near:
            pointed.append(near[n].list_best(PART_TURNS if part else max(policy.arm_limit, run.plan.budget.top_k)))
        if then is not None and read[n].time and run.steps[n].query.mode != "associative":
            pointed.append(then)
        wanted[n] = shorten(asked[n], pointed, by_words.get(n), near.get(n))
    chunks = {chunk_ids.hexadecimal(*each) for one in wanted.values() for each in one.memories}
    bounds = [chunk_ids.bounds(*turn) for turn in {turn for one in wanted.values() for turn in one.turns}]
    if not chunks and not bounds:
        return []
    most = MAX_CANDIDATES + 2 * PART_TURNS * sum(run.steps[n].is_part for n in numbers)
    (around,) = await rt.db.read(subject, store.at(subject, chunks, bounds, most, within))
    current = drop_stale_hits(found, around, past=within.past)
    kept = {hit.chunk_id for hit, _ in current}
    gone = [hit for hit in around if hit.chunk_id not in kept]
    over = [*gone, *(hit for hit, left in current if left.until)]
    moments: dict[datetime, float] = {}
    if over:
        places = _ids_of(over)
        chances = [
            weigh(
                asked[n],
                over,
                places,
                by_words.get(n),
                near.get(n),
                among=_among(len(around), wanted[n]),
                beside=bool(near),
            ).probability
            for n in numbers
        ]
        best = np.max(chances, axis=0)
        if found.overlay.stating:  # only what is on its way takes the place of what it ends
            near_answers = np.flatnonzero(best[: len(gone)] >= shown).tolist()
            found.stale_answers |= {key_of(gone[at]) for at in near_answers}
        for at in np.flatnonzero(best >= shown).tolist():  # what ended an answer is as likely as that was
            for moment in end_moments(found.overlay, over[at]):
                moments[moment] = max(moments.get(moment, 0.0), float(best[at]))
        current += await _read_enders(rt, subject, within, moments, kept, found)
    hits = [hit for hit, _ in current]
    ending = np.array([moments.get(hit.said_at, 0.0) if hit.role == "user" else 0.0 for hit in hits])
    enders = ending > 0
    of = _ids_of(hits)
    standings: dict[int, ListPlacement] = {}
    for n in numbers:
        step = run.steps[n]
        mixed = (run.words, run.meaning) if step.query.mode in WORDS & MEANING else (1.0, 1.0)
        weights = DEFAULT_WEIGHTS.scale_weights(policy.weights.text * mixed[0], policy.weights.vector * mixed[1])
        many = _among(len(hits), wanted[n])
        many = min(among.get(n, many), many)
        # of what other parts of the question ask for, nothing is said here
        seen = np.flatnonzero(flag_own_hits(hits, wanted[n]) | enders) if step.is_part else np.arange(len(hits))
        standing_at: list[int] = seen.tolist()
        read_here = [current[at] for at in standing_at]
        said = [hit for hit, _ in read_here]
        scored = weigh(asked[n], said, of[seen], by_words.get(n), near.get(n), weights, many, beside=bool(near))
        if n in dated:
            scored = replace(scored, probability=np.maximum(scored.probability, spans.SAID_THEN))
        chance = scored.probability
        if step.query.mode != "associative":
            chance = spans.weigh_dates(read[n], said, scored, shown, now)
        chance = np.maximum(chance, ending[seen])
        echoes = _echoed_replies(read_here, scored) if run.wide else []
        if not read[n].terms:  # thanks and greetings are found behind all that is evidence
            chance[echoes] = np.minimum(chance[echoes], np.nextafter(policy.least_score, 0.0))
        scored = replace(scored, probability=chance)
        found.served[n] = (*(["words"] if n in by_words else []), *(["meaning"] if n in near else []))
        brings = RankedList(f"all#{n}", step.weight, step.query.mode, step.of)
        note(found, brings)
        found.weights |= {f"text#{n}": 0.0, f"vector#{n}": 0.0}
        order = np.argsort(-scored.total.round(9), kind="stable")
        mine = order[(flag_own_hits(said, wanted[n]) | enders[seen])[order]] if run.wide else order
        ranked: list[int] = mine.tolist()
        evident = islice((at for at in ranked if at in echoes or tells(*read_here[at])), step.most or _limit(rt, run))
        bar = _bar_of_part(scored, policy.least_score) if step.is_part else math.inf
        stand(standings, n, brings, scored, list(evident), standing_at, bar)
    found.candidates += [candidate(*current[at], standing) for at, standing in standings.items()]
    return hits


def _echoed_replies(current: Sequence[tuple[Hit, CurrentText]], scored: SignalScores) -> list[int]:
    """Mere replies that a search repeats word for word: no evidence, and yet what it looks for."""
    quoted: list[int] = np.flatnonzero(scored.quoted).tolist()
    return [at for at in quoted if current[at][0].memory_id is None and not tells(*current[at])]


async def _read_enders(
    rt: Runtime,
    subject: Subject,
    within: SearchScope,
    moments: Collection[datetime],
    kept: set[UUID],
    found: SearchResult,
) -> list[tuple[Hit, CurrentText]]:
    """What the user said at these moments and was not found: it ended what would have been."""
    if not moments:
        return []
    latest = sorted(moments, reverse=True)[:MOST_ENDERS]
    (said,) = await rt.db.read(subject, store.said_at(subject, latest, MOST_ENDERS, within))
    return drop_stale_hits(found, [hit for hit in said if hit.chunk_id not in kept], past=within.past)


def _bar_of_part(scored: SignalScores, least: float) -> float:
    """How likely a find has to be that answers this part of a question."""
    return max(least, OF_BEST_PART * float(scored.probability.max(initial=0.0)))


def _ids_of(hits: Sequence[Hit]) -> Ids:
    halves = [(h.chunk_id.int >> 64, h.chunk_id.int & 0xFFFF_FFFF_FFFF_FFFF) for h in hits]
    return np.array(halves, dtype=np.uint64).reshape(-1, 2)


def _among(many: int, wanted: Shortlist) -> int:
    """How many candidates there would be of all that was pointed at."""
    return max(many, min(round(many / wanted.share), MAX_CANDIDATES))


def flag_own_hits(hits: Sequence[Hit], wanted: Shortlist) -> NDArray[np.bool_]:
    """Which of the hits this query asked for, not another of the plan."""
    return np.array(
        [
            (half, hit.seq) in wanted.turns or (half, hit.chunk_id.int & 0xFFFF_FFFF_FFFF_FFFF) in wanted.memories
            for hit in hits
            for half in (hit.chunk_id.int >> 64,)
        ],
        dtype=np.bool_,
    )


def _common(within: SearchScope) -> int:
    """Of how many chunks a word is read: of more where most of them will fall outside."""
    return DEFAULT_CONTEXT.common_inside if within.bound else DEFAULT_CONTEXT.common


def _limit(rt: Runtime, run: ExecutablePlan) -> int:
    return min(max(rt.policy.compose.arm_limit, run.plan.budget.top_k), run.plan.budget.candidate_k)


def _link_tasks(rt: Runtime, subject: Subject, run: ExecutablePlan) -> Iterator[SearchArm]:
    """What is linked with the names of relational queries, and the end of the caller's session."""
    most = _limit(rt, run)
    share = rt.policy.compose.weights.entity
    for n, step in enumerate(run.steps):
        if step.entities and not step.bounds.empty:
            within = _within(step.bounds)
            brings = RankedList(f"entity#{n}", step.weight * share, "relational", step.of)
            yield SearchArm("entity", relations.entities(rt, subject, step, most, within), within, brings)
    first = next((step for step in run.steps if step.query.mode == "relational"), next(iter(run.steps), None))
    if run.tail and first and not first.bounds.empty:
        within = _within(first.bounds)
        brings = RankedList("tail#0", TAIL_WEIGHT, "relational", first.of)
        yield SearchArm("session", relations.tail(rt, subject, run.tail, most, within), within, brings)


def _within(bounds: QueryFilter) -> SearchScope:
    span = bounds.time
    return SearchScope(
        span.from_ if span else None, span.to if span else None, bounds.languages, bounds.prefixes, bounds.past
    )
