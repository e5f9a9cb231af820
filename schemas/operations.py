"""The house at work, for whoever operates it: ids, states and figures, and no word of a user."""

from datetime import date
from typing import Literal
from uuid import UUID

from schemas.base import Contract, Instant
from schemas.vocabulary import ErasureScope, FeedbackSignal, TombstoneStatus, UtilizationSignal


class UserView(Contract):
    """A user in figures: how much there is, and when they last said something."""

    tenant_id: str
    user_id: str
    sessions: int
    turns: int
    memories: int
    turns_open: int
    erasures_open: int
    last_at: Instant


class UserPage(Contract):
    """Users, whoever spoke last first."""

    users: tuple[UserView, ...]


class OutboxFlow(Contract):
    """Rows of one topic in the outbox: they wait for the relay, for their tenant, or were refused by the broker."""

    topic: str
    waiting: int
    held: int
    failed: int
    oldest_s: float


class GroupFlow(Contract):
    """How far a consumer group is behind its topic."""

    topic: str
    service: str
    group: str
    lag: int


class ConsumerFlow(Contract):
    """How many events a consumer has had within the last five minutes, and when the last."""

    consumer: str
    done: int
    last_at: Instant


class StageFlow(Contract):
    """Events that a stage gave up and about which nobody has done anything."""

    stage: str
    events: int
    last_at: Instant


class WorkFlow(Contract):
    """How many of what are at which stage; an overdue turn has waited for its outcome longer than is usual."""

    turns_unobserved: int
    turns_observed: int
    turns_overdue: int
    oldest_turn_s: float
    turns_committed_hour: int
    turns_settled_hour: int
    observations_new: int
    observations_analyzed: int
    proposals_new: int
    resources_pending: int
    promotions_pending: int
    erasures_open: int


class Flow(Contract):
    """What waits where. Work, outbox and what was given up are of whom was asked for; the rest is of the whole house.

    `groups` is null where the broker did not say; `services` has what is wrong with each.
    """

    at: Instant
    work: WorkFlow
    outbox: tuple[OutboxFlow, ...]
    groups: tuple[GroupFlow, ...] | None
    consumers: tuple[ConsumerFlow, ...]
    given_up: tuple[StageFlow, ...]
    services: dict[str, list[str]]


class SeriesMoment(Contract):
    """What happened within one step; latencies are null where nothing did, or from before they were kept."""

    at: Instant
    committed: int
    settled: int
    packages: int
    degraded: int
    settled_p50_s: float | None = None
    settled_p95_s: float | None = None
    package_p50_ms: float | None = None
    package_p95_ms: float | None = None


class TimeSeries(Contract):
    """Turns and packages over time, oldest first; the last step is not over yet."""

    minutes: int
    step_minutes: int
    moments: tuple[SeriesMoment, ...]


class AlertState(Contract):
    """An alert of deploy/prometheus/alerts.yml as tables tell it now: whether its figure is beyond its threshold.

    Prometheus also waits for `after`. `figure` null: nothing can be told of it now. `whole_house`: the figure is of all
    tenants, whoever was asked for.
    """

    name: str
    severity: Literal["page", "ticket"]
    firing: bool
    figure: float | None
    threshold: float
    after: str
    summary: str
    action: str
    runbook: str
    """The section of deploy/runbook.md."""
    whole_house: bool = False


class AlertPage(Contract):
    """Alerts that can be told without Prometheus, those that fire first."""

    at: Instant
    alerts: tuple[AlertState, ...]


class ErasureState(Contract):
    """How far an erasure of anybody is; `completed` is what has its proof."""

    tenant_id: str
    user_id: str
    tombstone_id: UUID
    scope: ErasureScope
    status: TombstoneStatus
    profile: str
    attempts: int
    requested_at: Instant
    deadline_at: Instant
    next_try_at: Instant
    escalated_at: Instant | None = None
    completed_at: Instant | None = None


class ErasureOverview(ErasureState):
    """An erasure of anybody: how much of its time is left (below 0: overdue), and whether its proof is there."""

    left_share: float
    level: Literal["none", "warn", "critical", "overdue"]
    proved: bool


class ErasureOverviews(Contract):
    """Erasures of all users, open ones first, by deadline."""

    erasures: tuple[ErasureOverview, ...]


class ModelUse(Contract):
    """What one model was asked for one purpose on one day (UTC); `cost` is null where no price is known of it.

    `unreadable`: answers that were of no use.
    """

    day: date
    model: str | None
    purpose: str
    calls: int
    tokens_in: int
    tokens_out: int
    seconds: float
    unreadable: int
    cost: float | None = None


class ModelUses(Contract):
    """What observer and analyzer asked models, newest day first, and what all of it cost as far as prices are known."""

    days: int
    uses: tuple[ModelUse, ...]
    cost: float | None = None
    currency: str


class ObservationStep(Contract):
    """An observation of a turn on its way: what the observer found, by which rule, and what became of it."""

    observation_id: UUID
    ordinal: int
    kind: str
    priority: str
    state: str
    detector: str
    pattern: str
    epistemic: str
    confidence: float
    reason: str | None = None
    related_memory_id: UUID | None = None
    created_at: Instant
    settled_at: Instant | None = None


class ProposalStep(Contract):
    """What the analyzer proposed for an observation, and whether the evolver did it."""

    proposal_id: UUID
    observation_id: UUID
    action: str
    target_memory_id: UUID | None = None
    type: str
    provenance: str
    confidence: float
    state: str
    created_at: Instant


class MemoryStep(Contract):
    """A version of a memory that came of the turn."""

    memory_id: UUID
    root_id: UUID
    version: int
    type: str
    status: str
    confidence: float
    provenance_class: str
    created_at: Instant
    updated_at: Instant


class PackageStep(Contract):
    """A package that the turn's answer was written with, and how it was received."""

    context_id: UUID
    created_at: Instant
    degraded: bool
    utilized: bool | None = None
    utilization_signal: UtilizationSignal | None = None
    feedback_signal: FeedbackSignal | None = None


class QuarantineStep(Contract):
    """An event of the turn that a worker gave up."""

    quarantine_id: UUID
    stage: str
    event_id: UUID
    created_at: Instant


class ResourceStep(Contract):
    """Something of the turn that went to knowledge, or not."""

    resource_id: UUID
    ref_type: str
    state: str
    attempts: int
    requested_at: Instant
    settled_at: Instant | None = None


class TurnStep(Contract):
    """One step of a turn and when it was: the next one that is missing is where it waits."""

    step: Literal["committed", "published", "observed", "analyzed", "evolved", "settled", "given_up"]
    at: Instant | None = None
    done: bool
    detail: str = ""


class TurnTrace(Contract):
    """A turn through every step: ids, states and times, and no word of it. `stands` is the step that it waits for."""

    tenant_id: str
    user_id: str
    turn_id: UUID
    session_id: str
    seq: int
    event_id: UUID
    trace_id: str
    policy_version: str
    context_id: UUID | None = None
    status: str | None = None
    erased: bool
    stands: str | None
    steps: tuple[TurnStep, ...]
    observations: tuple[ObservationStep, ...]
    proposals: tuple[ProposalStep, ...]
    memories: tuple[MemoryStep, ...]
    packages: tuple[PackageStep, ...]
    quarantine: tuple[QuarantineStep, ...]
    resources: tuple[ResourceStep, ...]
