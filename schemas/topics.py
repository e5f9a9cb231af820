"""Every topic: its name, key, messages, partitions, retention, who writes and who reads it (decision 8, model 4.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Topic:
    """One topic. `messages` are event types, or contract names where the message is not an event."""

    name: str
    key: Literal["tenant:user", "correlation_id", "trace_id", "component", "tenant"]
    messages: tuple[str, ...]
    producer: str
    consumers: tuple[str, ...] = field(default=())
    partitions: int = 12
    retention_hours: int = 168
    carries_text: bool = False

    @property
    def dead_letter(self) -> str:
        """Where a message of this topic goes that nobody can handle."""
        return f"{self.name}.dlq"


def _name(noun: str) -> str:
    return f"smartbrain.{noun}.v1"


TURN_COMMIT = Topic(
    _name("turn.commit"),
    "tenant:user",
    ("TurnEvents", "ErasureRequest"),
    "users, governor",
    ("compose",),
    retention_hours=24,
    carries_text=True,
)
TURN_COMMITTED = Topic(_name("turn.committed"), "tenant:user", ("turn.committed",), "compose, governor", ("observer",))
TURN_EXTRACT = Topic(
    _name("turn.extract"), "tenant:user", ("turn.extract",), "observer", ("observer",), retention_hours=24
)
TURN_OUTCOME = Topic(_name("turn.outcome"), "tenant:user", ("turn.outcome",), "observer, analyzer, evolver", ("users",))
OBSERVATION_RECORDED = Topic(
    _name("observation.recorded"),
    "tenant:user",
    ("observation.recorded",),
    "observer, governor, erasure",
    ("analyzer",),
)
OBSERVATION_URGENT = Topic(
    _name("observation.urgent"),
    "tenant:user",
    ("observation.urgent",),
    "observer, governor, erasure",
    ("evolver",),
    retention_hours=48,
)
ANALYSIS_PROPOSED = Topic(
    _name("analysis.proposed"), "tenant:user", ("analysis.proposed",), "analyzer, governor", ("evolver",)
)
MEMORY_CHANGED = Topic(
    _name("memory.changed"),
    "tenant:user",
    ("memory.changed", "memory.write_rejected", "evolution_blocked_by_erasure"),
    "evolver, compose",
    ("users",),
    retention_hours=336,
)
COMPOSE_REQUEST = Topic(
    _name("compose.request"),
    "correlation_id",
    ("ComposeRequest",),
    "users",
    ("compose",),
    retention_hours=1,
    carries_text=True,
)
COMPOSE_REPLY = Topic(
    _name("compose.reply"),
    "correlation_id",
    ("ContextPackage", "ErrorReply", "CommitResult", "DeletionReceipt"),
    "compose",
    ("users",),
    retention_hours=1,
    carries_text=True,
)
FEEDBACK_RECORDED = Topic(
    _name("feedback.recorded"), "tenant:user", ("feedback.recorded",), "observer", ("evolver", "users"), partitions=6
)
ERASURE_REQUESTED = Topic(
    _name("erasure.requested"),
    "tenant:user",
    ("memory.erasure_requested",),
    "compose, governor",
    ("erasure",),
    partitions=6,
    retention_hours=26_304,
)
ERASURE_STATE = Topic(
    _name("erasure.state"),
    "tenant:user",
    ("deletion_event",),
    "compose, erasure",
    ("users",),
    partitions=6,
    retention_hours=720,
)
RECEIPT_RECORDED = Topic(
    _name("receipt.recorded"),
    "trace_id",
    ("decision_event",),
    "compose",
    ("users",),
    partitions=6,
    retention_hours=336,
)
DEGRADE = Topic(_name("degrade"), "component", ("degrade_event",), "every service", ("users",), partitions=3)
SLI = Topic(_name("sli"), "tenant", ("sli.sample", "policy.updated"), "governor", ("users",), partitions=3)
RESOURCE_INGEST = Topic(
    _name("resource.ingest"),
    "tenant:user",
    ("resource.ingest_requested",),
    "observer, governor",
    ("librarian",),
    partitions=3,
)
PROMOTION_PROPOSED = Topic(
    _name("promotion.proposed"), "tenant:user", ("promotion.proposed",), "evolver", ("users",), partitions=3
)

TOPICS: tuple[Topic, ...] = (
    TURN_COMMIT,
    TURN_COMMITTED,
    TURN_EXTRACT,
    TURN_OUTCOME,
    OBSERVATION_RECORDED,
    OBSERVATION_URGENT,
    ANALYSIS_PROPOSED,
    MEMORY_CHANGED,
    COMPOSE_REQUEST,
    COMPOSE_REPLY,
    FEEDBACK_RECORDED,
    ERASURE_REQUESTED,
    ERASURE_STATE,
    RECEIPT_RECORDED,
    DEGRADE,
    SLI,
    RESOURCE_INGEST,
    PROMOTION_PROPOSED,
)
PLANNED: Mapping[str, str] = {
    "degrade_event": "Packages and error replies name what was missing themselves (degraded_reason), and /ready and the"
    " metrics say what is away; an event waits for somebody who acts on it.",
    "sli.sample": "Indicators are metrics of Prometheus with alerts; samples wait for a console that shows them.",
    "policy.updated": "Policy is one file for all tenants, read at the start; every event and receipt has its version.",
}
"""Messages that nobody writes yet, and why not; their topics are made all the same, so that clients may subscribe."""
DEAD_LETTER_PARTITIONS = 3
DEAD_LETTER_HOURS = 336
DEAD_LETTER_BYTES = 4_194_304
"""A dead-letter topic takes larger messages than its origin: the message itself and why it is here."""
DEAD_LETTER_TEXT_HOURS = 24
"""A dead letter of a topic that carries text keeps that text no longer than the topic itself may."""
HOUR_MS = 3_600_000
SEGMENTS = 6
"""A topic that carries text is kept in at least so many pieces."""
SWEEP_MS = 360_000
"""How long Kafka may take to see that a segment has expired (5 min), and then to delete its file (1 min)."""


def times(hours: int, *, carries_text: bool) -> dict[str, int]:
    """The settings of Kafka by which a message is kept for `hours`: not much less, and if it is text, never more.

    Kafka deletes whole segments, by their newest message, and looks now and then: so text has a part of its time in an
    open segment, a part for the sweep, and what is left as retention.
    """
    if not carries_text:
        return {"retention.ms": hours * HOUR_MS}
    open_ms = min(HOUR_MS, hours * HOUR_MS // SEGMENTS)
    return {"retention.ms": hours * HOUR_MS - open_ms - SWEEP_MS, "segment.ms": open_ms}
