"""The proposed change for a statement, its reason, and the cases in which the rules are in doubt. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from schemas.vocabulary import ProposalAction, Provenance
from shared.domain.statements import ActiveMemory, Relation, Statement
from shared.policy import AnalysisPolicy, ConfidencePolicy
from shared.resolution.related import may_be_same
from shared.resolution.resolve import (
    APART,
    Comparison,
    Comparisons,
    Confirm,
    Operation,
    Retract,
    Verdict,
    Write,
    doubtful,
    reads,
)

NEAR = 0.6
"""Cosine from which a memory is read beside a statement though they share no word."""


@dataclass(frozen=True, slots=True)
class Advice:
    """A verdict on one memory, and by whom."""

    memory_id: UUID
    verdict: Verdict
    by: Literal["model", "vector"]


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """What should become of a statement, of which memory, and by which signs; `evidence` holds no text."""

    action: ProposalAction
    target: ActiveMemory | None
    provenance: Provenance
    confidence: float
    reason: str
    evidence: dict[str, Any]


def propose(
    new: Statement, weighed: Comparisons, policy: ConfidencePolicy, advice: Iterable[Advice] = ()
) -> ProposedChange:
    """What the evolver will do if nothing changes until then; several memories that end are a merge."""
    standing = policy.level_of(new.assertion, new.flags)
    plain = (standing.provenance, min(new.confidence, standing.cap))
    evidence = _evidence(weighed, advice)
    match weighed.operation:
        case Write(relation=relation, ends=ends):
            action: ProposalAction = "merge" if len(ends) > 1 else "supersede" if ends else "create"
            return ProposedChange(
                action, ends[0] if ends else None, *decide_provenance(relation), relation.reason, evidence
            )
        case Confirm(relation=relation, target=target):
            return ProposedChange("confirm", target, *decide_provenance(relation), relation.reason, evidence)
        case Retract(targets=targets, reason=reason):
            return ProposedChange("retract", targets[0], *plain, reason, evidence)
        case rejected:
            action = "ask" if rejected.action == "ask" else "skip"
            return ProposedChange(action, rejected.held, *plain, rejected.reason, evidence)


def decide_provenance(relation: Relation) -> tuple[Provenance, float]:
    return relation.provenance, relation.confidence


def _evidence(weighed: Comparisons, advised: Iterable[Advice]) -> dict[str, Any]:
    evidence: dict[str, Any] = {"sign": weighed.sign, "compared": len(weighed.beside)}
    if ends := list_ended(weighed.operation):
        evidence["memory_ids"] = [str(memory.memory_id) for memory in ends]
    if closest := _closest(weighed):
        odds = closest.said
        shares = {"ends": round(odds.ends, 3), "same": round(odds.same, 3), "both": round(odds.both, 3)}
        evidence["closest"] = {"memory_id": str(closest.known.memory_id), **shares}
    if advice := [{"memory_id": str(each.memory_id), "verdict": each.verdict, "by": each.by} for each in advised]:
        evidence["advice"] = advice
    return evidence


def list_ended(operation: Operation) -> Sequence[ActiveMemory]:
    match operation:
        case Write(ends=ends):
            return ends
        case Retract(targets=targets):
            return targets
        case _:
            return ()


def _closest(weighed: Comparisons) -> Comparison | None:
    """What decided, or came nearest to it."""
    return max(weighed.beside, key=lambda each: max(each.said.ends, each.said.same), default=None)


def is_undecided(new: Statement, weighed: Comparisons) -> bool:
    """Whether neither key nor words nor meaning lead to a memory, and somebody else may be asked."""
    told = reads(new) and new.type not in APART and "self_benefit" not in new.flags
    return told and weighed.sign == "none"


def by_vector(new: Statement, memory: ActiveMemory, cosine: float, policy: AnalysisPolicy) -> Advice | None:
    """What a cosine says: the same from the threshold on, where nothing in the words speaks against it."""
    if cosine < min(NEAR, policy.similarity):
        return None
    same = cosine >= policy.similarity and memory.polarity * new.polarity >= 0 and may_be_same(memory.told, new.quote)
    return Advice(memory.memory_id, "same" if same else "near", "vector")


def doubts(new: Statement, weighed: Comparisons, told: Iterable[Advice], policy: AnalysisPolicy) -> list[ActiveMemory]:
    """The memories that a model is to judge, likeliest first; none where the rules are in no doubt."""
    near = {each.memory_id for each in told}
    if not is_undecided(new, weighed) or not any(doubtful(new, each, policy.doubt_low) for each in weighed.beside):
        return []
    shown = [each for each in weighed.beside if doubtful(new, each, policy.doubt_low) or each.known.memory_id in near]
    shown.sort(key=lambda each: max(each.said.ends, each.said.same), reverse=True)
    return [each.known for each in shown]
