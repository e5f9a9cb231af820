"""Commits turns: one transaction writes session, turn, events and the outbox row."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from schemas.content import BLOCKS, TEXT_ONLY, ContentBlock, MediaView, blocks_of
from schemas.envelope import Envelope
from schemas.events import TurnCommitted
from schemas.topics import TURN_COMMITTED
from schemas.turn_events import DEFERRED, Accepted, CommitResult, FieldProblem, Message, TurnEvents
from services.compose.intake import media
from services.compose.intake.decisions import (
    CommandEffect,
    LearningDecision,
    decide_effect,
    decide_learning,
    find_command,
    load_effect,
)
from services.compose.intake.redact import (
    Cleaning,
    clean_blocks,
    clean_id,
    clean_json,
    clean_text,
    drop_words,
    find_word_objection,
)
from shared import clock
from shared.db import CLOSED
from shared.domain.blocks import media_ids
from shared.domain.subjects import Subject
from shared.domain.turns import SESSION_END, WISH, WORDLESS
from shared.errors import TransientError, refuse_field, refuse_fields
from shared.metrics.erasure import TURNS_DROPPED_BY_ERASURE
from shared.metrics.turns import TURNS_COMMITTED, TURNS_REFUSED
from shared.policy import PersonalDataPolicy, Policy
from shared.runtime import Runtime
from shared.secrets import kind_of_id, redact
from shared.store import media as registry
from shared.store import summaries, turns, user_settings
from shared.telemetry import logger

ACTS = {"pin", "merge", "feedback"}
"""Optional fields of an item; left out of the hash of a commit if no item has them."""
COMMAND = "command"
"""The field of a turn's result that holds the effect of a command."""
NOTHING_KNOWN: Mapping[str, MediaView] = {}
_ROLE_EVENTS = {"user": "user_message", "assistant": "assistant_message", "tool": "tool_result", "system": "system"}


@dataclass(frozen=True)
class CommitOutcome:
    """The result of a commit; `fresh` is False if the same commit had been made before.

    `effect` is what the user's command did, if there was one.
    """

    result: CommitResult
    fresh: bool
    effect: CommandEffect | None = None


async def commit_turn(
    turn: TurnEvents,
    rt: Runtime,
    *,
    transport: str,
    ignored: tuple[str, ...] = (),
    sent_at: datetime | None = None,
) -> CommitOutcome:
    """Commits the turn and its event, or writes nothing.

    The same key with the same body returns the first result; with another body it raises RefusedError
    `idempotency_conflict`. Other refusals: `secret_refused` for a secret as an id, `media_security_blocked` for unsafe
    media, `erased` for a turn that was put on a topic (`sent_at`) before an erasure that covers it. A turn committed
    while its media was safe stays. Secrets never reach a table.

    TransientError: the database is not available.
    """
    _refuse_secret_ids(turn)
    decision = await decide_learning(turn, rt, sent_at)
    rt = await rt.of(Subject(turn.tenant_id, turn.user_id))
    registered, unsafe = await _load_media(turn, rt)
    silent = await find_word_objection(turn, rt, learning=decision.learning)
    effect = await _decide_effect(turn, rt)
    trace_id = clock.uuid7().hex
    body = _build_body(turn, rt.version, rt.policy, trace_id, ignored, decision, registered, silent, effect)
    body["refused"] = bool(unsafe)
    body["sent_at"] = sent_at.isoformat() if sent_at else None
    outcome, result = await _commit(rt, turn, body, effect, decision)
    if outcome == "closed":
        raise TransientError(CLOSED)
    if outcome == "erased":
        TURNS_DROPPED_BY_ERASURE.inc()
        raise refuse_field("erased", "user_id", "what was sent before the erasure is not kept", 409)
    if outcome == "clash":
        TURNS_REFUSED.labels("idempotency_conflict").inc()
        raise refuse_field("idempotency_conflict", "idempotency_key", "was used before with another body", 409)
    if outcome == "refused":
        TURNS_REFUSED.labels(media.BLOCKED).inc()
        raise media.refuse_unsafe(unsafe)
    if outcome == "written":
        TURNS_COMMITTED.labels(transport).inc()
        logger().info("turn_committed", turn_id=result["turn_id"], tenant_id=turn.tenant_id, trace_id=body["trace_id"])
    done = load_effect(result.pop(COMMAND, None))
    return CommitOutcome(CommitResult.model_validate(result), outcome == "written", done)


async def _decide_effect(turn: TurnEvents, rt: Runtime) -> CommandEffect | None:
    text = find_command(turn)
    return await decide_effect(rt, Subject(turn.tenant_id, turn.user_id), turn.session_id, text) if text else None


async def _commit(
    rt: Runtime, turn: TurnEvents, body: Mapping[str, Any], effect: CommandEffect | None, decision: LearningDecision
) -> tuple[str, dict[str, Any]]:
    """Commits the turn and its side effects: clears the session's summary, turns learning off or on."""
    clears = effect is not None and effect.clears
    if not clears and decision.chosen is None:
        async with rt.db.single() as conn:
            return await turns.commit(conn, body)
    subject = Subject(turn.tenant_id, turn.user_id)
    async with rt.db.transaction(subject) as conn:
        outcome, result = await turns.commit(conn, body)
        if outcome == "written" and clears:
            await summaries.clear(conn, subject, turn.session_id)
        if outcome == "written" and decision.chosen is not None and decision.at is not None:
            await user_settings.say_learning(conn, subject, decision.chosen, body["turn_id"], decision.at)
    if rt.user_settings and decision.chosen is not None:
        rt.user_settings.forget(subject)
    return outcome, result


def _refuse_secret_ids(turn: TurnEvents) -> None:
    """Raises RefusedError `secret_refused` if an id is a secret: ids are stored unchanged."""
    named_by = ("tenant_id", "user_id", "session_id", "org_id", "idempotency_key")
    ids = [(field, getattr(turn, field) or "") for field in named_by]
    ids += [(field, block.media_id or "") for field, block in list_media(turn)]
    for field, named in ids:
        if kind := kind_of_id(named):
            TURNS_REFUSED.labels("secret_refused").inc()
            raise refuse_field("secret_refused", field, f"looks like a secret ({kind}); nothing was stored")


def refuse_personal(cleaning: Cleaning, personal: PersonalDataPolicy) -> None:
    """Raises RefusedError `personal_data_refused`, naming every field with data that the policy refuses."""
    fields = {each.field: each.kind for each in cleaning.redacted if each.kind in personal.kinds_refused}
    if fields:
        problems = tuple(
            FieldProblem(field=place, problem=f"holds personal data ({kind}), which is refused; nothing was stored")
            for place, kind in fields.items()
        )
        TURNS_REFUSED.labels("personal_data_refused").inc()
        raise refuse_fields("personal_data_refused", problems)


def list_media(turn: TurnEvents) -> list[tuple[str, ContentBlock]]:
    """The media blocks of a turn, each with its field."""
    return [
        (f"messages.{n}.content.{place}.media_id", block)
        for n, message in enumerate(turn.messages)
        for place, block in enumerate(blocks_of(message.content))
        if block.is_media
    ]


async def _load_media(turn: TurnEvents, rt: Runtime) -> tuple[Mapping[str, MediaView], tuple[FieldProblem, ...]]:
    """The registered media of the turn, and the problems of those that may not be read."""
    placed = list_media(turn)
    if not placed:
        return {}, ()
    subject = Subject(turn.tenant_id, turn.user_id)
    (known,) = await rt.db.read(subject, registry.load_known(subject, media_ids(block for _, block in placed)))
    return known, media.list_problems(placed, known)


def _build_body(
    turn: TurnEvents,
    policy_version: str,
    policy: Policy,
    trace_id: str,
    ignored: tuple[str, ...],
    decision: LearningDecision,
    registered: Mapping[str, MediaView] = NOTHING_KNOWN,
    silent: str | None = None,
    effect: CommandEffect | None = None,
) -> dict[str, Any]:
    """The turn in the form that the database takes: its events, its outbox event, and the result."""
    turn_id, event_id = clock.uuid7(), clock.uuid7()
    cleaning = Cleaning(policy.personal_data.kinds_kept)
    logged = turn
    if effect and effect.items:
        logged = logged.model_copy(update={"items": (*turn.items, *effect.items)})
    if decision.silences_session:
        logged = logged.model_copy(update={"session_remembered": False})
    happened = list(_list_events(logged, cleaning, registered))
    events: list[dict[str, Any]] = [
        {"event_id": str(clock.uuid7()), "ordinal": ordinal, **event}
        for ordinal, event in enumerate(drop_words(happened, silent) if silent else happened)
    ]
    metadata = clean_json(turn.metadata, "metadata", cleaning) if turn.metadata is not None else None
    refuse_personal(cleaning, policy.personal_data)
    result = _build_result(turn, turn_id, event_id, cleaning, ignored, learning=decision.learning)
    envelope = _build_envelope(turn, turn_id, event_id, events, trace_id, policy_version)
    return {
        "tenant_id": turn.tenant_id,
        "user_id": turn.user_id,
        "session_id": turn.session_id,
        "turn_id": str(turn_id),
        "event_id": str(event_id),
        "trace_id": trace_id,
        "policy_version": policy_version,
        "said_at": turn.created_at.isoformat() if turn.created_at else None,
        "context_id": str(turn.context_id) if turn.context_id else None,
        "org_id": turn.org_id,
        "metadata": metadata,
        "idempotency_key": turn.idempotency_key or turn_id.hex,
        "request_hash": _hash_turn(turn.model_dump_json(exclude=_list_unhashed(turn)).encode()),
        "topic": TURN_COMMITTED.name,
        "experiment": _build_experiment(turn),
        "only_ends": all(event["event_type"] in WORDLESS for event in events),
        "events": events,
        "result": {**result.model_dump(mode="json"), **({COMMAND: effect.to_json()} if effect else {})},
        "envelope": envelope.model_dump(mode="json"),
    }


def _build_result(
    turn: TurnEvents, turn_id: UUID, event_id: UUID, cleaning: Cleaning, ignored: Sequence[str], *, learning: bool
) -> CommitResult:
    return CommitResult(
        turn_id=turn_id,
        session_id=turn.session_id,
        seq=0,
        outbox_event_id=event_id,
        committed_at=clock.now(),
        accepted=Accepted(
            messages=len(turn.messages), tool_calls=len(turn.tool_calls), refs=len(turn.refs), items=len(turn.items)
        ),
        deferred=DEFERRED if turn.remember and learning else (),
        remember=turn.remember,
        learning=learning,
        redacted=tuple(cleaning.redacted),
        ignored_fields=tuple(redact(name, cleaning.kept)[0] for name in ignored),
    )


def _build_envelope(
    turn: TurnEvents,
    turn_id: UUID,
    event_id: UUID,
    events: Sequence[Mapping[str, Any]],
    trace_id: str,
    policy_version: str,
) -> Envelope:
    committed = TurnCommitted(
        turn_id=turn_id,
        seq=0,
        event_ids=tuple(e["event_id"] for e in events),
        ref_ids=tuple(e["event_id"] for e in events if e["event_type"] == "ref"),
        tool_call_ids=tuple(e["event_id"] for e in events if e["event_type"] == "tool_call"),
        content_hashes=tuple(_hash_turn(orjson.dumps(e["content"])) for e in events),
    )
    return Envelope(
        event_id=event_id,
        event_type=TurnCommitted.event_type,
        idempotency_key=f"turn.committed:{turn_id}",
        trace_id=trace_id,
        tenant_id=turn.tenant_id,
        user_id=turn.user_id,
        session_id=turn.session_id,
        occurred_at=clock.now(),
        policy_version=policy_version,
        payload=committed.model_dump(mode="json"),
    )


def _list_unhashed(turn: TurnEvents) -> dict[str, Any]:
    """The turn without fields that do not count for the hash: unset new fields are left out, so that old hashes stay
    valid."""
    left_out: dict[str, Any] = {"idempotency_key": True}
    if turn.remember:
        left_out["remember"] = True
    if turn.session_remembered is None:
        left_out["session_remembered"] = True
    plain = {n: ACTS for n, item in enumerate(turn.items) if item.pin is None and not item.merge and not item.feedback}
    return {**left_out, "items": plain} if plain else left_out


def _build_experiment(turn: TurnEvents) -> dict[str, Any] | None:
    return turn.experiment_context.model_dump(mode="json", exclude_none=True) if turn.experiment_context else None


def _hash_turn(value: bytes) -> str:
    return hashlib.sha256(value).hexdigest()


def _list_events(turn: TurnEvents, cleaning: Cleaning, known: Mapping[str, MediaView]) -> Iterator[dict[str, Any]]:
    """The rows of the log in order: messages, calls with their results, references, items, the end of the session."""
    for n, message in enumerate(turn.messages):
        version, content = _build_content(message, f"messages.{n}.content", cleaning, known)
        if model := clean_id(message.model, f"messages.{n}.model", cleaning):
            content["model"] = model
        said_at = message.created_at.isoformat() if message.created_at else None
        kind = _ROLE_EVENTS[message.role]
        name = clean_text(message.name, f"messages.{n}.name", cleaning) if message.name else None
        meta = clean_json(message.meta, f"messages.{n}.meta", cleaning) if message.meta else None
        body = {"role": message.role, "name": name, "content": content, "version": version, "said_at": said_at}
        yield {"event_type": kind, **body, "meta": meta}
    for n, call in enumerate(turn.tool_calls):
        said_at = call.created_at.isoformat() if call.created_at else None
        args = clean_json(call.args, f"tool_calls.{n}.args", cleaning)
        answer = clean_json(call.result, f"tool_calls.{n}.result", cleaning)
        asked = {"args": args, "call_id": clean_id(call.call_id, f"tool_calls.{n}.call_id", cleaning)}
        name = clean_id(call.name, f"tool_calls.{n}.name", cleaning)
        yield {"event_type": "tool_call", "role": "tool", "name": name, "content": asked, "said_at": said_at}
        got = {"result": answer, "status": call.status}
        yield {"event_type": "tool_result", "role": "tool", "name": name, "content": got, "said_at": said_at}
    for n, ref in enumerate(turn.refs):
        body = clean_json(ref.model_dump(mode="json"), f"refs.{n}", cleaning)
        yield {"event_type": "ref", "role": None, "name": None, "content": body, "said_at": None}
    for n, item in enumerate(turn.items):
        body = clean_json(item.model_dump(mode="json"), f"items.{n}", cleaning)
        yield {"event_type": "item", "role": None, "name": None, "content": body, "said_at": None}
    if turn.session_remembered is not None:
        wish = {"remember": turn.session_remembered}
        yield {"event_type": WISH, "role": None, "name": None, "content": wish, "said_at": None}
    if turn.end_session:
        yield {"event_type": SESSION_END, "role": None, "name": None, "content": {}, "said_at": None}


def _build_content(
    message: Message, field: str, cleaning: Cleaning, registered: Mapping[str, MediaView]
) -> tuple[int, dict[str, Any]]:
    """The stored content of a message and its form, 1 or 2."""
    if isinstance(message.content, str):
        return TEXT_ONLY, {"text": clean_text(message.content, field, cleaning)}
    return BLOCKS, clean_blocks(
        tuple(media.settle_block(block, registered) for block in message.content), field, cleaning
    )
