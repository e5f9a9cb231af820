"""Ranks the texts of one scope for each of its queries, and makes them candidates with their rank in every list."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from services.compose.context.changes import drop_stale_hits, is_evidence, list_end_times, make_key
from services.compose.context.scope_indexes import (
    PART_TURNS,
    ScopeHits,
    ScopeIndexes,
    ScopeQueries,
    ScopeShortlists,
    choose_hit_limit,
    index_scope,
    shorten_lists,
)
from services.compose.context.stages import RankedList, SearchPart
from services.compose.rules.candidates import Candidate, ListOf, to_frequency, weigh_odds
from services.compose.rules.pending.pending_changes import PendingChanges
from services.compose.rules.planning.plan import MEANING, WORDS, QueryStep
from services.compose.rules.ranking.fuse import compute_least_best
from services.compose.rules.ranking.weigh import (
    DEFAULT_WEIGHTS,
    SAID_THEN,
    Shortlist,
    SignalScores,
    Weights,
    score_candidates,
    score_dates,
)
from services.compose.rules.resolving.outdated import CurrentText, join_pieces
from services.compose.rules.searching.bm25 import Floats, Ids
from shared.domain import chunk_ids
from shared.domain.search_results import Hit
from shared.store import search as store
from shared.store import text_search

MAX_CANDIDATES = 400
OF_BEST_PART = 0.5
"""A part of a question asks for one thing: an answer counts if it is at least half as likely as the best."""
MOST_ENDERS = 8
"""The most messages that are read because they ended an answer."""
LINKED = 0.4
"""The probability that the first hit linked with a requested name helps; half for the second, and so on."""


@dataclass(slots=True)
class ListPlacement:
    """The ranks of a chunk in all lists that hold it; `best` is the list that ranks it highest."""

    best: RankedList
    place: int
    ranks: dict[str, int] = field(default_factory=dict[str, int])
    scores: dict[str, float] = field(default_factory=dict[str, float])
    probability: float = 0.0
    of_part: bool = False


@dataclass(frozen=True)
class ScopeMessages:
    """The texts to rank, with the valid part of each and its probability of having ended an answer."""

    hits: Sequence[tuple[Hit, CurrentText]]
    ending: Floats
    stale: Sequence[str] = ()
    stale_answers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class MessageOrder:
    """The messages of one query: their positions among all, and the order of those that are evidence."""

    scored: SignalScores
    places: Sequence[int]
    evident: Sequence[int]


async def rank_hits(queries: ScopeQueries, hits: ScopeHits, changes: PendingChanges) -> SearchPart:
    """Reads the chunks around the best hits once, and ranks them for every query."""
    indexes = index_scope(queries, hits)
    shortlists = shorten_lists(queries, indexes)
    chunks = {chunk_ids.hexadecimal(*each) for one in shortlists.lists.values() for each in one.memories}
    turns = {turn for one in shortlists.lists.values() for turn in one.turns}
    if not chunks and not turns:
        return SearchPart()
    bounds = [chunk_ids.bounds(*turn) for turn in turns]
    most = MAX_CANDIDATES + 2 * PART_TURNS * sum(queries.run.steps[n].is_part for n in queries.numbers)
    subject = queries.subject
    (around,) = await queries.rt.db.read(subject, store.at(subject, chunks, bounds, most, queries.within))
    messages = await _read_current(queries, indexes, shortlists, around, changes)
    return _place_messages(queries, indexes, shortlists, messages)


async def _read_current(
    queries: ScopeQueries,
    indexes: ScopeIndexes,
    shortlists: ScopeShortlists,
    around: Sequence[Hit],
    changes: PendingChanges,
) -> ScopeMessages:
    """The chunks that are valid, and the messages that ended others which would have been answers."""
    shown = compute_least_best(queries.rt.policy.compose.least_score)
    past = queries.within.past
    current = drop_stale_hits(changes, around, past=past)
    hits, stale = list(current.hits), list(current.stale)
    current_ids = {hit.chunk_id for hit, _ in hits}
    gone = [hit for hit in around if hit.chunk_id not in current_ids]
    over = [*gone, *(hit for hit, left in hits if left.until)]
    stale_answers: frozenset[str] = frozenset()
    moments: dict[datetime, float] = {}
    if over:
        best = _weigh_ended(queries, indexes, shortlists, over, len(around))
        if changes.stating:  # only a pending statement replaces what it ends
            near_answers = np.flatnonzero(best[: len(gone)] >= shown).tolist()
            stale_answers = frozenset(make_key(gone[at]) for at in near_answers)
        for at in np.flatnonzero(best >= shown).tolist():  # as likely as the answer that it ended
            for moment in list_end_times(changes, over[at]):
                moments[moment] = max(moments.get(moment, 0.0), float(best[at]))
        enders = drop_stale_hits(changes, await _read_enders(queries, moments, current_ids), past=past)
        hits += enders.hits
        stale += enders.stale
    ending = np.array([moments.get(hit.said_at, 0.0) if hit.role == "user" else 0.0 for hit, _ in hits])
    return ScopeMessages(hits, ending, stale, stale_answers)


def _weigh_ended(
    queries: ScopeQueries, indexes: ScopeIndexes, shortlists: ScopeShortlists, over: Sequence[Hit], many: int
) -> Floats:
    """The greatest probability, over the queries, that each ended text would have helped."""
    places, beside = _to_ids(over), bool(indexes.near)
    chances: list[Floats] = []
    for n in queries.numbers:
        words, near, among = indexes.words.get(n), indexes.near.get(n), _count_candidates(many, shortlists.lists[n])
        scored = score_candidates(indexes.asked[n], over, places, words, near, among=among, beside=beside)
        chances.append(scored.probability)
    return np.max(chances, axis=0)


async def _read_enders(queries: ScopeQueries, moments: Collection[datetime], current_ids: set[UUID]) -> list[Hit]:
    """Messages of the user at these times that the search did not find."""
    if not moments:
        return []
    latest = sorted(moments, reverse=True)[:MOST_ENDERS]
    reading = text_search.said_at(queries.subject, latest, MOST_ENDERS, queries.within)
    (said,) = await queries.rt.db.read(queries.subject, reading)
    return [hit for hit in said if hit.chunk_id not in current_ids]


def _place_messages(
    queries: ScopeQueries, indexes: ScopeIndexes, shortlists: ScopeShortlists, messages: ScopeMessages
) -> SearchPart:
    """The messages as candidates, with their ranks in the list of every query."""
    least = queries.rt.policy.compose.least_score
    of = _to_ids([hit for hit, _ in messages.hits])
    placements: dict[int, ListPlacement] = {}
    weights: dict[str, float] = {}
    lists: dict[str, ListOf] = {}
    served: dict[int, tuple[str, ...]] = {}
    for n in queries.numbers:
        step = queries.run.steps[n]
        ranked = RankedList(f"all#{n}", step.weight, step.query.mode, step.of)
        weights |= {ranked.name: ranked.weight, f"text#{n}": 0.0, f"vector#{n}": 0.0}
        lists[ranked.name] = ranked.owner
        served[n] = (*(["words"] if n in indexes.words else []), *(["meaning"] if n in indexes.near else []))
        order = _order_messages(queries, indexes, shortlists, messages, of, n)
        bar = max(least, OF_BEST_PART * float(order.scored.probability.max(initial=0.0))) if step.is_part else math.inf
        place_in_list(placements, n, ranked, order.scored, order.evident, order.places, bar)
    return SearchPart(
        candidates=tuple(to_candidate(*messages.hits[at], placement) for at, placement in placements.items()),
        weights=weights,
        lists=lists,
        served=served,
        stale=messages.stale,
        stale_answers=messages.stale_answers,
        looked_at=len(messages.hits),
    )


def _order_messages(
    queries: ScopeQueries,
    indexes: ScopeIndexes,
    shortlists: ScopeShortlists,
    messages: ScopeMessages,
    of: Ids,
    n: int,
) -> MessageOrder:
    """Ranks the messages for the n-th query."""
    run, policy, shortlist = queries.run, queries.rt.policy.compose, shortlists.lists[n]
    step, cues = run.steps[n], indexes.cues[n]
    many = _count_candidates(len(messages.hits), shortlist)
    many = min(shortlists.among.get(n, many), many)
    own = np.ones(len(messages.hits), dtype=np.bool_)
    if step.is_part or run.wide:
        own = flag_own_hits([hit for hit, _ in messages.hits], of, shortlist) | (messages.ending > 0)
    # another part of the question may want these, so that no rank is given
    seen = np.flatnonzero(own) if step.is_part else np.arange(len(messages.hits))
    places: list[int] = seen.tolist()
    texts = [messages.hits[at] for at in places]
    hits = [hit for hit, _ in texts]
    weights, beside = _choose_weights(queries, step), bool(indexes.near)
    words, near = indexes.words.get(n), indexes.near.get(n)
    scored = score_candidates(indexes.asked[n], hits, of[seen], words, near, weights, many, beside=beside)
    if n in indexes.dated:
        scored = replace(scored, probability=np.maximum(scored.probability, SAID_THEN))
    chance = scored.probability
    if step.query.mode != "associative":
        chance = score_dates(cues, hits, scored, compute_least_best(policy.least_score), queries.now)
    chance = np.maximum(chance, messages.ending[seen])
    echoes = _list_echoed_replies(texts, scored) if run.wide else []
    if not cues.terms:  # thanks and greetings rank behind all evidence
        chance[echoes] = np.minimum(chance[echoes], np.nextafter(policy.least_score, 0.0))
    order = np.argsort(-scored.total.round(9), kind="stable")
    ordered: list[int] = (order[own[seen][order]] if run.wide else order).tolist()
    evident = (at for at in ordered if at in echoes or is_evidence(*texts[at]))
    most = step.most or choose_hit_limit(queries.rt, run)
    return MessageOrder(replace(scored, probability=chance), places, list(islice(evident, most)))


def _choose_weights(queries: ScopeQueries, step: QueryStep) -> Weights:
    run, weights = queries.run, queries.rt.policy.compose.weights
    words, meaning = (run.words, run.meaning) if step.query.mode in WORDS & MEANING else (1.0, 1.0)
    return DEFAULT_WEIGHTS.scale_weights(weights.text * words, weights.vector * meaning)


def _list_echoed_replies(texts: Sequence[tuple[Hit, CurrentText]], scored: SignalScores) -> list[int]:
    """Mere replies that repeat the query word for word: not evidence, but what an exact search looks for."""
    quoted: list[int] = np.flatnonzero(scored.quoted).tolist()
    return [at for at in quoted if texts[at][0].memory_id is None and not is_evidence(*texts[at])]


def _to_ids(hits: Sequence[Hit]) -> Ids:
    halves = [(h.chunk_id.int >> 64, h.chunk_id.int & 0xFFFF_FFFF_FFFF_FFFF) for h in hits]
    return np.array(halves, dtype=np.uint64).reshape(-1, 2)


def _count_candidates(many: int, shortlist: Shortlist) -> int:
    """The number of candidates among all chunks that the indexes pointed at."""
    return max(many, min(round(many / shortlist.share), MAX_CANDIDATES))


def flag_own_hits(hits: Sequence[Hit], of: Ids, shortlist: Shortlist) -> NDArray[np.bool_]:
    """Which of the hits, with these ids, are on the shortlist of this query."""
    memories, turns = shortlist.memories, shortlist.turns
    ids = zip(hits, of.tolist(), strict=True)
    return np.array([(half, hit.seq) in turns or (half, rest) in memories for hit, (half, rest) in ids], dtype=np.bool_)


def place_linked_hits(
    changes: PendingChanges, ranked: RankedList, hits: Sequence[Hit], *, past: bool = False
) -> SearchPart:
    """The hits in their order, as a list of their own."""
    current = drop_stale_hits(changes, hits, past=past)
    telling = [(hit, left) for hit, left in current.hits if is_evidence(hit, left)]
    placed = [
        (hit, left, ListPlacement(ranked, rank, {ranked.name: rank}, {ranked.name: hit.score}, LINKED / rank))
        for rank, (hit, left) in enumerate(telling, 1)
    ]
    return SearchPart(
        candidates=tuple(to_candidate(hit, left, placement) for hit, left, placement in placed),
        weights={ranked.name: ranked.weight},
        lists={ranked.name: ranked.owner},
        stale=current.stale,
        stale_answers=frozenset({make_key(hit) for hit in hits} - {make_key(hit) for hit, _ in current.hits}),
    )


def place_in_list(
    placements: dict[int, ListPlacement],
    n: int,
    ranked: RankedList,
    scored: SignalScores,
    order: Sequence[int],
    places: Sequence[int],
    least_of_part: float = math.inf,
) -> None:
    """Adds the query's ranked list. The ranks by words and by meaning are shown but have no weight.

    `places` are the positions of the scored hits among all hits. A hit at or above `least_of_part` answers this part of
    a question, however likely others answer the other parts.
    """
    alone = {
        name: (rank_scores(scores), scores)
        for name, scores in ((f"text#{n}", scored.words), (f"vector#{n}", scored.meaning))
        if scores.any()
    }
    for rank, at in enumerate(order, 1):
        placement = placements.setdefault(places[at], ListPlacement(ranked, rank))
        if (rank, -ranked.weight) < (placement.place, -placement.best.weight):
            placement.best, placement.place = ranked, rank
        placement.ranks[ranked.name], placement.scores[ranked.name] = rank, float(scored.total[at])
        chance = weigh_odds(float(scored.probability[at]), ranked.weight)
        placement.probability = max(placement.probability, chance)
        placement.of_part = placement.of_part or chance >= least_of_part
        for name, (ranks, scores) in alone.items():
            if scores[at] > 0:
                placement.ranks[name], placement.scores[name] = int(ranks[at]), round(float(scores[at]), 6)


def rank_scores(scores: Floats) -> NDArray[np.intp]:
    """The rank of each score; the greatest has rank 1."""
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def to_candidate(hit: Hit, left: CurrentText, placement: ListPlacement) -> Candidate:
    """The hit as a candidate, with its ranks and scores in the lists that hold it."""
    is_memory = hit.memory_id is not None
    return Candidate(
        kind="memory" if is_memory else "turn",
        text=left.text if left.recognized else join_pieces(left.text),
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
        frequency=to_frequency(hit.injection_count, hit.positive_count, hit.correction_count, hit.miss_count),
        arm_ranks=placement.ranks,
        arm_scores=placement.scores,
        probability=placement.probability,
        of_part=placement.of_part,
        mode=placement.best.mode,
        query=placement.best.of,
        language=hit.language,  # pyright: ignore[reportArgumentType] # the table holds what detect says
        original=hit.text,
        recognized=left.recognized,
        until=left.until,
        version=hit.version,
    )
