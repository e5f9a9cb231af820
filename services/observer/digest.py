"""The rolling summary of the sessions that a batch touches: due or not, renewed, saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from services.observer import summary as rolling
from services.observer.summary import (
    Reason,
    SummaryFact,
    SummaryMessage,
    SummaryPolicy,
    SummaryRef,
    SummaryTurn,
    TaskState,
)
from shared import heard
from shared.db import Connection, Database, Subject
from shared.policy import ObserverPolicy
from shared.store import observations, summaries, turns
from shared.store.observations import ObservationRow
from shared.store.summaries import SummaryRow
from shared.store.turns import SessionState, Turn
from shared.text import tokens
from shared.text.secrets import redact

MODEL_ID = "rules-1"
MAX_TURNS = 200
_STATES: dict[str, TaskState] = {"todo": "todo", "doing": "doing", "done": "done", "blocked": "blocked", "open": "todo"}

Said = tuple[Turn, Sequence[ObservationRow]]
"""A turn and what was observed of it."""


@dataclass(frozen=True)
class Renewed:
    """How much each session grew, and the new versions of the summaries that were due."""

    grown: Mapping[str, int] = field(default_factory=dict[str, int])
    versions: Mapping[str, SummaryRow] = field(default_factory=dict[str, SummaryRow])

    def note(self, turn: Turn) -> dict[str, Any]:
        """What the turn's outcome says of its session's summary."""
        version = self.versions.get(turn.session_id)
        if version is None or version.source_to_seq != turn.seq:
            return {"triggered": False}
        return {"triggered": True, "reason": version.reason, "version": version.version}


def limits(policy: ObserverPolicy) -> SummaryPolicy:
    """The slice of policy that summaries follow."""
    return SummaryPolicy(
        after_turns=policy.summarize_after_turns,
        token_limit=policy.summary_token_limit,
        token_share=policy.summary_token_share,
    )


async def renew(
    db: Database,
    subject: Subject,
    states: Mapping[str, SessionState],
    batch: Sequence[Said],
    policy: ObserverPolicy,
) -> Renewed:
    """The summaries that are due after this batch; only those sessions are read in full."""
    grown: dict[str, int] = {}
    versions: dict[str, SummaryRow] = {}
    for session, state in states.items():
        mine = [(turn, said) for turn, said in batch if turn.session_id == session]
        grown[session] = sum(tokens.count(m.text) for turn, _ in mine for m in heard.turn_text(turn).messages)
        reason = _due(state, mine, grown[session], limits(policy))
        if reason:
            async with db.transaction(subject) as conn:
                versions[session] = await _renewed(conn, subject, session, mine, reason, limits(policy))
    return Renewed(grown, versions)


def _due(state: SessionState, mine: Sequence[Said], grown: int, policy: SummaryPolicy) -> Reason | None:
    facts = [_fact(o, turn.seq) for turn, said in mine for o in said]
    unspoken = [replace(_turn(turn), messages=()) for turn, _ in mine]
    staged = rolling.state_of(None, unspoken, facts, policy, tokens.count).stage_event
    last = max((turn.seq for turn, _ in mine), default=0)
    since = rolling.SummaryState(last - state.summary_seq, state.open_tokens + grown, staged)
    return rolling.trigger(since, policy)


async def _renewed(
    conn: Connection,
    subject: Subject,
    session: str,
    mine: Sequence[Said],
    reason: Reason,
    policy: SummaryPolicy,
) -> SummaryRow:
    old = await summaries.latest(subject, session).on(conn)
    covered = old.source_to_seq if old else 0
    own = {turn.turn_id for turn, _ in mine}
    since = await turns.window(subject, session, MAX_TURNS, after=covered).on(conn)
    earlier = [turn for turn in since if turn.turn_id not in own]
    said = await observations.of_turns(conn, subject, [turn.turn_id for turn in earlier]) if earlier else []
    last = max(turn.seq for turn, _ in mine)
    by_turn = sorted([*earlier, *(t for t, _ in mine if t.seq > covered)], key=lambda turn: turn.seq)
    by_turn = [turn for turn in by_turn if turn.seq <= last]
    seq_of = {turn.turn_id: turn.seq for turn in by_turn}
    facts = [_fact(o, seq_of[o.turn_id]) for o in (*said, *(o for _, s in mine for o in s)) if o.turn_id in seq_of]
    previous = rolling.load(old.summary_json, old.text) if old else None
    fresh = rolling.summarise(
        previous, [_turn(t) for t in by_turn], facts, policy, tokens.count, lambda text: redact(text)[0]
    )
    version = (old.version if old else 0) + 1
    return SummaryRow(
        session_id=session,
        version=version,
        reason=reason,
        text=fresh.text,
        summary_json=rolling.dump(replace(fresh, version=version)),
        source_from_seq=fresh.source_from_seq,
        source_to_seq=fresh.source_to_seq,
        model_id=MODEL_ID,
    )


def _turn(turn: Turn) -> SummaryTurn:
    text = heard.turn_text(turn)
    return SummaryTurn(
        seq=turn.seq,
        messages=tuple(SummaryMessage(m.role, m.text) for m in text.messages),
        refs=tuple(SummaryRef(r.ref_uri, r.title) for r in text.refs),
        tool_results=tuple(t.result_text for t in text.tool_calls),
    )


def _fact(seen: ObservationRow, seq: int) -> SummaryFact:
    state = seen.value.get("status") or seen.value.get("state")
    old_key = seen.value.get("old_key")
    return SummaryFact(
        kind=seen.kind,
        text=seen.text,
        key=seen.key,
        turn_seq=seq,
        polarity=-1 if seen.polarity < 0 else 1 if seen.polarity > 0 else 0,
        state=_STATES.get(str(state)) if state else None,
        supersedes_key=old_key if isinstance(old_key, str) else None,
        retracts=seen.retracts,
    )


async def save(conn: Connection, subject: Subject, renewed: Renewed) -> None:
    """The new versions stand, and each session knows how far its summary reaches."""
    for session, grown in renewed.grown.items():
        version = renewed.versions.get(session)
        if version:
            await summaries.put(conn, subject, version)
        await turns.note_said(conn, subject, session, grown, version.source_to_seq if version else None)
