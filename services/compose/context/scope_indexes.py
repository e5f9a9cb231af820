"""The queries that search within the same bounds, what answers each by words and by meaning, and what of it is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from schemas.retrieval_plan import Query
from services.compose.context.nearest import Near
from services.compose.rules.planning import cues
from services.compose.rules.planning.cues import Cues
from services.compose.rules.planning.execute import WORDS, ExecutablePlan
from services.compose.rules.ranking import weigh
from services.compose.rules.ranking.weigh import Shortlist, shorten
from services.compose.rules.searching.bm25 import DEFAULT_CONTEXT, NO_IDS, Ids, LexicalIndex, ids, newest, too_common
from services.compose.rules.searching.nearness import VectorIndex
from shared.domain.subjects import Subject
from shared.runtime import Runtime
from shared.store.search_scope import SearchScope
from shared.store.search_words import LexicalStats

PART_TURNS, PART_MEMORIES = 24, 8
"""Of what each part of a question finds, so much is looked at beside what the whole does."""


@dataclass(frozen=True)
class ScopeQueries:
    """The queries of a plan that search within the same bounds, whose they are, and how each is read, by all arms."""

    rt: Runtime
    subject: Subject
    run: ExecutablePlan
    within: SearchScope
    numbers: Sequence[int]
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


@dataclass(frozen=True)
class LexicalHits:
    """What is known of the words; the ids of the chunks inside bounds, and of those said at a time that is named."""

    words: LexicalStats
    inside: bytes | None = None
    then: bytes | None = None


@dataclass(frozen=True)
class ScopeHits:
    """What the arms of one scope have answered: postings, and how near chunks are to each query."""

    text: LexicalHits = field(default_factory=lambda: LexicalHits(LexicalStats()))
    near: Near = field(default_factory=Near)


@dataclass(frozen=True)
class ScopeIndexes:
    """Each query of a scope by number, its cues and what answers it by words and by meaning; `then` is what was said at
    a time that is named, and `dated` are the queries that ask for nothing but what was said within their bounds."""

    cues: Mapping[int, Cues]
    asked: Mapping[int, Cues]
    """The same less the terms that are too common."""
    words: Mapping[int, LexicalIndex]
    near: Mapping[int, VectorIndex]
    inside: Ids
    then: tuple[Ids, Ids] | None
    dated: frozenset[int]


@dataclass(frozen=True)
class ScopeShortlists:
    """What is read for each query, and among how many candidates those of a part of the question would stand."""

    lists: Mapping[int, Shortlist]
    among: Mapping[int, int]


def common_limit(within: SearchScope) -> int:
    """Of how many chunks a word is read: of more where most of them will fall outside."""
    return DEFAULT_CONTEXT.common_inside if within.bound else DEFAULT_CONTEXT.common


def hit_limit(rt: Runtime, run: ExecutablePlan) -> int:
    """How many hits a query brings at most."""
    return min(max(rt.policy.compose.arm_limit, run.plan.budget.top_k), run.plan.budget.candidate_k)


def index_scope(queries: ScopeQueries, hits: ScopeHits) -> ScopeIndexes:
    """The queries of the scope beside what the arms answered."""
    within, numbers, steps = queries.within, queries.numbers, queries.run.steps
    known = hits.text.words
    read = {n: queries.cues(n, known.names) for n in numbers}
    posted = {term: (p.ids, p.counts) for term, p in known.posted.items()}
    common = too_common(posted, {term for each in read.values() for term in each.terms}, common_limit(within))
    telling = {term: packed for term, packed in posted.items() if term not in common}
    inside = ids(hits.text.inside) if hits.text.inside else NO_IDS
    index = LexicalIndex(telling, known.chunks, known.terms, DEFAULT_CONTEXT, inside if within.bound else None)
    near = {n: VectorIndex(lifts, DEFAULT_CONTEXT) for n, lifts in hits.near.lifts.items() if len(lifts.lift)}
    by_words = {n: index for n in numbers if steps[n].query.mode in WORDS or n not in near}
    dates_alone = any(each.time and each.only_dates for each in read.values())
    then = None
    if hits.text.then:
        then = newest(ids(hits.text.then), DEFAULT_CONTEXT if dates_alone else weigh.BESIDE_WORDS)
    return ScopeIndexes(
        cues=read,
        asked={n: each.without(common) for n, each in read.items()},
        words=by_words,
        near=near,
        inside=inside,
        then=then,
        dated=frozenset(n for n in by_words if within.since and read[n].only_dates),
    )


def shorten_lists(queries: ScopeQueries, indexes: ScopeIndexes) -> ScopeShortlists:
    """The best of all that words, meaning and a time point at, by query."""
    run, limit = queries.run, queries.rt.policy.compose.arm_limit
    lists: dict[int, Shortlist] = {}
    among: dict[int, int] = {}
    for n in queries.numbers:
        part = run.steps[n].is_part
        pointed: list[tuple[Ids, Ids]] = []
        if n in indexes.words:
            dated = n in indexes.dated
            best = (
                newest(indexes.inside, DEFAULT_CONTEXT) if dated else indexes.words[n].list_best(indexes.asked[n].terms)
            )
            pointed.append((best[0][:PART_MEMORIES], best[1][:PART_TURNS]) if part else best)
            if part:
                among[n] = len(best[0]) + len(best[1]) + limit
        if n in indexes.near:
            pointed.append(indexes.near[n].list_best(PART_TURNS if part else max(limit, run.plan.budget.top_k)))
        if indexes.then is not None and indexes.cues[n].time and run.steps[n].query.mode != "associative":
            pointed.append(indexes.then)
        lists[n] = shorten(indexes.asked[n], pointed, indexes.words.get(n), indexes.near.get(n))
    return ScopeShortlists(lists, among)
