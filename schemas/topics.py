"""Every topic: its name, key, messages, partitions, retention, who writes and who reads it (decision 8, model 4.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import BaseModel

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage
from schemas.erasure import DeletionReceipt, ErasureRequest
from schemas.events import (
    AnalysisProposed,
    DecisionEvent,
    DegradeEvent,
    DeletionEvent,
    ErasureRequested,
    EvolutionBlockedByErasure,
    FeedbackRecorded,
    MemoryChanged,
    MemoryWriteRejected,
    ObservationRecorded,
    ObservationUrgent,
    Payload,
    PolicyUpdated,
    PromotionApproved,
    PromotionProposed,
    ResourceIngestRequested,
    SliSample,
    TurnCommitted,
    TurnExtract,
    TurnOutcome,
)
from schemas.turn_events import CommitResult, ErrorReply, TurnEvents
from schemas.vocabulary import AccessScope


@dataclass(frozen=True)
class Consumer:
    """Who reads a topic: a service by its consumer group, and what it then writes, for the map; or users."""

    service: str
    group: str = ""
    writes: str = ""


USERS = Consumer("users")


@dataclass(frozen=True)
class Topic:
    """One topic: the classes that it carries, which services write it, and by which groups services read it.

    `needs`: of a topic that users write, what the key that signs each of its classes must be allowed to do.
    `ahead_of`: the topic whose queue its events go past. The relay sends them here instead; all else is as there.
    """

    name: str
    key: Literal["tenant:user", "correlation_id", "trace_id", "component", "tenant"]
    carries: tuple[type[BaseModel], ...]
    producer: str
    consumers: tuple[Consumer, ...] = field(default=())
    partitions: int = 12
    retention_hours: int = 168
    carries_text: bool = False
    needs: tuple[AccessScope, ...] = ()
    ahead_of: "Topic | None" = None

    @property
    def inbound(self) -> bool:
        """Whether users write it, so that each of its records must say by its signature who sent it."""
        return USERS.service in self.producer.split(", ")

    def scope_of(self, message: type[BaseModel]) -> AccessScope:
        """What whoever sends this must be allowed to do."""
        return self.needs[self.carries.index(message)]

    @property
    def messages(self) -> tuple[str, ...]:
        """Event types, or names of contracts where the message is not an event."""
        return tuple(each.event_type if issubclass(each, Payload) else each.__name__ for each in self.carries)

    @property
    def readers(self) -> tuple[str, ...]:
        """The services that read it, and users."""
        return tuple(each.service for each in self.consumers)

    def group_of(self, service: str) -> str:
        """The consumer group of a service; ValueError where the topic does not name the service as a reader."""
        groups = [each.group for each in self.consumers if each.service == service and each.group]
        if not groups:
            raise ValueError(f"{self.name} is not read by {service}: name it among the consumers of the topic")
        return groups[0]

    @property
    def noun(self) -> str:
        """Its short name: `turn.commit` of `smartbrain.turn.commit.v1`."""
        return self.name.removeprefix("smartbrain.").removesuffix(".v1")

    @property
    def dead_letter(self) -> str:
        """Where a message of this topic goes that nobody can handle; sent again from there, it waits like any other."""
        return self.ahead_of.dead_letter if self.ahead_of else f"{self.name}.dlq"


def _name(noun: str) -> str:
    return f"smartbrain.{noun}.v1"


def _ahead_of(topic: Topic, noun: str) -> Topic:
    """The topic by which events go past those that wait in the other, to the same readers."""
    readers = tuple(replace(each, group=f"{each.group}-ahead") for each in topic.consumers if each.group)
    return replace(topic, name=_name(noun), consumers=readers, retention_hours=48, ahead_of=topic)


TURN_COMMIT = Topic(
    _name("turn.commit"),
    "tenant:user",
    (TurnEvents, ErasureRequest),
    "users, governor",
    (Consumer("compose", "smartbrain-compose-commit", "`sessions`, `turns`, `conversation_events`, `event_outbox`"),),
    retention_hours=24,
    carries_text=True,
    needs=("write", "erase"),
)
TURN_COMMITTED = Topic(
    _name("turn.committed"),
    "tenant:user",
    (TurnCommitted,),
    "compose, governor",
    (Consumer("observer", "smartbrain-observer", "`observations`, `entities`, chunks of turns, summaries"),),
)
TURN_AHEAD = _ahead_of(TURN_COMMITTED, "turn.ahead")
TURN_EXTRACT = Topic(
    _name("turn.extract"),
    "tenant:user",
    (TurnExtract,),
    "observer",
    (Consumer("observer", "smartbrain-observer-model", "what a model adds: the same, `model_answers`, `model_cache`"),),
    retention_hours=24,
)
TURN_OUTCOME = Topic(_name("turn.outcome"), "tenant:user", (TurnOutcome,), "observer, analyzer, evolver", (USERS,))
OBSERVATION_RECORDED = Topic(
    _name("observation.recorded"),
    "tenant:user",
    (ObservationRecorded,),
    "observer, governor, erasure, compose",
    (Consumer("analyzer", "smartbrain-analyzer", "`proposals`, `observations.state`"),),
)
OBSERVATION_AHEAD = _ahead_of(OBSERVATION_RECORDED, "observation.ahead")
OBSERVATION_URGENT = Topic(
    _name("observation.urgent"),
    "tenant:user",
    (ObservationUrgent,),
    "observer, governor, erasure, compose",
    (Consumer("evolver", "smartbrain-evolver-urgent", "as of `analysis.proposed`, without a proposal"),),
    retention_hours=48,
)
ANALYSIS_PROPOSED = Topic(
    _name("analysis.proposed"),
    "tenant:user",
    (AnalysisProposed,),
    "analyzer, governor",
    (Consumer("evolver", "smartbrain-evolver", "`memory_items`, chunks and postings of memories, states"),),
)
ANALYSIS_AHEAD = _ahead_of(ANALYSIS_PROPOSED, "analysis.ahead")
MEMORY_CHANGED = Topic(
    _name("memory.changed"),
    "tenant:user",
    (MemoryChanged, MemoryWriteRejected, EvolutionBlockedByErasure),
    "evolver, compose, governor",
    (USERS,),
    retention_hours=336,
)
COMPOSE_REQUEST = Topic(
    _name("compose.request"),
    "correlation_id",
    (ComposeRequest,),
    "users",
    (Consumer("compose", "smartbrain-compose-request"),),
    retention_hours=1,
    carries_text=True,
    needs=("read",),
)
COMPOSE_REPLY = Topic(
    _name("compose.reply"),
    "correlation_id",
    (ContextPackage, ErrorReply, CommitResult, DeletionReceipt),
    "compose",
    (USERS,),
    retention_hours=1,
    carries_text=True,
)
FEEDBACK_RECORDED = Topic(
    _name("feedback.recorded"),
    "tenant:user",
    (FeedbackRecorded,),
    "observer",
    (Consumer("evolver", "smartbrain-evolver-feedback", "`upkeep`, counts of `memory_items`"), USERS),
    partitions=6,
)
ERASURE_REQUESTED = Topic(
    _name("erasure.requested"),
    "tenant:user",
    (ErasureRequested,),
    "compose, governor",
    (Consumer("erasure", "smartbrain-erasure", "`tombstones`, `erasure_steps`, `audit_events`; deletes"),),
    partitions=6,
    retention_hours=26_304,
)
ERASURE_STATE = Topic(
    _name("erasure.state"),
    "tenant:user",
    (DeletionEvent,),
    "compose, erasure, governor",
    (USERS,),
    partitions=6,
    retention_hours=720,
)
RECEIPT_RECORDED = Topic(
    _name("receipt.recorded"),
    "trace_id",
    (DecisionEvent,),
    "compose",
    (USERS,),
    partitions=6,
    retention_hours=336,
)
DEGRADE = Topic(_name("degrade"), "component", (DegradeEvent,), "every service", (USERS,), partitions=3)
SLI = Topic(_name("sli"), "tenant", (SliSample, PolicyUpdated), "governor", (USERS,), partitions=3)
RESOURCE_INGEST = Topic(
    _name("resource.ingest"),
    "tenant:user",
    (ResourceIngestRequested,),
    "observer, governor",
    (Consumer("librarian", "smartbrain-librarian", "`resources`, `knowledge_versions`"),),
    partitions=3,
)
PROMOTION_PROPOSED = Topic(
    _name("promotion.proposed"), "tenant:user", (PromotionProposed,), "evolver", (USERS,), partitions=3
)
PROMOTION_APPROVED = Topic(
    _name("promotion.approved"),
    "tenant:user",
    (PromotionApproved,),
    "compose, governor",
    (Consumer("librarian", "smartbrain-librarian-promotions", "`promotions`, `knowledge_versions`"), USERS),
    partitions=3,
)

TOPICS: tuple[Topic, ...] = tuple(each for each in list(globals().values()) if isinstance(each, Topic))
"""Every topic above, in its order."""
AHEAD: Mapping[str, Topic] = {each.ahead_of.name: each for each in TOPICS if each.ahead_of}
"""By the name of a topic the one that goes past it, where there is one."""
_LETTERS: Mapping[str, str] = {each.name: each.dead_letter for each in TOPICS}
PAYLOADS: Mapping[str, type[Payload]] = {
    each.event_type: each for topic in TOPICS for each in topic.carries if issubclass(each, Payload)
}
"""The payload of every event by its type."""
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


def name_dead_letter(topic: str) -> str:
    """Where a message goes that stood in the topic of this name and that nobody can handle."""
    return _LETTERS.get(topic, f"{topic}.dlq")


def times(hours: int, *, carries_text: bool) -> dict[str, int]:
    """The settings of Kafka by which a message is kept for `hours`: not much less, and if it is text, never more.

    Kafka deletes whole segments, by their newest message, and looks now and then: so text has a part of its time in an
    open segment, a part for the sweep, and what is left as retention.
    """
    if not carries_text:
        return {"retention.ms": hours * HOUR_MS}
    open_ms = min(HOUR_MS, hours * HOUR_MS // SEGMENTS)
    return {"retention.ms": hours * HOUR_MS - open_ms - SWEEP_MS, "segment.ms": open_ms}
