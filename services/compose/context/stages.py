"""What each stage of a composition returns: load, plan, search, rank, resolve, package. None of it changes afterwards.

Replies, explanations and receipts are made from these results.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.evidence_pack import EvidencePack
from schemas.explain import Step
from schemas.retrieve import RetrieveRequest
from services.compose.rules.candidates import (
    Candidate,
    CandidateConflict,
    CoreMemory,
    HeldBack,
    ListOf,
    RankedCandidate,
)
from services.compose.rules.packing.draft import PackagedContext, UserMessageParts
from services.compose.rules.pending.pending_changes import NOTHING, PendingChanges
from services.compose.rules.planning.execute import ExecutablePlan
from services.compose.rules.planning.plan import Planned, points_back
from services.compose.rules.planning.subplan import SubPlan
from services.compose.rules.ranking.fuse import FusePolicy, FusionResult
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.knowledge.port import Scope
from shared.language.normalise import normalise
from shared.policy import PersonalDataPolicy
from shared.store.shown_memory import CoreMemoryRow

Status = Literal["ok", "timeout", "failed", "skipped"]
Planner = Literal["rules", "model"]
ROUTING = "experiment_context.dimensions.brain_routing"
"""The field in which an experiment asks for a planner."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request that is answered: whose it is, as of when, and until when the answer is wanted."""

    subject: Subject
    request_id: str
    at: datetime
    began: float
    ends: float

    def left_s(self) -> float:
        """Seconds until the deadline."""
        return self.ends - time.perf_counter()

    def took_ms(self) -> float:
        """Milliseconds since it began."""
        return (time.perf_counter() - self.began) * 1000


@dataclass(frozen=True, slots=True)
class ArmReport:
    """How one arm did."""

    name: str
    status: Status
    count: int = 0
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class StageReport:
    """How a stage did: its arms, what could not be had, what of the request was not honoured, and notes."""

    arms: tuple[ArmReport, ...] = ()
    degraded: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


NOTHING_TO_REPORT = StageReport()


def join_reports(reports: Iterable[StageReport]) -> StageReport:
    """All of them as one, in their order."""
    each = tuple(reports)
    return StageReport(
        tuple(arm for one in each for arm in one.arms),
        tuple(reason for one in each for reason in one.degraded),
        tuple(name for one in each for name in one.ignored),
        tuple(note for one in each for note in one.notes),
    )


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What was said since memory was settled, and ends part of it; for whom knowledge is asked, and at which version.

    `epoch` is the user's when it was read: after an erasure nothing of this is recorded any more.
    """

    changes: PendingChanges
    scope: Scope
    knowledge: int
    epoch: int


@dataclass(frozen=True, slots=True)
class ComposeState:
    """What every package starts from; `hidden` names the core memories that what was said since ends."""

    core: Sequence[CoreMemoryRow]
    summary: str
    names: Sequence[str]
    window: Sequence[Turn]
    earlier: Sequence[Turn]
    """The window less the message that is being answered, which may be stored already."""
    shown: frozenset[str]
    """The turns of it that the package shows in full."""
    memory: MemoryState
    hidden: tuple[str, ...]
    parts: UserMessageParts
    """The message being answered, its media looked up and safe, as the package carries it."""
    question: str
    """The same as it is planned and searched with."""
    joined: Sequence[tuple[str, str]]
    """Pairs of names that the user has said to be one's."""


@dataclass(frozen=True, slots=True)
class PlanningResult:
    """A plan, and who was to make it."""

    planned: Planned
    planner: Planner = "rules"
    report: StageReport = NOTHING_TO_REPORT

    def question(self, message: str) -> str:
        """The message, with what it is about where it only points back to that: what a reranker is to compare with."""
        others = [each.text for each in self.planned.plan.queries[1:] if each.mode not in ("exact", "relational")]
        return f"{message} ({others[0]})" if others and points_back(normalise(message)) else message


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is searched for, in memory and in knowledge, which is asked nothing where `knowledge` is None.

    `shown` are the turns that the package shows anyway, `hidden` the memories that it would show and that have ended.
    """

    run: ExecutablePlan
    memory: MemoryState
    knowledge: SubPlan | None = None
    shown: frozenset[str] = frozenset()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """All that the arms brought, in ranked lists that have weights, and the keys of what no longer holds.

    `pending` are those of the candidates that were said and not yet learnt: they stand before all the others.
    """

    candidates: Sequence[Candidate] = ()
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    lists: Mapping[str, ListOf] = field(default_factory=dict[str, ListOf])
    served: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    stale: tuple[str, ...] = ()
    changes: PendingChanges = NOTHING
    pending: Sequence[Candidate] = ()
    report: StageReport = NOTHING_TO_REPORT


@dataclass(frozen=True, slots=True)
class RankingResult:
    """The candidates in one order, the policy that made it, and the reranker that had a say in it, if one had.

    `core` is the core memory that the package carries whatever was found.
    """

    policy: FusePolicy
    fused: FusionResult
    core: Sequence[CoreMemory] = ()
    reranked: str | bool = False
    report: StageReport = NOTHING_TO_REPORT


@dataclass(frozen=True, slots=True)
class ResolutionResult:
    """The order without what has been replaced or is about somebody else, and what of it may be packed.

    `held_back` is what of a plan's finds is not shown; a package holds texts back itself.
    """

    fused: FusionResult
    evidence: Sequence[RankedCandidate] = ()
    core: Sequence[CoreMemory] = ()
    conflicts: Sequence[CandidateConflict] = ()
    held_back: Sequence[HeldBack] = ()


def report_package(planning: PlanningResult, search: SearchResult, ranking: RankingResult) -> StageReport:
    """How all stages did; what the planner ignored is named after what the search did."""
    ignored = (*search.report.ignored, *planning.report.ignored, *ranking.report.ignored)
    return replace(join_reports((planning.report, search.report, ranking.report)), ignored=ignored)


STEPS: tuple[Step, ...] = get_args(Step)


@dataclass(frozen=True, slots=True)
class Composition:
    """A package as it is answered, and its way there; `took_ms` ends before the package is written as JSON."""

    request: ComposeRequest
    package: ContextPackage
    planning: PlanningResult
    wanted: SearchRequest
    search: SearchResult
    ranking: RankingResult
    resolution: ResolutionResult
    packaged: PackagedContext
    report: StageReport
    took_ms: float
    epoch: int
    """The user's when it was begun: after an erasure it is not recorded any more."""
    ended: tuple[float, ...]
    """When it began, and when each of STEPS had ended."""
    personal: PersonalDataPolicy
    """What of the user's personal data may be recorded in clear."""

    @property
    def session(self) -> tuple[Subject, str]:
        """Whose it is, and in which session it stands."""
        return Subject(self.request.tenant_id, self.request.user_id), self.request.session_id


@dataclass(frozen=True, slots=True)
class PlanExecution:
    """What a plan that was given has found; `epoch` as of a package."""

    request: RetrieveRequest
    pack: EvidencePack
    epoch: int
    personal: PersonalDataPolicy

    @property
    def session(self) -> tuple[Subject, str]:
        """As of a package; a plan that was given stands in none."""
        return Subject(self.request.tenant_id, self.request.user_id), ""
