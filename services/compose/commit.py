"""commit_turn (seed 000 section 6.2, X32): one transaction writes session, turn, events and the outbox row."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import JsonValue

from schemas.envelope import Envelope
from schemas.events import TurnCommitted
from schemas.topics import TURN_COMMITTED
from schemas.turn_events import Accepted, CommitResult, FieldProblem, Redaction, TurnEvents
from shared import clock
from shared.db import Subject
from shared.errors import RefusedError
from shared.runtime import Runtime
from shared.store import turns
from shared.telemetry import TURNS_COMMITTED, TURNS_REFUSED, logger
from shared.text.secrets import redact

PLACEHOLDER = "[SECRET]"
_ROLE_EVENTS = {"user": "user_message", "assistant": "assistant_message", "tool": "tool_result", "system": "system"}


@dataclass(frozen=True)
class Committed:
    """The result of a commit; `fresh` is False when the same commit had been made before."""

    result: CommitResult
    fresh: bool


async def commit_turn(
    turn: TurnEvents, rt: Runtime, *, transport: str, ignored: tuple[str, ...] = (), trace_id: str | None = None
) -> Committed:
    """The turn is durable and its event waits in the outbox, or nothing is written.

    The same key with the same body gives the first result again; with another body it raises RefusedError
    `idempotency_conflict`. Secrets never reach a table. TransientError: the database is away, try again.
    """
    body = _body(turn, rt.version, trace_id or clock.uuid7().hex, ignored)
    async with rt.db.single() as conn:
        outcome, result = await turns.commit(conn, body)
    if outcome == "clash":
        TURNS_REFUSED.labels("idempotency_conflict").inc()
        problem = FieldProblem(field="idempotency_key", problem="was used before with another body")
        raise RefusedError(
            "idempotency_conflict", "idempotency_key: was used before with another body", (problem,), 409
        )
    if outcome == "written":
        TURNS_COMMITTED.labels(transport).inc()
        logger().info("turn_committed", turn_id=result["turn_id"], tenant_id=turn.tenant_id, trace_id=body["trace_id"])
    return Committed(CommitResult.model_validate(result), outcome == "written")


def _body(turn: TurnEvents, policy_version: str, trace_id: str, ignored: tuple[str, ...]) -> dict[str, Any]:
    turn_id, event_id = clock.uuid7(), clock.uuid7()
    redacted: list[Redaction] = []
    events: list[dict[str, Any]] = [
        {"event_id": str(clock.uuid7()), "ordinal": ordinal, **event}
        for ordinal, event in enumerate(_events(turn, redacted))
    ]
    subject = Subject(turn.tenant_id, turn.user_id)
    key = turn.idempotency_key or turn_id.hex
    result = CommitResult(
        turn_id=turn_id,
        session_id=turn.session_id,
        seq=0,
        outbox_event_id=event_id,
        committed_at=clock.now(),
        accepted=Accepted(
            messages=len(turn.messages), tool_calls=len(turn.tool_calls), refs=len(turn.refs), items=len(turn.items)
        ),
        redacted=tuple(redacted),
        ignored_fields=ignored,
    )
    committed = TurnCommitted(
        turn_id=turn_id,
        seq=0,
        event_ids=tuple(e["event_id"] for e in events),
        ref_ids=tuple(e["event_id"] for e in events if e["event_type"] == "ref"),
        tool_call_ids=tuple(e["event_id"] for e in events if e["event_type"] == "tool_call"),
        content_hashes=tuple(_hash(orjson.dumps(e["content"])) for e in events),
    )
    envelope = Envelope(
        event_id=event_id,
        event_type=TurnCommitted.event_type,
        idempotency_key=f"turn.committed:{turn_id}",
        trace_id=trace_id,
        tenant_id=subject.tenant_id,
        user_id=subject.user_id,
        session_id=turn.session_id,
        occurred_at=clock.now(),
        policy_version=policy_version,
        payload=committed.model_dump(mode="json"),
    )
    return {
        "tenant_id": subject.tenant_id,
        "user_id": subject.user_id,
        "session_id": turn.session_id,
        "turn_id": str(turn_id),
        "event_id": str(event_id),
        "trace_id": trace_id,
        "policy_version": policy_version,
        "said_at": turn.created_at.isoformat() if turn.created_at else None,
        "context_id": str(turn.context_id) if turn.context_id else None,
        "idempotency_key": key,
        "request_hash": _hash(turn.model_dump_json(exclude={"idempotency_key"}).encode()),
        "topic": TURN_COMMITTED.name,
        "experiment": _experiment(turn),
        "events": events,
        "result": result.model_dump(mode="json"),
        "envelope": envelope.model_dump(mode="json"),
    }


def _experiment(turn: TurnEvents) -> dict[str, Any] | None:
    return turn.experiment_context.model_dump(mode="json", exclude_none=True) if turn.experiment_context else None


def _hash(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


def _events(turn: TurnEvents, redacted: list[Redaction]) -> Iterator[dict[str, Any]]:
    """The rows of the log in their order: messages, then calls with their results, refs, items."""
    for n, message in enumerate(turn.messages):
        text = _clean(message.content, f"messages.{n}.content", redacted)
        content = {"text": text, **({"model": message.model} if message.model else {})}
        said = message.created_at.isoformat() if message.created_at else None
        kind = _ROLE_EVENTS[message.role]
        name = _clean(message.name, f"messages.{n}.name", redacted) if message.name else None
        yield {"event_type": kind, "role": message.role, "name": name, "content": content, "said_at": said}
    for n, call in enumerate(turn.tool_calls):
        said = call.created_at.isoformat() if call.created_at else None
        args = _clean_json(call.args, f"tool_calls.{n}.args", redacted)
        answer = _clean_json(call.result, f"tool_calls.{n}.result", redacted)
        made = {"args": args, "call_id": call.call_id}
        yield {"event_type": "tool_call", "role": "tool", "name": call.name, "content": made, "said_at": said}
        got = {"result": answer, "status": call.status}
        yield {"event_type": "tool_result", "role": "tool", "name": call.name, "content": got, "said_at": said}
    for n, ref in enumerate(turn.refs):
        body = _clean_json(ref.model_dump(mode="json"), f"refs.{n}", redacted)
        yield {"event_type": "ref", "role": None, "name": None, "content": body, "said_at": None}
    for n, item in enumerate(turn.items):
        body = _clean_json(item.model_dump(mode="json"), f"items.{n}", redacted)
        yield {"event_type": "item", "role": None, "name": None, "content": body, "said_at": None}


def _clean(text: str, field: str, redacted: list[Redaction]) -> str:
    clean, hits = redact(text, pii=False)
    redacted.extend(Redaction(field=field, kind=hit.kind) for hit in hits)
    return clean


def _clean_json(value: JsonValue, field: str, redacted: list[Redaction]) -> Any:
    if isinstance(value, str):
        return _clean(value, field, redacted)
    if isinstance(value, list):
        return [_clean_json(each, f"{field}.{n}", redacted) for n, each in enumerate(value)]
    if isinstance(value, dict):
        return {name: _clean_named(name, each, f"{field}.{name}", redacted) for name, each in value.items()}
    return value


def _clean_named(name: str, value: JsonValue, field: str, redacted: list[Redaction]) -> Any:
    """A text whose name says that it is a secret is one, though nothing in it would tell."""
    if isinstance(value, str):
        lead = f"{name}: "
        found = [hit for hit in redact(lead + value, pii=False)[1] if hit.end > len(lead)]
        if found and found[0].start <= len(lead):
            redacted.append(Redaction(field=field, kind=found[0].kind))
            return PLACEHOLDER
    return _clean_json(value, field, redacted)
