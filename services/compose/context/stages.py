"""The frozen result of each step of a composition. Replies, explanations and receipts are made from these."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.evidence_pack import EvidencePack
from schemas.explain import Step
from schemas.retrieval_plan import RetrieveRequest
from schemas.vocabulary import SearchMode
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
from services.compose.rules.planning.plan import ExecutablePlan, Planned
from services.compose.rules.planning.questions import points_back
from services.compose.rules.planning.subplan import SubPlan
from services.compose.rules.ranking.fuse import FusePolicy, FusionResult
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.knowledge.port import Scope
from shared.language.normalise import normalise
from shared.policy import PersonalDataPolicy
from shared.store.user_state import CoreMemoryRow

Status = Literal["ok", "timeout", "failed", "skipped"]
Planner = Literal["rules", "model"]
ROUTING = "experiment_context.dimensions.brain_routing"
"""The field in which an experiment asks for a planner."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request: its user, its time and its deadline."""

    subject: Subject
    request_id: str
    at: datetime
    began: float
    ends: float

    def left_s(self) -> float:
        return self.ends - time.perf_counter()

    def took_ms(self) -> float:
        """Milliseconds since the request began."""
        return (time.perf_counter() - self.began) * 1000


@dataclass(frozen=True, slots=True)
class ArmReport:
    """The result of one arm."""

    name: str
    status: Status
    count: int = 0
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class StageReport:
    """The report of a step: its arms, what failed, which fields were ignored, and notes."""

    arms: tuple[ArmReport, ...] = ()
    degraded: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


NOTHING_TO_REPORT = StageReport()


def join_reports(reports: Iterable[StageReport]) -> StageReport:
    each = tuple(reports)
    return StageReport(
        tuple(arm for one in each for arm in one.arms),
        tuple(reason for one in each for reason in one.degraded),
        tuple(name for one in each for name in one.ignored),
        tuple(note for one in each for note in one.notes),
    )


@dataclass(frozen=True, slots=True)
class SearchPart:
    """The result of one part of a search.

    `stale` are the keys of hits that are no longer valid, `stale_answers` those among them that would have been
    answers: the message that ended them is one. `looked_at` counts the texts that were ranked.
    """

    candidates: Sequence[Candidate] = ()
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    lists: Mapping[str, ListOf] = field(default_factory=dict[str, ListOf])
    served: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    stale: Sequence[str] = ()
    stale_answers: frozenset[str] = frozenset()
    looked_at: int = 0
    report: StageReport = NOTHING_TO_REPORT


@dataclass(frozen=True)
class RankedList:
    """One ranked list of an arm. `all#1` holds what the second query found by words and by meaning."""

    name: str
    weight: float
    mode: SearchMode
    of: int = 0

    @property
    def owner(self) -> ListOf:
        """The query and mode of the list, for fusion."""
        return ListOf(self.of, self.mode)


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Pending changes to memory, the scope and version of knowledge, and the epoch of the user when it was read.

    After an erasure, which increments the epoch, nothing of this request is recorded.
    """

    changes: PendingChanges
    scope: Scope
    knowledge: int
    epoch: int


@dataclass(frozen=True, slots=True)
class ComposeState:
    """The initial state of a package; `hidden` are the core memories that pending statements end."""

    core: Sequence[CoreMemoryRow]
    summary: str
    names: Sequence[str]
    window: Sequence[Turn]
    earlier: Sequence[Turn]
    """The window without the message being answered, which may be stored already."""
    shown: frozenset[str]
    """The turns that the package shows in full."""
    memory: MemoryState
    hidden: tuple[str, ...]
    parts: UserMessageParts
    """The message being answered as the package carries it, with its media checked."""
    question: str
    """The text of the message for planning and search."""
    joined: Sequence[tuple[str, str]]
    """Pairs of names of the same person or thing."""


@dataclass(frozen=True, slots=True)
class PlanningResult:
    """A plan and its planner."""

    planned: Planned
    planner: Planner = "rules"
    report: StageReport = NOTHING_TO_REPORT

    def question(self, message: str) -> str:
        """The question for a reranker: the message, with its topic if it only points back."""
        others = [each.text for each in self.planned.plan.queries[1:] if each.mode not in ("exact", "relational")]
        return f"{message} ({others[0]})" if others and points_back(normalise(message)) else message


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The queries to memory and to knowledge (None: knowledge is not asked).

    `shown` are the turns that the package shows anyway, `hidden` the core memories that have ended.
    """

    run: ExecutablePlan
    memory: MemoryState
    knowledge: SubPlan | None = None
    shown: frozenset[str] = frozenset()
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The results of all arms, the weights of their lists, and the keys of what is no longer valid.

    `pending` are candidates from statements that are not settled yet; they come before all others.
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
    """The candidates in one order, with the policy and the reranker used, and the core memory of the package."""

    policy: FusePolicy
    fused: FusionResult
    core: Sequence[CoreMemory] = ()
    reranked: str | bool = False
    report: StageReport = NOTHING_TO_REPORT


@dataclass(frozen=True, slots=True)
class ResolutionResult:
    """The order without what was replaced or is about somebody else, and what of it may be packed.

    `held_back` are texts of a plan that are not shown; a package holds back its own.
    """

    fused: FusionResult
    evidence: Sequence[RankedCandidate] = ()
    core: Sequence[CoreMemory] = ()
    conflicts: Sequence[CandidateConflict] = ()
    held_back: Sequence[HeldBack] = ()


def report_package(planning: PlanningResult, search: SearchResult, ranking: RankingResult) -> StageReport:
    """Joins the reports of all steps; fields that the planner ignored follow those of the search."""
    ignored = (*search.report.ignored, *planning.report.ignored, *ranking.report.ignored)
    return replace(join_reports((planning.report, search.report, ranking.report)), ignored=ignored)


STEPS: tuple[Step, ...] = get_args(Step)


@dataclass(frozen=True, slots=True)
class Composition:
    """A package and how it was made; `took_ms` ends before the package is serialised."""

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
    """The epoch of the user at the start; after an erasure nothing is recorded."""
    ended: tuple[float, ...]
    """When it began, and when each of STEPS ended."""
    personal: PersonalDataPolicy
    """Which personal data may be recorded in clear."""

    @property
    def session(self) -> tuple[Subject, str]:
        return Subject(self.request.tenant_id, self.request.user_id), self.request.session_id


@dataclass(frozen=True, slots=True)
class PlanExecution:
    """The result of a given plan; `epoch` as in Composition."""

    request: RetrieveRequest
    pack: EvidencePack
    epoch: int
    personal: PersonalDataPolicy

    @property
    def session(self) -> tuple[Subject, str]:
        """As in Composition; a given plan belongs to no session."""
        return Subject(self.request.tenant_id, self.request.user_id), ""
