"""Dead letters for operators: lists them, previews, redrives and drops them, each at most once."""

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

import orjson

from schemas.dead_letters import (
    ActView,
    DeadLetterDetail,
    DeadLetterPage,
    DeadLetterView,
    LetterState,
    OperatorRequest,
    OperatorResult,
    Redrive,
    RedriveRequest,
)
from schemas.topics import Topic
from services.compose.manage.redriving import carry_out_redrive, find_required_scope, load_state
from services.compose.rules.redriving import CARRIED_OUT, Preview, blank, blank_text, decide_effect
from shared.access.refusals import refuse_denied
from shared.bus.dead_letters import BY_NOUN, DeadLetter, LetterHead, find_letter, load_newest, to_moment
from shared.db import Connection
from shared.domain.subjects import Requester, Subject, find_scope_denial
from shared.errors import RefusedError
from shared.runtime import Runtime
from shared.store import operator_acts as acts
from shared.store.operator_acts import DROPPED, NOBODY, REDRIVEN, OperatorAct
from shared.telemetry import logger

KIND = "dead_letter"
LOOKED_AT = 5
"""How many times the requested number is read of each partition, because filters exclude some."""


@dataclass(frozen=True)
class LetterFilter:
    """A filter of dead letters; None matches everything."""

    topic: str | None = None
    error: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    state: LetterState | None = "open"
    tenant_id: str | None = None
    user_id: str | None = None
    limit: int = 50


async def load_page(rt: Runtime, wanted: LetterFilter) -> DeadLetterPage:
    """The matching letters, newest first, without their words. RefusedError `unknown_topic`."""
    since_ms = int(wanted.since.timestamp() * 1000) if wanted.since else None
    newest = await load_newest(rt.kafka, find_topics(wanted.topic), wanted.limit * LOOKED_AT, since_ms)
    async with rt.db.system() as conn:
        done = await acts.find_all(conn, {letter.about for letter in newest.letters})
    views = [_view(letter, done.get(letter.about)) for letter in newest.letters if is_owned_by(letter, wanted)]
    chosen = [each for each in views if matches_filter(each, wanted)]
    return DeadLetterPage(letters=tuple(chosen[: wanted.limit]), unread=newest.unread or len(chosen) > wanted.limit)


def find_topics(name: str | None) -> Collection[Topic]:
    """The topics by short name or full name; all without a name. RefusedError `unknown_topic`."""
    if name is None:
        return tuple(BY_NOUN.values())
    noun = name.removesuffix(".dlq").removeprefix("smartbrain.").removesuffix(".v1")
    if noun not in BY_NOUN:
        raise RefusedError("unknown_topic", f"topic: there is none named {noun}; see {', '.join(BY_NOUN)}")
    return (BY_NOUN[noun],)


def is_owned_by(letter: DeadLetter | LetterHead, wanted: LetterFilter) -> bool:
    """Whether it belongs to the requested tenant and user."""
    tenant, user = letter.owner or (None, None)
    return wanted.tenant_id in (None, tenant) and wanted.user_id in (None, user)


def matches_filter(letter: DeadLetterView, wanted: LetterFilter) -> bool:
    """Whether time, state and reason match."""
    in_time = (not wanted.since or letter.dead_at >= wanted.since) and (
        not wanted.until or letter.dead_at < wanted.until
    )
    says_so = wanted.error is None or wanted.error.lower() in letter.error.lower()
    return in_time and says_so and wanted.state in (None, letter.state)


async def load_view(rt: Runtime, letter_id: str, whose: LetterFilter, *, raw: bool) -> DeadLetterDetail:
    """The letter, its content, and what a redrive would do; words are blanked unless `raw`."""
    letter = await find(rt, letter_id, whose)
    subject = letter.owner or NOBODY
    async with rt.db.transaction(subject) as conn:
        act = await acts.find(conn, subject, letter.about)
        seen = await load_state(conn, subject, letter)
    effect = decide_effect(seen.with_act(get_state(act)).behind if act else seen.behind)
    if raw:
        logger().warning("dead_letter_shown_raw", letter_id=letter_id)
    detail = {
        **_view(letter.head, act).model_dump(),
        **_content(letter, raw=raw),
        "redrive": to_redrive_view(letter.topic, effect),
    }
    return DeadLetterDetail.model_validate(detail)


async def redrive(
    rt: Runtime, letter_id: str, whose: LetterFilter, order: RedriveRequest, requester: Requester
) -> OperatorResult:
    """Sends the letter back to its topic, once; a repeated request does nothing.

    RefusedError: nothing would change, or the signer lacks the rights for the request.
    """
    letter = await find(rt, letter_id, whose)
    if order.vouched and letter.topic.inbound and (denial := find_scope_denial(requester, find_required_scope(letter))):
        raise refuse_denied(denial)
    return await redrive_letter(rt, letter, order, vouched=order.vouched)


async def redrive_letter(
    rt: Runtime, letter: DeadLetter, order: OperatorRequest, *, vouched: bool = False
) -> OperatorResult:
    """As `redrive`, for a loaded letter."""
    subject = letter.owner or NOBODY
    place = {**_to_position(letter), **({"vouched": True} if vouched else {})}
    async with rt.db.transaction(subject) as conn:
        result = await record_act(conn, subject, letter.about, f"{KIND}.{REDRIVEN}", order, place)
        if result.fresh:
            seen = await load_state(conn, subject, letter, vouched=vouched)
            effect = decide_effect(seen.behind)
            if effect.effect not in CARRIED_OUT:
                raise refuse_redrive(effect)
            await carry_out_redrive(conn, subject, letter, seen.turn, vouched=vouched)
    rt.db.wake()
    return result


async def drop(rt: Runtime, letter_id: str, whose: LetterFilter, order: OperatorRequest) -> OperatorResult:
    """Marks the letter as settled; its record stays until its retention or an erasure removes it."""
    letter = await find(rt, letter_id, whose)
    subject = letter.owner or NOBODY
    async with rt.db.transaction(subject) as conn:
        return await record_act(conn, subject, letter.about, f"{KIND}.{DROPPED}", order, _to_position(letter))


async def find(rt: Runtime, letter_id: str, whose: LetterFilter) -> DeadLetter:
    """The letter with this id. RefusedError `not_found`: it does not exist or belongs to somebody else."""
    letter = await find_letter(rt.kafka, letter_id)
    if letter is None or not is_owned_by(letter, whose):
        raise RefusedError("not_found", "letter_id: not found", status=404)
    return letter


async def record_act(
    conn: Connection,
    subject: Subject,
    about: str,
    kind: str,
    order: OperatorRequest,
    what: Mapping[str, Any],
) -> OperatorResult:
    """Records the act, once. RefusedError `already_redriven` or `already_dropped`: the other act was done before."""
    fresh = await acts.note_act(conn, subject, about, kind, order, what, once=True)
    act = await acts.find(conn, subject, about)
    assert act is not None  # noqa: S101 # it stands now, whoever put it there
    state = get_state(act)
    if state != kind.rpartition(".")[2]:
        raise RefusedError(f"already_{state}", f"it has been {state} before", status=409)
    if fresh:
        logger().info("operator_acted", kind=kind, about=about, requested_by=order.requested_by)
    return OperatorResult(state=state, fresh=fresh, act=to_act_view(act))


def refuse_redrive(effect: Preview) -> RefusedError:
    """The refusal of a redrive that would change nothing or is impossible."""
    return RefusedError(f"redrive_{effect.effect}", f"nothing was done: {effect.why}", status=409)


def get_state(act: OperatorAct | None) -> LetterState:
    """The state of a letter, by the act on it."""
    return cast("LetterState", act.kind.rpartition(".")[2]) if act else "open"


def to_act_view(act: OperatorAct) -> ActView:
    """The act with its operator and reason if given."""
    told = {name: act.details.get(name) for name in ("requested_by", "reason")}
    return ActView(act=cast("Literal['redriven', 'dropped']", get_state(act)), at=act.at, **told)


def to_redrive_view(topic: Topic, effect: Preview) -> Redrive:
    """The effect, with the target topic and its consumer."""
    group = next((reader.group for reader in topic.consumers if reader.group), None)
    return Redrive(effect=effect.effect, why=effect.why, topic=topic.name, group=group)


def _to_position(letter: DeadLetter) -> dict[str, Any]:
    record = letter.record
    return {
        "letter_id": letter.letter_id,
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
    }


def _view(head: LetterHead, act: OperatorAct | None) -> DeadLetterView:
    return DeadLetterView(
        letter_id=head.letter_id,
        topic=head.topic.noun,
        partition=head.partition,
        offset=head.offset,
        origin=head.origin,
        error=blank_text(head.reason),
        dead_at=to_moment(head.dead_ms),
        value_bytes=head.value_bytes,
        tenant_id=head.owner.tenant_id if head.owner else None,
        user_id=head.owner.user_id if head.owner else None,
        event_type=head.envelope.event_type if head.envelope else None,
        event_id=head.envelope.event_id if head.envelope else None,
        state=get_state(act),
        act=to_act_view(act) if act else None,
    )


def _content(letter: DeadLetter, *, raw: bool) -> dict[str, Any]:
    """Key and value: JSON as such, other text as text, bytes as base64. Other content is blanked as a whole."""
    value, key = letter.record.value or b"", letter.record.key
    shown_key = key.decode(errors="replace") if key else None
    try:
        parsed = orjson.loads(value)
    except orjson.JSONDecodeError:
        return {"key": shown_key, **_bytes(value, raw=raw)}
    kept = parsed if raw else blank(parsed, carries_text=letter.topic.carries_text)
    return {"key": shown_key, "value": kept, "encoding": "json"}


def _bytes(value: bytes, *, raw: bool) -> dict[str, Any]:
    if not raw:
        return {"value": f"({len(value)} bytes)", "encoding": "text"}
    try:
        return {"value": value.decode(), "encoding": "text"}
    except UnicodeDecodeError:
        return {"value": base64.b64encode(value).decode(), "encoding": "base64"}
