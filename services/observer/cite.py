"""Requests the ingestion of cited references and tool results: rows of `resources`, and events."""

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


async def request_ingestion(conn: Connection, subject: Subject, turns: Sequence[Turn], kinds: Sequence[Kind]) -> None:
    """Each resource of these turns has its row, and each one to ingest its event; a repetition changes nothing."""
    cited = [(turn, each) for turn in turns for each in list_cited(turn, kinds)]
    new = await resources.request(conn, subject, [_row(turn, each) for turn, each in cited])
    await outbox.put(conn, [_event(subject, turn, each) for turn, each in cited if each.resource_id in new])
    for _, each in cited:
        RESOURCES.labels("skipped" if each.reason else "pending").inc()


def _row(turn: Turn, cited: Cited) -> Requested:
    state = "skipped" if cited.reason else "pending"
    return Requested(
        cited.resource_id,
        turn.turn_id,
        turn.session_id,
        cited.ordinal,
        cited.kind,
        cited.source_type,
        cited.uri_hash,
        state,
        cited.reason,
        turn.org_id or "",
    )


def _event(subject: Subject, turn: Turn, cited: Cited) -> tuple[Topic, Envelope]:
    payload = ResourceIngestRequested(
        ref_id=cited.resource_id,
        ref_type="artifact" if cited.kind == "tool" else cited.kind,
        source_type=cited.source_type,
        uri_hash=cited.uri_hash,
    )
    trace = {"trace_id": turn.trace_id, "policy_version": turn.policy_version, "session_id": turn.session_id}
    return RESOURCE_INGEST, outbox.event(payload, subject, cited.resource_id, **trace)
