"""The analysis of one statement: the proposed change, its reason, and whether the rules are in doubt. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from schemas.vocabulary import ProposalAction, Provenance
from shared.domain.observations import ObservationRow
from shared.domain.statements import ActiveMemory, Statement, to_indexed_text, topic_of
from shared.policy import AnalysisPolicy, ConfidencePolicy, Policy
from shared.resolution.operations import Comparison, Comparisons, Confirm, Operation, Retract, Verdict, Write
from shared.resolution.related import may_be_same
from shared.resolution.resolve import APART, doubtful, reads, weigh

NEAR = 0.6
"""The cosine from which a memory is compared with a statement, even if they share no word."""


@dataclass(frozen=True, slots=True)
class Advice:
    """A verdict on one memory, and its source."""

    memory_id: UUID
    verdict: Verdict
    by: Literal["model", "vector"]


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """The change that a statement should cause, its target, and the signs for it; `evidence` contains no text."""

    action: ProposalAction
    target: ActiveMemory | None
    provenance: Provenance
    confidence: float
    reason: str
    evidence: dict[str, Any]


@dataclass
class StatementAnalysis:
    """A statement, its comparison with the known memories, and the advice of models about them."""

    observation: ObservationRow
    statement: Statement
    known: Sequence[ActiveMemory]
    policy: Policy
    advice: dict[UUID, Advice] = field(default_factory=dict[UUID, Advice])
    unavailable: list[str] = field(default_factory=list[str])
    """Why a model gave no advice."""
    answered_by: tuple[str, str] | None = None
    """The model that answered, and the version of the question."""

    def __post_init__(self) -> None:
        self.comparisons = self._compare()

    def add_advice(self, advice: Sequence[Advice], more: Sequence[ActiveMemory] = ()) -> None:
        """Takes these verdicts into account, except those on memories that the statement cannot concern."""
        self.known = [*self.known, *more]
        self.advice |= {each.memory_id: each for each in advice}
        self.comparisons = self._compare()
        compared = {each.known.memory_id for each in self.comparisons.beside}
        self.advice = {memory_id: each for memory_id, each in self.advice.items() if memory_id in compared}

    def _compare(self) -> Comparisons:
        verdicts: dict[UUID, Verdict] = {memory_id: each.verdict for memory_id, each in self.advice.items()}
        return weigh(self.statement, self.known, self.policy.confidence, verdicts)

    @property
    def undecided(self) -> bool:
        """Whether neither the rules nor the advice lead to a memory."""
        return is_undecided(self.statement, self.comparisons)

    @property
    def indexed_text(self) -> str:
        """The statement as search would index its memory."""
        seen = self.observation
        level = self.policy.confidence.level_of(seen.assertion, seen.flags)
        label = "confirmed" if level.provenance == "confirmed_by_user" else level.provenance
        return to_indexed_text(seen.kind, topic_of(seen.key), f"{seen.said_at:%Y-%m}", label, seen.text, seen.language)

    def to_proposal(self) -> ProposedChange:
        """The change that the statement should cause."""
        change = propose(self.statement, self.comparisons, self.policy.confidence, self.advice.values())
        more: dict[str, Any] = {"without": self.unavailable} if self.unavailable else {}
        if self.answered_by:
            model, version = self.answered_by
            more |= {"model": model, "prompt": version}
        return replace(change, evidence={**change.evidence, **more})


def propose(
    new: Statement, comparisons: Comparisons, policy: ConfidencePolicy, advice: Iterable[Advice] = ()
) -> ProposedChange:
    """The change that the evolver will make if nothing changes before; several memories that end are a merge."""
    level = policy.level_of(new.assertion, new.flags)
    plain = (level.provenance, min(new.confidence, level.cap))
    evidence = _evidence(comparisons, advice)
    match comparisons.operation:
        case Write(relation=relation, ends=ends):
            action: ProposalAction = "merge" if len(ends) > 1 else "supersede" if ends else "create"
            return ProposedChange(
                action, ends[0] if ends else None, relation.provenance, relation.confidence, relation.reason, evidence
            )
        case Confirm(relation=relation, target=target):
            return ProposedChange(
                "confirm", target, relation.provenance, relation.confidence, relation.reason, evidence
            )
        case Retract(targets=targets, reason=reason):
            return ProposedChange("retract", targets[0], *plain, reason, evidence)
        case rejected:
            action = "ask" if rejected.action == "ask" else "skip"
            return ProposedChange(action, rejected.held, *plain, rejected.reason, evidence)


def _evidence(comparisons: Comparisons, advice: Iterable[Advice]) -> dict[str, Any]:
    evidence: dict[str, Any] = {"sign": comparisons.sign, "compared": len(comparisons.beside)}
    if ends := list_ended(comparisons.operation):
        evidence["memory_ids"] = [str(memory.memory_id) for memory in ends]
    if closest := _find_closest(comparisons):
        odds = closest.said
        shares = {"ends": round(odds.ends, 3), "same": round(odds.same, 3), "both": round(odds.both, 3)}
        evidence["closest"] = {"memory_id": str(closest.known.memory_id), **shares}
    if given := [{"memory_id": str(each.memory_id), "verdict": each.verdict, "by": each.by} for each in advice]:
        evidence["advice"] = given
    return evidence


def list_ended(operation: Operation) -> Sequence[ActiveMemory]:
    """The memories that the operation ends."""
    match operation:
        case Write(ends=ends):
            return ends
        case Retract(targets=targets):
            return targets
        case _:
            return ()


def _find_closest(comparisons: Comparisons) -> Comparison | None:
    """The comparison that decided, or came nearest to it."""
    return max(comparisons.beside, key=lambda each: max(each.said.ends, each.said.same), default=None)


def is_undecided(new: Statement, comparisons: Comparisons) -> bool:
    """Whether neither key nor words nor meaning lead to a memory, so that a model may be asked."""
    may_ask = reads(new) and new.type not in APART and "self_benefit" not in new.flags
    return may_ask and comparisons.sign == "none"


def judge_vector(new: Statement, memory: ActiveMemory, cosine: float, policy: AnalysisPolicy) -> Advice | None:
    """The verdict of a cosine: the same from the threshold on, if the words do not contradict it."""
    if cosine < min(NEAR, policy.similarity):
        return None
    same = cosine >= policy.similarity and memory.polarity * new.polarity >= 0 and may_be_same(memory.told, new.quote)
    return Advice(memory.memory_id, "same" if same else "near", "vector")


def list_doubtful(
    new: Statement, comparisons: Comparisons, advice: Iterable[Advice], policy: AnalysisPolicy
) -> list[ActiveMemory]:
    """The memories that a model should judge, most likely first; none if the rules are not in doubt."""
    near = {each.memory_id for each in advice}
    if not is_undecided(new, comparisons) or not any(
        doubtful(new, each, policy.doubt_low) for each in comparisons.beside
    ):
        return []
    shown = [
        each for each in comparisons.beside if doubtful(new, each, policy.doubt_low) or each.known.memory_id in near
    ]
    shown.sort(key=lambda each: max(each.said.ends, each.said.same), reverse=True)
    return [each.known for each in shown]
