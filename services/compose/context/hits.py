"""What the arms found: candidates with their places in every ranked list, and what could not be had."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from schemas.vocabulary import SearchMode
from services.compose.rules.candidates import Candidate, ListOf, weigh_odds
from services.compose.rules.pending.pending_changes import NOTHING, PendingChanges
from services.compose.rules.ranking.signals import frequency
from services.compose.rules.ranking.weigh import SignalScores
from services.compose.rules.resolving import outdated
from services.compose.rules.resolving.current import CurrentText, join_pieces, keep_what_holds
from services.compose.rules.searching.bm25 import Floats
from shared.extraction import retractions
from shared.language.normalise import fold
from shared.language.replies import says_something
from shared.store.search import Hit

Status = Literal["ok", "timeout", "failed", "skipped"]


@dataclass(frozen=True)
class ArmReport:
    """How one arm did."""

    name: str
    status: Status
    count: int = 0
    took_ms: float = 0.0


@dataclass
class SearchResult:
    """All that the arms brought, with their weights, and what could not be had."""

    candidates: list[Candidate] = field(default_factory=list[Candidate])
    weights: dict[str, float] = field(default_factory=dict[str, float])
    arms: list[ArmReport] = field(default_factory=list[ArmReport])
    degraded: list[str] = field(default_factory=list[str])
    ignored: list[str] = field(default_factory=list[str])
    stale: list[str] = field(default_factory=list[str])
    stale_answers: set[str] = field(default_factory=set[str])
    """Those of the stale that would have been answers: what ended them is one."""
    lists: dict[str, ListOf] = field(default_factory=dict[str, ListOf])
    served: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    overlay: PendingChanges = NOTHING
    reranked: str | bool = False
    notes: list[str] = field(default_factory=list[str])

    def put_first(self, candidates: Sequence[Candidate], arm: str) -> None:
        """These stand before all that was found: the arm weighs more than all the others."""
        if candidates:
            self.candidates += candidates
            self.weights[arm] = 1.0 + sum(self.weights.values())


@dataclass(frozen=True)
class RankedList:
    """One ranked list that an arm brings: `all#1` is what the second query that ran found, by words and by meaning."""

    name: str
    weight: float
    mode: SearchMode
    of: int = 0


LINKED = 0.4
"""How likely the first of what is linked with a name that is asked about helps; the second half as much, and so on."""
NO_LIST = RankedList("", 0.0, "hybrid")


@dataclass(slots=True)
class ListPlacement:
    """Where a chunk stands in every list that has it; `best` is the list where it stands highest."""

    best: RankedList
    place: int
    ranks: dict[str, int] = field(default_factory=dict[str, int])
    scores: dict[str, float] = field(default_factory=dict[str, float])
    probability: float = 0.0
    of_part: bool = False


def note(found: SearchResult, brings: RankedList) -> None:
    """The list counts, whatever it will hold."""
    found.weights[brings.name] = brings.weight
    found.lists[brings.name] = ListOf(brings.of, brings.mode)


def drop_stale_hits(found: SearchResult, hits: Sequence[Hit], *, past: bool = False) -> list[tuple[Hit, CurrentText]]:
    """The hits that still hold, with what of each may be shown; with `past` those too that held once, so marked."""
    read = [(_memory if hit.memory_id else _message)(found.overlay, hit, past=past) for hit in hits]
    over = _ended_turns(hits, read)
    kept: list[tuple[Hit, CurrentText]] = []
    for hit, said in zip(hits, read, strict=True):
        left = said
        if left and hit.turn_id in over and hit.role == "assistant" and outdated.says_one_thing(left.text):
            until = over.get(hit.turn_id)
            left = replace(left, until=left.until or until) if until else None
        if left is None:
            found.stale.append(key_of(hit))
        else:
            kept.append((hit, left))
    return kept


def _ended_turns(hits: Sequence[Hit], read: Sequence[CurrentText | None]) -> Mapping[UUID | None, datetime | None]:
    """The turns of which nothing that the user said holds any more, and until when it held where that is shown.

    A reply of one sentence to such words speaks of them, whether it repeats them or not.
    """
    ended: dict[UUID | None, datetime | None] = {}
    holds: set[UUID | None] = set()
    for hit, left in zip(hits, read, strict=True):
        if hit.turn_id is None or hit.memory_id is not None or hit.role != "user":
            continue
        if left is None or left.until:
            ended[hit.turn_id] = left.until if left else None
        else:
            holds.add(hit.turn_id)
    return {turn: until for turn, until in ended.items() if turn not in holds}


def end_moments(overlay: PendingChanges, hit: Hit) -> set[datetime]:
    """When what was said in the turn of the hit ceased to hold: whoever spoke then ended it."""
    if hit.memory_id:
        return set()
    untils = [each.get("until") for each in (*hit.ended, *overlay.of_turn(hit.turn_id), *_taken_back(overlay, hit))]
    moments = {each if isinstance(each, datetime) else datetime.fromisoformat(each) for each in untils if each}
    until = overlay.outdated.ended_at(hit.text, hit.said_at, hit.role, hit.turn_id, hit.name)
    return moments | ({until} if until else set())


def key_of(hit: Hit) -> str:
    """The key that a candidate of this hit has."""
    return f"memory:{hit.memory_id}" if hit.memory_id else f"turn:{hit.turn_id}:{hit.ordinal}"


def _memory(overlay: PendingChanges, hit: Hit, *, past: bool) -> CurrentText | None:
    """The memory that stands; what happened is over with what it led to: having moved somewhere, with living there."""
    if overlay.hides(hit.memory_id, hit.turn_id, hit.text):
        return None
    until = overlay.outdated.ended_at(hit.text, hit.valid_at) if hit.type == "event" else None
    if until is None:
        return CurrentText(hit.text)
    return CurrentText(hit.text, until=until) if past else None


def _message(overlay: PendingChanges, hit: Hit, *, past: bool) -> CurrentText | None:
    ended = [*hit.ended, *overlay.of_turn(hit.turn_id), *_taken_back(overlay, hit)]
    left = keep_what_holds(hit.text, hit.ordinal, ended, hit.media or (), past=past)
    if left is None or left.until:
        return left
    until = overlay.outdated.ended_at(left.text, hit.said_at, hit.role, hit.turn_id, hit.name)
    if until is None:
        return left
    return replace(left, until=until) if past else None


def _taken_back(overlay: PendingChanges, hit: Hit) -> list[dict[str, Any]]:
    """What of the message its user took back: in the message itself, or in the next; then the replies to it too."""
    of_user = hit.role == "user"
    gone: list[dict[str, Any]] = []
    if of_user:
        gone = [{"span": span, "forgotten": True} for span in retractions.find_taken_back(hit.text)]
    if overlay.taken_back and (taken := overlay.taken_back.get(str(hit.turn_id))):
        span = retractions.last_sentence(hit.text) if of_user else (0, len(hit.text))
        gone.append({"span": span, "until": taken.until, "forgotten": taken.forgotten})
    return [{"ordinal": hit.ordinal, **each} for each in gone]


def tells(hit: Hit, left: CurrentText) -> bool:
    """Whether it can be evidence: a memory that is more than a name, a message that says more than `I see`."""
    if hit.memory_id is None:
        return says_something(left.text)
    text = fold(left.text.strip())
    named = hit.type == "entity" and hit.key is not None and hit.key.rpartition(":")[2] == text
    return bool(text) and not named


def take_linked(found: SearchResult, brings: RankedList, hits: Sequence[Hit], *, past: bool = False) -> None:
    """The hits in their order, as a list of its own."""
    note(found, brings)
    current = drop_stale_hits(found, hits, past=past)
    found.stale_answers |= {key_of(hit) for hit in hits} - {key_of(hit) for hit, _ in current}
    telling = [each for each in current if tells(*each)]
    for rank, (hit, left) in enumerate(telling, 1):
        standing = ListPlacement(brings, rank, {brings.name: rank}, {brings.name: hit.score}, LINKED / rank)
        found.candidates.append(candidate(hit, left, standing))


def stand(
    standings: dict[int, ListPlacement],
    n: int,
    brings: RankedList,
    scored: SignalScores,
    order: Sequence[int],
    places: Sequence[int],
    least_of_part: float = math.inf,
) -> None:
    """The query's list by all signals; the ranks by words and by meaning alone are shown and count no more.

    `places` says where what was scored stands among all finds. From `least_of_part` on a find answers this part of a
    question, however likely others answer other parts.
    """
    alone = {
        name: (ranks_of(scores), scores)
        for name, scores in ((f"text#{n}", scored.words), (f"vector#{n}", scored.meaning))
        if scores.any()
    }
    for rank, at in enumerate(order, 1):
        standing = standings.setdefault(places[at], ListPlacement(brings, rank))
        if (rank, -brings.weight) < (standing.place, -standing.best.weight):
            standing.best, standing.place = brings, rank
        standing.ranks[brings.name], standing.scores[brings.name] = rank, float(scored.total[at])
        chance = weigh_odds(float(scored.probability[at]), brings.weight)
        standing.probability = max(standing.probability, chance)
        standing.of_part = standing.of_part or chance >= least_of_part
        for name, (ranks, scores) in alone.items():
            if scores[at] > 0:
                standing.ranks[name], standing.scores[name] = int(ranks[at]), round(float(scores[at]), 6)


def ranks_of(scores: Floats) -> NDArray[np.intp]:
    """The place of each from 1, the greatest first."""
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def candidate(hit: Hit, left: CurrentText, standing: ListPlacement) -> Candidate:
    """The hit as fusing reads it, with its ranks and scores in the lists that have it."""
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
        frequency=frequency(hit.injection_count, hit.positive_count, hit.correction_count, hit.miss_count),
        arm_ranks=standing.ranks,
        arm_scores=standing.scores,
        probability=standing.probability,
        of_part=standing.of_part,
        mode=standing.best.mode,
        query=standing.best.of,
        language=hit.language,  # pyright: ignore[reportArgumentType] # the table holds what detect says
        original=hit.text,
        recognized=left.recognized,
        until=left.until,
    )
