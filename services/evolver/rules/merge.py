"""Which memories are merged, and the confidence of the result. Pure."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from uuid import UUID

from schemas.vocabulary import Assertion, Epistemic, MemoryType, Provenance
from services.evolver.rules.alike import ComparedText, likeness, may_be_merged, read
from shared.domain.statements import RANK, candidate_id
from shared.policy import ConfidencePolicy, EvolutionPolicy

Pair = frozenset[UUID]


@dataclass(frozen=True, slots=True)
class MergeCandidate:
    """An active memory for consolidation; `model` is that of its vector, if any, `day` the day of its event."""

    memory_id: UUID
    type: MemoryType
    key: str | None
    text: str
    polarity: int
    epistemic: Epistemic
    speaker: str | None
    provenance: Provenance
    assertion: Assertion
    confidence: float
    model: str | None = None
    day: str | None = None


def groups(
    candidates: Sequence[MergeCandidate], near: Collection[Pair], policy: EvolutionPolicy
) -> list[tuple[UUID, ...]]:
    """The disjoint sets of at least `consolidate_least` memories that are pairwise alike, oldest first.

    `near` contains the pairs with near vectors. If one of two has no vector of the other's model, words decide, and
    then only between memories without a key.
    """
    by_kind: dict[object, list[MergeCandidate]] = {}
    read_as = {each.memory_id: read(each.text) for each in candidates}
    for each in candidates:
        marks = read_as[each.memory_id].marks
        by_kind.setdefault((each.type, each.polarity, each.epistemic, each.speaker, each.day, marks), []).append(each)
    sets: list[tuple[UUID, ...]] = []
    for kind in by_kind.values():
        sets += _of_kind(kind, read_as, near, policy)
    return sets


def _of_kind(
    kind: Sequence[MergeCandidate],
    read_as: Mapping[UUID, ComparedText],
    near: Collection[Pair],
    policy: EvolutionPolicy,
) -> list[tuple[UUID, ...]]:
    beside: dict[UUID, set[UUID]] = {each.memory_id: set() for each in kind}
    for at, one in enumerate(kind):
        for other in kind[at + 1 :]:
            if says_the_same(one, other, read_as, near, policy.consolidate_similarity):
                beside[one.memory_id].add(other.memory_id)
                beside[other.memory_id].add(one.memory_id)
    sets: list[tuple[UUID, ...]] = []
    taken: set[UUID] = set()
    for each in kind:
        group = [each]
        for other in kind if each.memory_id not in taken else ():
            fits = other.memory_id not in taken and all(other.memory_id in beside[m.memory_id] for m in group)
            if fits and len({m.key for m in (*group, other) if m.key}) <= 1:
                group.append(other)
        group = drop_leader(group)
        if len(group) >= policy.consolidate_least:
            taken |= {m.memory_id for m in group}
            sets.append(tuple(m.memory_id for m in group))
    return sets


def drop_leader(group: Sequence[MergeCandidate]) -> list[MergeCandidate]:
    """The group without the memory that has a key, if a stronger one has none: the text of the key
    would rise with it.
    """
    best = max(RANK[m.provenance] for m in group)
    return [m for m in group if m.key is None or RANK[m.provenance] == best]


def says_the_same(
    one: MergeCandidate,
    other: MergeCandidate,
    read_as: Mapping[UUID, ComparedText],
    near: Collection[Pair],
    least: float,
) -> bool:
    if one.key and other.key:
        return False
    a, b = read_as[one.memory_id], read_as[other.memory_id]
    if one.model is not None and one.model == other.model:
        return frozenset((one.memory_id, other.memory_id)) in near and may_be_merged(a, b)
    return not (one.key or other.key) and likeness(a, b) > least and may_be_merged(a, b)


@dataclass(frozen=True, slots=True)
class MergedMemory:
    """The merged memory: the source of its text, and its statistics."""

    memory_id: UUID
    speaks: UUID
    provenance: Provenance
    assertion: Assertion
    confidence: float


def merge_memories(candidates: Sequence[MergeCandidate], policy: ConfidencePolicy) -> MergedMemory:
    """It has the best provenance of the set, at least analysis, and the most informative text with that provenance.

    No text gets a higher provenance than its own: a weaker one may say more and is still not confirmed.
    """
    best = max(candidates, key=lambda v: RANK[v.provenance])
    keyed = [v for v in candidates if v.key]
    strong = keyed or [v for v in candidates if RANK[v.provenance] == RANK[best.provenance]]
    speaks = max(strong, key=lambda v: (len(read(v.text).words), len(v.text), v.memory_id))
    raised = RANK[best.provenance] > RANK["analysis"]
    provenance: Provenance = best.provenance if raised else "analysis"
    assertion: Assertion = best.assertion if raised else "behaviour"
    together = 1 - prod(1 - v.confidence for v in candidates)
    confidence = round(min(together, policy.provenance_cap(provenance)), 4)
    return MergedMemory(
        merged_id([v.memory_id for v in candidates]), speaks.memory_id, provenance, assertion, confidence
    )


def merged_id(ids: Sequence[UUID]) -> UUID:
    """The id of the merged memory: the same for the same set, in any order."""
    ordered = sorted(ids)
    return candidate_id(ordered[-1], "merged:" + hashlib.sha256(b"".join(i.bytes for i in ordered)).hexdigest())
