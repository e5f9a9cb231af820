"""Turns search hits into candidates: the part of each that is still valid, with its rank in every list."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from services.compose.context.stages import RankedList, SearchPart
from services.compose.rules.candidates import Candidate, to_frequency, weigh_odds
from services.compose.rules.pending.pending_changes import PendingChanges
from services.compose.rules.ranking.weigh import SignalScores
from services.compose.rules.resolving import outdated
from services.compose.rules.resolving.outdated import CurrentText, join_pieces, keep_what_holds
from services.compose.rules.searching.bm25 import Floats
from shared.extraction import forget, retractions
from shared.language.normalise import fold
from shared.language.replies import says_something
from shared.store.search import Hit
from shared.store.user_state import NEVER

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


@dataclass(frozen=True, slots=True)
class CurrentHits:
    """The valid hits with the text that may be shown, and the keys of the invalid ones."""

    hits: Sequence[tuple[Hit, CurrentText]]
    stale: Sequence[str] = ()


def drop_stale_hits(changes: PendingChanges, hits: Sequence[Hit], *, past: bool = False) -> CurrentHits:
    """The hits that are still valid; with `past` also former ones, marked as such."""
    texts = [
        (_find_current_memory if hit.memory_id else _find_current_message)(changes, hit, past=past) for hit in hits
    ]
    over = _ended_turns(hits, texts)
    current: list[tuple[Hit, CurrentText]] = []
    stale: list[str] = []
    for hit, text in zip(hits, texts, strict=True):
        left = text
        if left and hit.turn_id in over and hit.role == "assistant" and outdated.says_one_thing(left.text):
            until = over.get(hit.turn_id)
            left = replace(left, until=left.until or until) if until else None
        if left is None:
            stale.append(make_key(hit))
        else:
            current.append((hit, left))
    return CurrentHits(current, stale)


def _ended_turns(hits: Sequence[Hit], texts: Sequence[CurrentText | None]) -> Mapping[UUID | None, datetime | None]:
    """The turns of which no statement of the user is valid any more, with the time until which it was, if it is shown.

    A one-sentence reply to such a statement is about it, even if it repeats none of its words.
    """
    ended: dict[UUID | None, datetime | None] = {}
    holds: set[UUID | None] = set()
    for hit, left in zip(hits, texts, strict=True):
        if hit.turn_id is None or hit.memory_id is not None or hit.role != "user":
            continue
        if left is None or left.until:
            ended[hit.turn_id] = left.until if left else None
        else:
            holds.add(hit.turn_id)
    return {turn: until for turn, until in ended.items() if turn not in holds}


def list_end_times(changes: PendingChanges, hit: Hit) -> set[datetime]:
    """When the statements in the turn of the hit ceased to be valid. Messages of the user at these times ended them."""
    if hit.memory_id:
        return set()
    untils = [
        each.get("until") for each in (*hit.ended, *changes.of_turn(hit.turn_id), *_list_retractions(changes, hit))
    ]
    moments = {each if isinstance(each, datetime) else datetime.fromisoformat(each) for each in untils if each}
    until = changes.outdated.ended_at(hit.text, hit.said_at, hit.role, hit.turn_id, hit.name)
    return moments | ({until} if until else set())


def make_key(hit: Hit) -> str:
    return f"memory:{hit.memory_id}" if hit.memory_id else f"turn:{hit.turn_id}:{hit.ordinal}"


def _find_current_memory(changes: PendingChanges, hit: Hit, *, past: bool) -> CurrentText | None:
    """The memory if it is valid. An event ends with what it led to: having moved to a city, with living there."""
    if changes.hides(hit.memory_id, hit.turn_id, hit.text):
        return None
    until = changes.outdated.ended_at(hit.text, hit.valid_at) if hit.type == "event" else None
    if until is None:
        return CurrentText(hit.text)
    return CurrentText(hit.text, until=until) if past and until < NEVER else None


def _find_current_message(changes: PendingChanges, hit: Hit, *, past: bool) -> CurrentText | None:
    ended = [*hit.ended, *changes.of_turn(hit.turn_id), *_list_retractions(changes, hit)]
    left = keep_what_holds(hit.text, hit.ordinal, ended, hit.media or (), past=past)
    if left is None or left.until:
        return left
    until = changes.outdated.ended_at(left.text, hit.said_at, hit.role, hit.turn_id, hit.name)
    if until is None:
        return left
    return replace(left, until=until) if past and until < NEVER else None


def _list_retractions(changes: PendingChanges, hit: Hit) -> list[dict[str, Any]]:
    """The parts of the message that the user took back in the same or the next message; then also the replies to it.

    A request to forget is one of them: it names what is to be gone.
    """
    of_user = hit.role == "user"
    gone: list[dict[str, Any]] = []
    if of_user:
        asked = [(each.start, each.end) for each in forget.find(hit.text)]
        gone = [{"span": span, "forgotten": True} for span in (*retractions.find_taken_back(hit.text), *asked)]
    if changes.taken_back and (taken := changes.taken_back.get(str(hit.turn_id))):
        span = retractions.last_sentence(hit.text) if of_user else (0, len(hit.text))
        gone.append({"span": span, "until": taken.until, "forgotten": taken.forgotten})
    return [{"ordinal": hit.ordinal, **each} for each in gone]


def is_evidence(hit: Hit, left: CurrentText) -> bool:
    """Whether it can be evidence: a memory of more than a name, or a message of more than `I see`."""
    if hit.memory_id is None:
        return says_something(left.text)
    text = fold(left.text.strip())
    named = hit.type == "entity" and hit.key is not None and hit.key.rpartition(":")[2] == text
    return bool(text) and not named


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
