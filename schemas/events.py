"""The payload of every event (model 4.4.1). One class an event type; the topic that carries it names it."""

from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import ConfigDict, Field

from schemas.base import Contract, Instant
from schemas.vocabulary import (
    Epistemic,
    ErasureScope,
    FeedbackSignal,
    MemoryStatus,
    MemoryType,
    Priority,
    ProposalAction,
    Provenance,
    UtilizationSignal,
)


class Payload(Contract):
    """What an event says beyond its envelope."""

    event_type: ClassVar[str]


class TurnCommitted(Payload):
    """A turn is durable and waits to be observed."""

    event_type: ClassVar[str] = "turn.committed"
    turn_id: UUID
    seq: int
    event_ids: tuple[UUID, ...] = ()
    ref_ids: tuple[UUID, ...] = ()
    tool_call_ids: tuple[UUID, ...] = ()
    content_hashes: tuple[str, ...] = ()


class TurnExtract(Payload):
    """The rules have read a turn, and a model is to read it too: what it adds follows by itself."""

    event_type: ClassVar[str] = "turn.extract"
    turn_id: UUID


class Written(Contract):
    """One memory that a turn left behind."""

    memory_id: UUID
    type: MemoryType
    status: MemoryStatus
    confidence: float
    change: str = "created"


class Conflict(Contract):
    """Two memories that could not both be true, and what became of them."""

    kind: str
    old_id: UUID | None = None
    new_id: UUID | None = None


class SummaryNote(Contract):
    """Whether the turn renewed its session's summary, why, who wrote it, and why a model did not where one was to."""

    triggered: bool = False
    reason: str | None = None
    version: int | None = None
    model_id: str | None = None
    notes: tuple[str, ...] = ()


class TurnOutcome(Payload):
    """All that was derived from one turn; every accepted turn ends in exactly one."""

    event_type: ClassVar[str] = "turn.outcome"
    turn_id: UUID
    status: Literal["derived", "ignored", "quarantined", "erased"]
    written: tuple[Written, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    retention_explain: tuple[dict[str, Any], ...] = ()
    summary: SummaryNote = Field(default_factory=SummaryNote)


class ObservationRecorded(Payload):
    """Observations were made of one turn and wait to be analysed."""

    event_type: ClassVar[str] = "observation.recorded"
    observation_ids: tuple[UUID, ...]
    turn_id: UUID
    priority: Priority = "normal"
    detector: str = "rules"
    pattern: str | None = None
    related_memory_ids: tuple[UUID, ...] = ()


class ObservationUrgent(ObservationRecorded):
    """A correction: it goes past analysis straight to the evolver (seed 004 section 2.3.0.1-A)."""

    event_type: ClassVar[str] = "observation.urgent"
    priority: Priority = "urgent"


class AnalysisProposed(Payload):
    """What should become of one or more observations next to what is known."""

    event_type: ClassVar[str] = "analysis.proposed"
    proposal_id: UUID
    observation_ids: tuple[UUID, ...]
    action: ProposalAction
    target_memory_id: UUID | None = None
    type: MemoryType
    provenance: Provenance
    epistemic_type: Epistemic
    confidence: float


class MemoryChanged(Payload):
    """A memory has a new version or a new state."""

    event_type: ClassVar[str] = "memory.changed"
    memory_id: UUID
    root_id: UUID
    version: int
    change: Literal[
        "created",
        "superseded",
        "retracted",
        "merged",
        "confirmed",
        "pinned",
        "unpinned",
        "calibrated",
        "fused",
        "silenced",
        "shown",
        "outdated",
        "expired",
        "erased",
    ]
    status: MemoryStatus
    superseded_by: UUID | None = None
    confidence_before: float | None = None
    confidence_after: float | None = None


class MemoryWriteRejected(Payload):
    """An observation that became no memory, and why."""

    event_type: ClassVar[str] = "memory.write_rejected"
    observation_id: UUID
    reason: str


class EvolutionBlockedByErasure(Payload):
    """A write that came too late: its user, session or item is being erased."""

    event_type: ClassVar[str] = "evolution_blocked_by_erasure"
    observation_id: UUID
    reason: str
    tombstone_id: UUID
    epoch: int


class FeedbackRecorded(Payload):
    """How the memories of one package were received: by the answer that was written with it, then by the next message.

    All of `memory_ids` fared alike; a package of which some were used and some were not is told in two events.
    `receipt_ids` is the package's context_id. `degraded`: a part was late or away, so nothing is to be concluded.
    """

    event_type: ClassVar[str] = "feedback.recorded"
    receipt_ids: tuple[UUID, ...] = ()
    memory_ids: tuple[UUID, ...] = ()
    judged_by: Literal["reply", "message"] = "message"
    utilized: bool | None = None
    utilization_signal: UtilizationSignal = "none"
    signal: FeedbackSignal = "neutral"
    degraded: bool = False


class DecisionEvent(Payload):
    """One composition in numbers."""

    event_type: ClassVar[str] = "decision_event"
    context_id: UUID
    request_id: str
    counts: dict[str, int] = Field(default_factory=dict)
    latency_ms: float
    budget_exceeded: bool = False
    experiment: str | None = None


class ErasureRequested(Payload):
    """A tombstone stands and waits for the erasure worker."""

    event_type: ClassVar[str] = "memory.erasure_requested"
    tombstone_id: UUID
    scope: ErasureScope
    session_ids: tuple[str, ...] = ()
    item_ids: tuple[UUID, ...] = ()
    requested_at: Instant
    retention_policy: str
    epoch: int


class DeletionEvent(Payload):
    """A tombstone moved from one state to the next."""

    model_config = ConfigDict(serialize_by_alias=True)

    event_type: ClassVar[str] = "deletion_event"
    tombstone_id: UUID
    from_state: str = Field(alias="from")
    to_state: str = Field(alias="to")
    attempt: int = 0
    store: str | None = None
    affected: int = 0
    error_code: str | None = None


class DegradeEvent(Payload):
    """A dependency is missing or slow, or has recovered."""

    event_type: ClassVar[str] = "degrade_event"
    component: str
    reason: str
    scope: str = "service"
    since: Instant
    recovered_at: Instant | None = None


class SliSample(Payload):
    """One service-level indicator over one window."""

    event_type: ClassVar[str] = "sli.sample"
    metric: str
    window: str
    n: int
    value: float
    verdict: Literal["PASS", "FAIL", "OBSERVE"]


class PolicyUpdated(Payload):
    """A tenant's policy changed."""

    event_type: ClassVar[str] = "policy.updated"
    version: str
    diff: dict[str, Any] = Field(default_factory=dict)


class ResourceIngestRequested(Payload):
    """A reference deserves long-term citation and should go to the knowledge side."""

    event_type: ClassVar[str] = "resource.ingest_requested"
    ref_id: UUID
    ref_type: Literal["file", "url", "artifact"]
    source_type: Literal["url", "file", "manual", "memory_snapshot"]
    uri_hash: str


class PromotionProposed(Payload):
    """A memory qualifies to be offered to the enterprise side."""

    event_type: ClassVar[str] = "promotion.proposed"
    proposal_id: UUID
    visibility: Literal["store", "region", "brand", "global"]


class PromotionApproved(Payload):
    """A memory may be written to the knowledge side, where those whom it was approved for find it."""

    event_type: ClassVar[str] = "promotion.approved"
    proposal_id: UUID
    visibility: Literal["store", "region", "brand", "global"]
