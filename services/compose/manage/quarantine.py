"""Quarantined events for operators. A redrive restarts the turn at the step that failed."""

from uuid import UUID

from schemas.dead_letters import OperatorRequest, OperatorResult, QuarantinePage, QuarantineView
from schemas.topics import (
    ANALYSIS_PROPOSED,
    FEEDBACK_RECORDED,
    OBSERVATION_RECORDED,
    RESOURCE_INGEST,
    TURN_COMMITTED,
    TURN_EXTRACT,
)
from services.compose.manage.dead_letters import (
    LetterFilter,
    get_state,
    record_act,
    redrive_letter,
    refuse_redrive,
    to_act_view,
    to_redrive_view,
)
from services.compose.manage.redriving import OF_TURNS, reopen_turn
from services.compose.rules.redriving import CARRIED_OUT, Behind, Preview, blank_text, decide_effect
from shared.bus.dead_letters import find_letter, make_letter_id
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.errors import RefusedError
from shared.runtime import Runtime
from shared.store import operator_acts as acts
from shared.store import quarantine, redriving
from shared.store.operator_acts import DROPPED, REDRIVEN, OperatorAct
from shared.store.quarantine import Quarantined
from shared.store.redriving import TurnBehind

KIND = "quarantine"
TOPICS_OF = {
    "observer": TURN_COMMITTED,
    "analyzer": OBSERVATION_RECORDED,
    "evolver": ANALYSIS_PROPOSED,
    "observer-model": TURN_EXTRACT,
    "feedback": FEEDBACK_RECORDED,
    "librarian": RESOURCE_INGEST,
}
"""The topic of each stage; if it reads two, the usual one."""


async def load_page(rt: Runtime, wanted: LetterFilter) -> QuarantinePage:
    """Quarantined events, newest first; the `error` of the filter names a stage."""
    async with rt.db.system() as conn:
        events = await quarantine.list_newest(
            conn,
            tenant_id=wanted.tenant_id,
            user_id=wanted.user_id,
            stage=wanted.error,
            since=wanted.since,
            limit=wanted.limit,
        )
        done = await acts.find_all(conn, [make_act_key(each) for each in events])
    return QuarantinePage(events=tuple(_view(each, done.get(make_act_key(each))) for each in events))


async def load_view(rt: Runtime, subject: Subject, quarantine_id: UUID) -> QuarantineView:
    """The event with its reason, and what a redrive would do. RefusedError `not_found`."""
    async with rt.db.transaction(subject) as conn:
        given_up = await _find(conn, subject, quarantine_id)
        act = await acts.find(conn, subject, make_act_key(given_up))
        effect, _ = await _preview(conn, subject, given_up, act)
    topic = TOPICS_OF.get(given_up.stage, TURN_COMMITTED)
    told = _view(given_up, act).model_dump() | {"redrive": to_redrive_view(topic, effect)}
    return QuarantineView.model_validate(told)


async def redrive(rt: Runtime, subject: Subject, quarantine_id: UUID, order: OperatorRequest) -> OperatorResult:
    """Restarts the turn at the step that failed, once; a repeated request does nothing.

    RefusedError if nothing would change.
    """
    async with rt.db.transaction(subject) as conn:
        done = await acts.find_of_quarantine(conn, subject, quarantine_id)
        if done is not None and get_state(done) == REDRIVEN:
            return OperatorResult(state=REDRIVEN, fresh=False, act=to_act_view(done))
        given_up = await _find(conn, subject, quarantine_id)
        result = await _reopen(conn, subject, given_up, order) if given_up.stage in OF_TURNS else None
    if result is not None:
        rt.db.wake()
        return result
    letter = await find_letter(rt.kafka, make_letter_id(TOPICS_OF[given_up.stage], make_act_key(given_up)))
    if letter is None:
        raise refuse_redrive(Preview("impossible", "its dead letter is gone, and with it what the event said"))
    return await redrive_letter(rt, letter, order)


async def _reopen(conn: Connection, subject: Subject, given_up: Quarantined, order: OperatorRequest) -> OperatorResult:
    what = {"stage": given_up.stage, "quarantine_id": str(given_up.quarantine_id)}
    result = await record_act(conn, subject, make_act_key(given_up), f"{KIND}.{REDRIVEN}", order, what)
    if result.fresh:
        effect, turn = await _preview(conn, subject, given_up, None)
        if turn is None or effect.effect not in CARRIED_OUT:
            raise refuse_redrive(effect)
        await reopen_turn(conn, subject, turn, given_up.event_id)
    return result


async def drop(rt: Runtime, subject: Subject, quarantine_id: UUID, order: OperatorRequest) -> OperatorResult:
    """Marks the event as settled; the outcome of its turn stays."""
    async with rt.db.transaction(subject) as conn:
        given_up = await _find(conn, subject, quarantine_id)
        what = {"stage": given_up.stage, "quarantine_id": str(quarantine_id)}
        return await record_act(conn, subject, make_act_key(given_up), f"{KIND}.{DROPPED}", order, what)


def make_act_key(given_up: Quarantined) -> str:
    """The key of acts on the event, the same as for its dead letter."""
    return f"event:{given_up.event_id}"


async def _find(conn: Connection, subject: Subject, quarantine_id: UUID) -> Quarantined:
    found = await quarantine.find(conn, subject, quarantine_id)
    if found is None:
        raise RefusedError("not_found", "quarantine_id: not found", status=404)
    return found


async def _preview(
    conn: Connection, subject: Subject, given_up: Quarantined, act: OperatorAct | None
) -> tuple[Preview, TurnBehind | None]:
    turn = await redriving.find_turn(conn, subject, given_up.turn_id) if given_up.turn_id else None
    behind = Behind(
        TOPICS_OF.get(given_up.stage, TURN_COMMITTED),
        act=get_state(act) if act else None,
        turn=turn.state if turn else "missing" if given_up.turn_id else None,
        status=(turn.outcome or {}).get("status") if turn else None,
        given_up=True,
    )
    return decide_effect(behind), turn


def _view(given_up: Quarantined, act: OperatorAct | None) -> QuarantineView:
    return QuarantineView(
        quarantine_id=given_up.quarantine_id,
        tenant_id=given_up.tenant_id,
        user_id=given_up.user_id,
        stage=given_up.stage,
        turn_id=given_up.turn_id,
        event_id=given_up.event_id,
        created_at=given_up.created_at,
        error=blank_text(given_up.reason) if given_up.reason is not None else None,
        state=get_state(act),
        act=to_act_view(act) if act else None,
    )
