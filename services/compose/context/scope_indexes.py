"""Queries with the same filters, the word and vector indexes that answer them, and the shortlists read for ranking.

Vectors of the encoder are compared where chunks have them, static vectors elsewhere. Without an encoder, or if it is
late, static vectors serve for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np

from schemas.retrieval_plan import Query
from services.compose.rules.planning import cues
from services.compose.rules.planning.cues import Cues
from services.compose.rules.planning.plan import WORDS, ExecutablePlan
from services.compose.rules.ranking import weigh
from services.compose.rules.ranking.weigh import Shortlist, make_shortlist
from services.compose.rules.searching.bm25 import (
    DEFAULT_CONTEXT,
    NO_IDS,
    Ids,
    LexicalIndex,
    find_too_common,
    list_newest,
    read_ids,
)
from services.compose.rules.searching.nearness import Lifts, VectorIndex, to_lifts
from shared.classifiers.static_encoder import load_static_encoder
from shared.domain.search_results import Compared, LexicalStats, Meant, Pages
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.runtime import Runtime
from shared.store import search
from shared.store.search import SearchScope

Texts = Callable[[Sequence[str]], Mapping[int, str]]
"""Returns the text of each query, by number, without the given names."""


@dataclass(frozen=True)
class NearnessResult:
    """The lifts of chunks for each query, by number; if the encoder's vectors are missing, the reason."""

    lifts: Mapping[int, Lifts] = field(default_factory=dict[int, Lifts])
    missing: str | None = None


async def read_near(rt: Runtime, subject: Subject, texts: Texts, within: SearchScope) -> NearnessResult:
    """How near the user's chunks within the filters are to each query."""
    missing: str | None = None
    if rt.models.embedding_model_id is not None:
        try:
            return NearnessResult(await _by_encoder(rt, subject, texts, within))
        except (ModelUnavailable, MalformedAnswer):
            missing = "embedding_unavailable"
        except TransientError:
            missing = "pgvector_unavailable"
    static = load_static_encoder()
    held = rt.pages.find(subject, static.model_id)
    reading = search.load_near(
        subject, static.model_id, {}, within, set_id=static.model_id, held_version=_version(held)
    )
    names, meant = await rt.db.read(subject, search.names(subject), reading)
    rows = load_pages(rt, subject, static.model_id, held, meant)
    units = {n: static.encode(text) for n, text in texts(names).items()}
    scales = {static.model_id: static.scale}
    return NearnessResult({n: to_lifts(rows, {static.model_id: unit}, scales) for n, unit in units.items()}, missing)


async def _by_encoder(rt: Runtime, subject: Subject, texts: Texts, within: SearchScope) -> dict[int, Lifts]:
    models, set_id, static = rt.models, str(rt.models.embedding_model_id), load_static_encoder()
    (names,) = await rt.db.read(subject, search.names(subject))
    wanted = texts(names)
    deadline_s = rt.policy.compose.embed_deadline_ms / 1000
    scales = {**await models.scales(deadline_s=deadline_s), static.model_id: static.scale}
    vectors = await models.embed(list(wanted.values()), deadline_s=deadline_s)
    lifts: dict[int, Lifts] = {}
    for (n, text), vector in zip(wanted.items(), vectors, strict=True):
        views = models.views(vector)
        held = rt.pages.find(subject, set_id)
        reading = search.load_near(subject, static.model_id, views, within, set_id=set_id, held_version=_version(held))
        (meant,) = await rt.db.read(subject, reading)
        rows = load_pages(rt, subject, set_id, held, meant)
        units = {name: np.asarray(of, dtype=np.float32) for name, of in views.items()}
        lifts[n] = to_lifts(rows, {**units, static.model_id: static.encode(text)}, scales)
    return lifts


def _version(held: Pages | None) -> UUID | None:
    return held.version if held else None


def load_pages(rt: Runtime, subject: Subject, set_id: str, held: Pages | None, meant: Meant) -> list[Compared]:
    """The cached pages of vectors and the newer chunks."""
    pages = meant.pages
    if pages is None:
        return list(meant.newer)
    if held is not None and held.version == pages.version:
        pages = held
    else:
        rt.pages.put(subject, pages.epoch, set_id, pages)
    return [*pages.of, *meant.newer]


PART_TURNS, PART_MEMORIES = 24, 8
"""How many turns and memories each part of a question adds to the shortlist."""


@dataclass(frozen=True)
class ScopeQueries:
    """The queries of a plan that share filters."""

    rt: Runtime
    subject: Subject
    run: ExecutablePlan
    within: SearchScope
    numbers: Sequence[int]
    now: datetime
    _cues: dict[tuple[int, tuple[str, ...]], Cues] = field(default_factory=dict[tuple[int, tuple[str, ...]], Cues])

    def query(self, n: int) -> Query:
        return self.run.steps[n].query

    def cues(self, n: int, names: Sequence[str]) -> Cues:
        """The cues of the n-th query, without the names of speakers."""
        key = n, tuple(names)
        if key not in self._cues:
            self._cues[key] = cues.read_cues(self.query(n).text, names, self.now)
        return self._cues[key]


@dataclass(frozen=True)
class LexicalHits:
    """The postings of the words, and the ids of the chunks inside the filters and at a named time."""

    words: LexicalStats
    inside: bytes | None = None
    then: bytes | None = None


@dataclass(frozen=True)
class ScopeHits:
    """What the arms of one scope returned: postings, and the nearness of chunks to each query."""

    text: LexicalHits = field(default_factory=lambda: LexicalHits(LexicalStats()))
    near: NearnessResult = field(default_factory=NearnessResult)


@dataclass(frozen=True)
class ScopeIndexes:
    """For each query of a scope its cues, lexical and vector index.

    `then` are chunks from a named time; `dated` are the queries that give only a time.
    """

    cues: Mapping[int, Cues]
    asked: Mapping[int, Cues]
    """The same without terms that are too common."""
    words: Mapping[int, LexicalIndex]
    near: Mapping[int, VectorIndex]
    inside: Ids
    then: tuple[Ids, Ids] | None
    dated: frozenset[int]


@dataclass(frozen=True)
class ScopeShortlists:
    """The shortlist of each query, and how many candidates a part of the question would have."""

    lists: Mapping[int, Shortlist]
    among: Mapping[int, int]


def choose_common_limit(within: SearchScope) -> int:
    """How many chunks of a common word are read; more if filters will exclude most of them."""
    return DEFAULT_CONTEXT.common_inside if within.bound else DEFAULT_CONTEXT.common


def choose_hit_limit(rt: Runtime, run: ExecutablePlan) -> int:
    """The most hits of a query."""
    return min(max(rt.policy.compose.arm_limit, run.plan.budget.top_k), run.plan.budget.candidate_k)


def index_scope(queries: ScopeQueries, hits: ScopeHits) -> ScopeIndexes:
    """Builds the indexes from the answers of the arms."""
    within, numbers, steps = queries.within, queries.numbers, queries.run.steps
    corpus = hits.text.words
    cues = {n: queries.cues(n, corpus.names) for n in numbers}
    posted = {term: (p.ids, p.counts) for term, p in corpus.posted.items()}
    common = find_too_common(
        posted, {term for each in cues.values() for term in each.terms}, choose_common_limit(within)
    )
    telling = {term: packed for term, packed in posted.items() if term not in common}
    inside = read_ids(hits.text.inside) if hits.text.inside else NO_IDS
    index = LexicalIndex(telling, corpus.chunks, corpus.terms, DEFAULT_CONTEXT, inside if within.bound else None)
    near = {n: VectorIndex(lifts, DEFAULT_CONTEXT) for n, lifts in hits.near.lifts.items() if len(lifts.lift)}
    by_words = {n: index for n in numbers if steps[n].query.mode in WORDS or n not in near}
    dates_alone = any(each.time and each.only_dates for each in cues.values())
    then = None
    if hits.text.then:
        then = list_newest(read_ids(hits.text.then), DEFAULT_CONTEXT if dates_alone else weigh.BESIDE_WORDS)
    return ScopeIndexes(
        cues=cues,
        asked={n: each.without(common) for n, each in cues.items()},
        words=by_words,
        near=near,
        inside=inside,
        then=then,
        dated=frozenset(n for n in by_words if within.since and cues[n].only_dates),
    )


def shorten_lists(queries: ScopeQueries, indexes: ScopeIndexes) -> ScopeShortlists:
    """The best chunks by words, vectors and time, for each query."""
    run, limit = queries.run, queries.rt.policy.compose.arm_limit
    lists: dict[int, Shortlist] = {}
    among: dict[int, int] = {}
    for n in queries.numbers:
        part = run.steps[n].is_part
        pointed: list[tuple[Ids, Ids]] = []
        if n in indexes.words:
            dated = n in indexes.dated
            best = (
                list_newest(indexes.inside, DEFAULT_CONTEXT)
                if dated
                else indexes.words[n].list_best(indexes.asked[n].terms)
            )
            pointed.append((best[0][:PART_MEMORIES], best[1][:PART_TURNS]) if part else best)
            if part:
                among[n] = len(best[0]) + len(best[1]) + limit
        if n in indexes.near:
            pointed.append(indexes.near[n].list_best(PART_TURNS if part else max(limit, run.plan.budget.top_k)))
        if indexes.then is not None and indexes.cues[n].time and run.steps[n].query.mode != "associative":
            pointed.append(indexes.then)
        lists[n] = make_shortlist(indexes.asked[n], pointed, indexes.words.get(n), indexes.near.get(n))
    return ScopeShortlists(lists, among)
