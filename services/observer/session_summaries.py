"""The rolling summaries of the sessions in a batch: whether they are due, the next version by rules, saving."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from services.observer import summary as rolling
from services.observer.rows import TurnNames, grow_slots
from services.observer.summary import (
    Reason,
    Summary,
    SummaryFact,
    SummaryMessage,
    SummaryPolicy,
    SummaryRef,
    SummaryTurn,
    TaskState,
)
from shared.bus.delivery import step
from shared.db import Connection
from shared.domain.observations import ObservationRow
from shared.domain.statements import FORGETS, SUSPECTED
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.extraction import ObservePolicy, TurnText, turn_texts
from shared.extraction.model import Mention
from shared.extraction.stretches import stretches as find_stretches
from shared.language import tokens
from shared.resolution.summary_lines import find_stale_lines
from shared.runtime import Runtime
from shared.secrets import redact
from shared.store import observations, sessions, summaries, turns, user_state
from shared.store.sessions import Grown, SessionState
from shared.store.summaries import SummaryRow
from shared.telemetry import logger

MODEL_ID = "rules-1"
READING = ObservePolicy()
MAX_TURNS = 200
MESSAGE_TOKENS = 4
"""The cost of a chat message besides its text."""
TOOL_CHARS = 240
"""The maximum length of a tool result that counts as shown in a window."""
_STATES: dict[str, TaskState] = {"todo": "todo", "doing": "doing", "done": "done", "blocked": "blocked", "open": "todo"}


@dataclass(frozen=True)
class SummaryInput:
    """A turn, what was observed of it, and the names in it."""

    turn: Turn
    rows: Sequence[ObservationRow]
    mentions: Sequence[Mention]


@dataclass(frozen=True)
class Stretch:
    """Turns of one session after which its summary is due; with `session_end` the last one ends the session."""

    inputs: Sequence[SummaryInput]
    reason: Reason

    @property
    def last(self) -> Turn:
        """The last turn that the summary will cover."""
        return self.inputs[-1].turn


@dataclass(frozen=True)
class Version:
    """A new version of the summary of a session, and the last turn that it covers."""

    row: SummaryRow
    turn: Turn


@dataclass(frozen=True)
class SummaryUpdates:
    """The changes of each session of the batch, and the new versions of due summaries, in order."""

    grown: Sequence[Grown] = ()
    versions: Sequence[Version] = ()

    def note(self, turn: Turn) -> dict[str, Any]:
        """The note about the summary in the outcome of the turn."""
        for version in self.versions:
            if version.turn.turn_id == turn.turn_id:
                row = version.row
                return {
                    "triggered": True,
                    "reason": row.reason,
                    "version": row.version,
                    "model_id": row.model_id,
                }
        return {"triggered": False}


async def update_summaries(
    rt: Runtime, subject: Subject, states: Mapping[str, SessionState], batch: Sequence[SummaryInput]
) -> SummaryUpdates:
    """Makes the summaries that are due after this batch, by rules, and counts what the sessions gained."""
    policy = rolling.to_summary_policy(rt.policy)
    mine = {name: [each for each in batch if each.turn.session_id == name] for name in states}
    due = {name: _stretches(states[name], mine[name], policy) for name in states}
    if not rt.policy.session.summaries:
        due = dict.fromkeys(due, ())
    bases: dict[str, SummaryBase] = {}
    for name in (name for name, stretches in due.items() if stretches):
        async with rt.db.transaction(subject) as conn:
            bases[name] = await _basis(conn, subject, name, mine[name], ends=any(each.last.ends for each in due[name]))
    versions: list[Version] = []
    for name, basis in bases.items():
        for stretch in due[name]:
            async with step():
                version = await asyncio.to_thread(_version, basis, stretch, policy)
            if version:
                versions.append(version)
                basis = basis.move_base(version.row)
    most = rt.policy.session.entity_slots_max
    return SummaryUpdates([to_grown(states[name], mine[name], versions, most) for name in states], versions)


def _stretches(state: SessionState, mine: Sequence[SummaryInput], policy: SummaryPolicy) -> list[Stretch]:
    """The turns of the session split where it ends; the rest only if a summary is due."""
    segments: list[Stretch] = []
    part: list[SummaryInput] = []
    for each in mine:
        part.append(each)
        if each.turn.ends:
            segments.append(Stretch(part, "session_end"))
            state = replace(state, summary_seq=each.turn.seq, open_tokens=0)
            part = []
    reason = decide_reason(state, part, policy) if part else None
    return [*segments, Stretch(part, reason)] if reason else segments


def decide_reason(state: SessionState, part: Sequence[SummaryInput], policy: SummaryPolicy) -> Reason | None:
    """Why a summary is due after these turns; None if it is not."""
    facts = [fact for each in part for fact in _facts(each.rows, each.turn.seq)]
    tool_results = [result for each in part for result in _turn(each.turn).tool_results]
    stage_event = rolling.ends_stage(facts, tool_results, policy, tokens.count)
    turns_since_last = part[-1].turn.seq - state.summary_seq
    used_tokens = state.open_tokens + _window_tokens(part)
    return rolling.find_reason(rolling.SummaryState(turns_since_last, used_tokens, stage_event), policy)


def _window_tokens(part: Sequence[SummaryInput]) -> int:
    """The tokens of the turns in the window: their messages, and the shown part of tool results."""
    texts = [turn_texts.turn_text(each.turn) for each in part]
    shown = [message.text for text in texts for message in text.messages]
    shown += [call.result_text[:TOOL_CHARS] for text in texts for call in text.tool_calls]
    return sum(tokens.count(each) + MESSAGE_TOKENS for each in shown)


def to_grown(state: SessionState, mine: Sequence[SummaryInput], versions: Sequence[Version], most: int) -> Grown:
    """The changes of a session: tokens since its summary, names, and its end."""
    reached = [v.row.source_to_seq for v in versions if v.row.session_id == state.session_id]
    after = [each for each in mine if not reached or each.turn.seq > reached[-1]]
    named = [
        TurnNames(each.turn.seq, each.mentions, [gone for row in each.rows if (gone := _find_taken_back(row))])
        for each in mine
    ]
    ended = [(each.turn.seq, each.turn.committed_at) for each in mine if each.turn.ends]
    return Grown(
        state.session_id,
        tokens=_window_tokens(after),
        summary_seq=reached[-1] if reached else None,
        slots=grow_slots(state.entity_slots, named, most),
        ended=ended[-1] if ended else None,
    )


@dataclass(frozen=True)
class SummaryBase:
    """The basis of the next summary of a session: the newest readable one, and the turns after it.

    `version` is that of the newest one, readable or not; `archived_to` is the last turn of the last archived stretch.
    Turns up to `cleared_to` are not summarised any more.
    """

    session_id: str
    version: int
    summary: Summary | None
    archived_to: int
    cleared_to: int = 0
    turns: Sequence[Turn] = ()
    observations: Mapping[UUID, Sequence[ObservationRow]] = field(default_factory=dict[UUID, Sequence[ObservationRow]])

    @property
    def covered(self) -> int:
        """The last turn that the summary covers."""
        return max(self.summary.source_to_seq if self.summary else 0, self.cleared_to)

    def move_base(self, row: SummaryRow) -> "SummaryBase":
        """The basis after this version."""
        archived_to = row.source_to_seq if row.block_from_seq else self.archived_to
        return replace(self, version=row.version, summary=read_row(row), archived_to=archived_to)


def read_row(row: SummaryRow) -> Summary | None:
    """The summary in the row; None if it is unreadable."""
    return rolling.load(row.summary_json, row.text)


async def _basis(
    conn: Connection, subject: Subject, session: str, mine: Sequence[SummaryInput], *, ends: bool
) -> SummaryBase:
    """Loads at most `MAX_TURNS` turns after the newest summary that is readable or was cleared, else from the first."""
    row = await summaries.latest(subject, session).on(conn)
    while row and read_row(row) is None:
        logger().warning("summary_unreadable", version=row.version, reaches_to=row.source_to_seq)
        row = await summaries.latest(subject, session, before=row.version).on(conn)
    cleared_to = await summaries.load_cleared_to(conn, subject, session)
    archived_to = max(await summaries.archived_to(conn, subject, session), cleared_to) if ends else 0
    summary = await without_stale_lines(conn, subject, session, read_row(row)) if row else None
    basis = SummaryBase(session, await summaries.newest(conn, subject, session), summary, archived_to, cleared_to)
    own = {each.turn.turn_id for each in mine}
    since = turns.window(subject, session, MAX_TURNS, after=basis.covered, before=mine[-1].turn.seq)
    earlier = [turn for turn in await since.on(conn) if turn.turn_id not in own]
    seen = await observations.of_turns(conn, subject, [turn.turn_id for turn in earlier]) if earlier else []
    observed: dict[UUID, list[ObservationRow]] = {each.turn.turn_id: list(each.rows) for each in mine}
    for row in seen:
        observed.setdefault(row.turn_id, []).append(row)
    every = sorted([*earlier, *(each.turn for each in mine)], key=lambda turn: turn.seq)
    return replace(basis, turns=every, observations=observed)


async def without_stale_lines(
    conn: Connection, subject: Subject, session: str, summary: Summary | None
) -> Summary | None:
    """The summary without lines whose statements have ended since, in any session."""
    if summary is None:
        return None
    standing = await user_state.load_standing(subject, session).on(conn)
    stale = find_stale_lines(standing.lines, standing.ended)
    return replace(summary, items=tuple(item for item in summary.items if item.text not in stale)) if stale else summary


def _version(basis: SummaryBase, stretch: Stretch, policy: SummaryPolicy) -> Version | None:
    """The next version; None if the session ends and nothing was said since its last end."""
    ends, last = stretch.reason == "session_end", stretch.last
    fresh = [turn for turn in basis.turns if basis.covered < turn.seq <= last.seq]
    spoken = [turn for turn in fresh if not turn.only_ends]
    if ends and max([basis.covered, *(turn.seq for turn in spoken)]) <= basis.archived_to:
        return None
    summary = rolling.summarise(
        basis.summary,
        [_turn(turn) for turn in fresh],
        [fact for turn in fresh for fact in _facts(basis.observations.get(turn.turn_id, ()), turn.seq)],
        policy,
        tokens.count,
        lambda text: redact(text)[0],
    )
    version = basis.version + 1
    block_from = basis.archived_to + 1 if ends else None
    row = SummaryRow(
        session_id=basis.session_id,
        version=version,
        reason=stretch.reason,
        text=summary.text,
        summary_json=rolling.dump(replace(summary, version=version)),
        source_from_seq=summary.source_from_seq,
        source_to_seq=summary.source_to_seq,
        model_id=MODEL_ID,
        level="archived" if ends else "working",
        block_from_seq=block_from,
        block_text=rolling.block(summary, block_from, policy, tokens.count) if block_from else None,
    )
    return Version(row, last)


def _turn(turn: Turn) -> SummaryTurn:
    text = text_of(turn)
    return SummaryTurn(
        said_at=turn.said_at,
        seq=turn.seq,
        messages=tuple(SummaryMessage(m.role, m.text) for m in text.messages),
        refs=tuple(SummaryRef(r.ref_uri, r.title) for r in text.refs),
        tool_results=tuple(t.result_text[: READING.max_message_chars] for t in text.tool_calls),
    )


def text_of(turn: Turn) -> TurnText:
    """The text of the turn that is read, the same as for statements."""
    return find_stretches(turn_texts.turn_text(turn), READING)[0]


def _facts(observed: Iterable[ObservationRow], seq: int) -> list[SummaryFact]:
    """The facts that a summary may contain, without suspected retractions."""
    return [_fact(seen, seq) for seen in observed if SUSPECTED not in seen.flags]


def _find_taken_back(seen: ObservationRow) -> str | None:
    """The text whose names are no longer mentioned; None if it retracts nothing."""
    return seen.text if FORGETS in seen.flags else seen.old_value


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
        old_value=seen.old_value,
    )


async def save_updates(conn: Connection, subject: Subject, updates: SummaryUpdates, most: int) -> None:
    """Saves the new versions, and for each session its summarised turns, names and end."""
    for version in updates.versions:
        await summaries.put(conn, subject, version.row)
    for grown in updates.grown:
        if grown.ended:
            counted = await sessions.count_names(conn, subject, grown.session_id, grown.slots, most)
            grown = replace(grown, slots=counted)
        await sessions.note(conn, subject, grown)
