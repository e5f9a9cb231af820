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
from shared.text.secrets import PLACEHOLDER, SecretKind, kind_of_field, kind_of_id, redact

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
    `idempotency_conflict`, and with a secret for an id `secret_refused`. Secrets never reach a table.
    TransientError: the database is away, try again.
    """
    _refuse_named(turn)
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


def _refuse_named(turn: TurnEvents) -> None:
    """Ids are kept as they are; RefusedError secret_refused where one is a secret."""
    for field in ("tenant_id", "user_id", "session_id", "idempotency_key"):
        kind = kind_of_id(getattr(turn, field) or "")
        if kind:
            problem = FieldProblem(field=field, problem=f"looks like a secret ({kind}); nothing was stored")
            TURNS_REFUSED.labels("secret_refused").inc()
            raise RefusedError("secret_refused", f"{field}: {problem.problem}", (problem,))


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
        ignored_fields=tuple(redact(name, pii=False)[0] for name in ignored),
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
        "only_ends": all(event["event_type"] == turns.SESSION_END for event in events),
        "events": events,
        "result": result.model_dump(mode="json"),
        "envelope": envelope.model_dump(mode="json"),
    }


def _experiment(turn: TurnEvents) -> dict[str, Any] | None:
    return turn.experiment_context.model_dump(mode="json", exclude_none=True) if turn.experiment_context else None


def _hash(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


def _events(turn: TurnEvents, redacted: list[Redaction]) -> Iterator[dict[str, Any]]:
    """The rows of the log in their order: messages, then calls with their results, refs, items, the session's end."""
    for n, message in enumerate(turn.messages):
        text = _clean(message.content, f"messages.{n}.content", redacted)
        model = _clean_id(message.model, f"messages.{n}.model", redacted)
        content = {"text": text, **({"model": model} if model else {})}
        said = message.created_at.isoformat() if message.created_at else None
        kind = _ROLE_EVENTS[message.role]
        name = _clean(message.name, f"messages.{n}.name", redacted) if message.name else None
        yield {"event_type": kind, "role": message.role, "name": name, "content": content, "said_at": said}
    for n, call in enumerate(turn.tool_calls):
        said = call.created_at.isoformat() if call.created_at else None
        args = _clean_json(call.args, f"tool_calls.{n}.args", redacted)
        answer = _clean_json(call.result, f"tool_calls.{n}.result", redacted)
        made = {"args": args, "call_id": _clean_id(call.call_id, f"tool_calls.{n}.call_id", redacted)}
        name = _clean_id(call.name, f"tool_calls.{n}.name", redacted)
        yield {"event_type": "tool_call", "role": "tool", "name": name, "content": made, "said_at": said}
        got = {"result": answer, "status": call.status}
        yield {"event_type": "tool_result", "role": "tool", "name": name, "content": got, "said_at": said}
    for n, ref in enumerate(turn.refs):
        body = _clean_json(ref.model_dump(mode="json"), f"refs.{n}", redacted)
        yield {"event_type": "ref", "role": None, "name": None, "content": body, "said_at": None}
    for n, item in enumerate(turn.items):
        body = _clean_json(item.model_dump(mode="json"), f"items.{n}", redacted)
        yield {"event_type": "item", "role": None, "name": None, "content": body, "said_at": None}
    if turn.end_session:
        yield {"event_type": turns.SESSION_END, "role": None, "name": None, "content": {}, "said_at": None}


def _clean(text: str, field: str, redacted: list[Redaction]) -> str:
    clean, hits = redact(text, pii=False)
    redacted.extend(Redaction(field=field, kind=hit.kind) for hit in hits)
    return clean


def _clean_id(text: str | None, field: str, redacted: list[Redaction]) -> str | None:
    """An id stays as it is unless its shape is that of a secret."""
    kind = kind_of_id(text) if text else None
    if kind is None:
        return text
    redacted.append(Redaction(field=field, kind=kind))
    return PLACEHOLDER


def _clean_json(value: JsonValue, field: str, redacted: list[Redaction]) -> Any:
    if isinstance(value, str):
        return _clean(value, field, redacted)
    if isinstance(value, list):
        return [_clean_json(each, f"{field}.{n}", redacted) for n, each in enumerate(value)]
    if isinstance(value, dict):
        return _clean_dict(value, field, redacted)
    return value


def _clean_dict(value: dict[str, JsonValue], field: str, redacted: list[Redaction]) -> dict[str, Any]:
    """The fields under clean names; `{"name": "DB_PASSWORD", "value": ...}` tells its value as a field would."""
    told = next((each for name in ("name", "key") if isinstance(each := value.get(name), str)), None)
    clean: dict[str, Any] = {}
    for raw, each in value.items():
        name = _clean(raw, field, redacted)
        teller = told if told and name == "value" else name
        clean[name] = _clean_named(teller, each, f"{field}.{name}", redacted)
    return clean


def _clean_named(name: str, value: JsonValue, field: str, redacted: list[Redaction]) -> Any:
    """A text or number whose name says that it is a secret is one, though nothing in it would tell."""
    if isinstance(value, list):
        return [_clean_named(name, each, f"{field}.{n}", redacted) for n, each in enumerate(value)]
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        kind = _kind_of(name, str(value))
        if kind:
            redacted.append(Redaction(field=field, kind=kind))
            return PLACEHOLDER
    return _clean_json(value, field, redacted)


def _kind_of(name: str, value: str) -> SecretKind | None:
    lead = f"{name}: "
    named = kind_of_field(name, value)
    found = [hit for hit in redact(lead + value, pii=False)[1] if hit.end > len(lead)] if named is None else []
    return named or (
        found[0].kind if found and found[0].start <= len(lead) and found[0].end >= len(lead + value) else None
    )
