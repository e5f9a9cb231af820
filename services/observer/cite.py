"""What turns cite or tools made goes to the knowledge side: rows of `resources` and the events that carry them on."""

from collections.abc import Sequence

from schemas.envelope import Envelope
from schemas.events import ResourceIngestRequested
from schemas.topics import RESOURCE_INGEST, Topic
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.knowledge.citations import Cited, Kind, list_cited
from shared.metrics.turns import RESOURCES
from shared.store import outbox, resources
from shared.store.resources import Requested


async def request(conn: Connection, subject: Subject, turns: Sequence[Turn], kinds: Sequence[Kind]) -> None:
    """Every resource of these turns has its row, and what is to be ingested its event; again changes nothing."""
    found = [(turn, each) for turn in turns for each in list_cited(turn, kinds)]
    new = await resources.request(conn, subject, [_row(turn, each) for turn, each in found])
    await outbox.put(conn, [_event(subject, turn, each) for turn, each in found if each.resource_id in new])
    for _, each in found:
        RESOURCES.labels("skipped" if each.reason else "pending").inc()


def _row(turn: Turn, found: Cited) -> Requested:
    state = "skipped" if found.reason else "pending"
    return Requested(
        found.resource_id,
        turn.turn_id,
        turn.session_id,
        found.ordinal,
        found.kind,
        found.source_type,
        found.uri_hash,
        state,
        found.reason,
        turn.org_id or "",
    )


def _event(subject: Subject, turn: Turn, found: Cited) -> tuple[Topic, Envelope]:
    payload = ResourceIngestRequested(
        ref_id=found.resource_id,
        ref_type="artifact" if found.kind == "tool" else found.kind,
        source_type=found.source_type,
        uri_hash=found.uri_hash,
    )
    told = {"trace_id": turn.trace_id, "policy_version": turn.policy_version, "session_id": turn.session_id}
    return RESOURCE_INGEST, outbox.event(payload, subject, found.resource_id, **told)
