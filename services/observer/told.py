"""The events of a turn that was read: its observations, and the request to read it with a model. Pure."""

from collections.abc import Sequence

from schemas.envelope import Envelope
from schemas.events import ObservationRecorded, ObservationUrgent, Payload, TurnExtract
from schemas.topics import OBSERVATION_RECORDED, OBSERVATION_URGENT, TURN_EXTRACT
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.store import outbox
from shared.store.outbox import Outgoing


def envelope(subject: Subject, turn: Turn, payload: Payload, which: str = "") -> Envelope:
    """The event of this turn that carries the payload; `which` tells it from others of its type."""
    told = {"trace_id": turn.trace_id, "policy_version": turn.policy_version, "session_id": turn.session_id}
    return outbox.event(payload, subject, f"{turn.turn_id}{which}", **told)


def to_events(subject: Subject, turn: Turn, rows: Sequence[ObservationRow], which: str = "") -> list[Outgoing]:
    """What carries the observations of the turn on: corrections apart from the rest."""
    urgent = [row for row in rows if row.priority == "urgent"]
    normal = [row for row in rows if row.priority != "urgent"]
    events: list[Outgoing] = []
    if urgent:
        payload = ObservationUrgent(
            observation_ids=tuple(r.observation_id for r in urgent), turn_id=turn.turn_id, pattern=urgent[0].pattern
        )
        events.append((OBSERVATION_URGENT, envelope(subject, turn, payload, which)))
    if normal:
        recorded = ObservationRecorded(observation_ids=tuple(r.observation_id for r in normal), turn_id=turn.turn_id)
        events.append((OBSERVATION_RECORDED, envelope(subject, turn, recorded, which)))
    return events


def to_extract(subject: Subject, turn: Turn) -> Outgoing:
    """What has a model read the turn."""
    return TURN_EXTRACT, envelope(subject, turn, TurnExtract(turn_id=turn.turn_id))
