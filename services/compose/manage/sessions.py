"""A user's sessions: listed, archived, remembered or not."""

from schemas.sessions import (
    ArchiveReceipt,
    EntitySlot,
    SessionLine,
    SessionPage,
    SessionView,
    SessionWish,
    SummaryBlock,
)
from schemas.turn_events import TurnEvents
from schemas.views import SummaryView
from services.compose.intake.commit import commit_turn
from shared.domain.subjects import Subject
from shared.domain.turns import make_session_end
from shared.errors import RefusedError, refuse_field
from shared.runtime import Runtime
from shared.store import sessions, summaries, user_state
from shared.store.sessions import SessionRow


def refuse_missing() -> RefusedError:
    return refuse_field("not_found", "session_id", "not found", 404)


def _line(row: SessionRow) -> SessionLine:
    return SessionLine(
        session_id=row.session_id,
        state="archived" if row.archived_at else "ending" if row.ended else "open",
        turns=row.last_seq,
        created_at=row.created_at,
        last_turn_at=row.last_turn_at,
        archived_at=row.archived_at,
        metadata=row.metadata,
        remembered=row.remembered,
    )


async def load_page(rt: Runtime, subject: Subject, limit: int, offset: int) -> SessionPage:
    """The user's sessions, the latest active first."""
    (found,) = await rt.db.read(subject, sessions.list_sessions(subject, limit, offset))
    return SessionPage(sessions=tuple(_line(row) for row in found))


async def load_session(rt: Runtime, subject: Subject, session_id: str) -> SessionView:
    """The session with its summary, blocks and names; RefusedError `not_found` if this user has none with that id."""
    policy = rt.policy.session
    row, latest, left = await rt.db.read(
        subject,
        sessions.one(subject, session_id),
        summaries.latest(subject, session_id),
        summaries.blocks(subject, session_id, policy.blocks_max),
    )
    if row is None:
        raise refuse_missing()
    return SessionView(
        **vars(_line(row)),
        summary=SummaryView.model_validate(vars(latest)) if latest else None,
        blocks=tuple(SummaryBlock.model_validate(each) for each in left),
        entity_slots=tuple(
            EntitySlot.model_validate(each) for each in user_state.foremost(row.entity_slots, policy.entity_slots_max)
        ),
    )


async def archive_session(rt: Runtime, subject: Subject, session_id: str) -> ArchiveReceipt:
    """Ends the session; a repeat returns the same receipt. RefusedError `not_found` if there is none."""
    session, latest = await rt.db.read(
        subject, sessions.one(subject, session_id), summaries.latest(subject, session_id)
    )
    if session is None:
        raise refuse_missing()
    if session.ended:
        done = session.archived_at is not None
        return ArchiveReceipt(
            receipt_id=session.event_id,
            session_id=session_id,
            turn_id=session.turn_id,
            archived_at=session.archived_at or session.committed_at,
            state="archived" if done else "ending",
            summary_version=latest.version if done and latest else None,
        )
    turn = make_session_end(subject, session_id, session.last_seq + 1)
    committed = (await commit_turn(turn, rt, transport="http")).result
    return ArchiveReceipt(
        receipt_id=committed.outbox_event_id,
        session_id=session_id,
        turn_id=committed.turn_id,
        archived_at=committed.committed_at,
        state="ending",
    )


async def remember_session(rt: Runtime, subject: Subject, session_id: str, *, remembered: bool) -> SessionWish:
    """Commits the wish that the session be remembered or not from now on; the session may be new."""
    turn = TurnEvents(
        tenant_id=subject.tenant_id, user_id=subject.user_id, session_id=session_id, session_remembered=remembered
    )
    result = (await commit_turn(turn, rt, transport="http")).result
    return SessionWish(session_id=session_id, remembered=remembered, turn_id=result.turn_id, since=result.committed_at)
