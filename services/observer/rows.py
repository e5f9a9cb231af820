"""The rows and events that the observer writes of a turn: statements, mentions, chunks, notes, names of its session.

Pure except for new ids.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from schemas.envelope import Envelope
from schemas.events import ObservationRecorded, ObservationUrgent, Payload, TurnExtract
from schemas.topics import OBSERVATION_RECORDED, OBSERVATION_URGENT, TURN_EXTRACT
from services.observer.extract import Extraction
from shared import clock
from shared.domain import chunk_ids
from shared.domain.blocks import Recognized, searchable
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.domain.turns import Event, Turn
from shared.extraction import Observed, turn_texts
from shared.extraction.intent import understand
from shared.extraction.model import Mention
from shared.extraction.turn_texts import IN_EXPERIMENT, SPOKEN, render_result, take_own_text
from shared.language import segment
from shared.language.normalise import detect, normalise
from shared.language.patterns import to_pattern
from shared.language.segment import has_word
from shared.screening.sanitize import DEFAULT_SANITIZE, SanitizePolicy, screen
from shared.secrets import find_secrets
from shared.store import outbox
from shared.store.additions import EXPERIMENT
from shared.store.chunks import Chunk
from shared.store.experience import ToolReceipt
from shared.store.outbox import Outgoing
from shared.store.told_before import MentionRow


def make_envelope(subject: Subject, turn: Turn, payload: Payload, which: str = "") -> Envelope:
    """The envelope of an event of this turn; `which` distinguishes it from others of its type."""
    origin = {"trace_id": turn.trace_id, "policy_version": turn.policy_version, "session_id": turn.session_id}
    return outbox.event(payload, subject, f"{turn.turn_id}{which}", **origin)


def to_events(subject: Subject, turn: Turn, rows: Sequence[ObservationRow], which: str = "") -> list[Outgoing]:
    """The events that continue the observations of the turn: corrections separately from the rest."""
    urgent = [row for row in rows if row.priority == "urgent"]
    normal = [row for row in rows if row.priority != "urgent"]
    events: list[Outgoing] = []
    if urgent:
        payload = ObservationUrgent(
            observation_ids=tuple(r.observation_id for r in urgent), turn_id=turn.turn_id, pattern=urgent[0].pattern
        )
        events.append((OBSERVATION_URGENT, make_envelope(subject, turn, payload, which)))
    if normal:
        recorded = ObservationRecorded(observation_ids=tuple(r.observation_id for r in normal), turn_id=turn.turn_id)
        events.append((OBSERVATION_RECORDED, make_envelope(subject, turn, recorded, which)))
    return events


def to_extract(subject: Subject, turn: Turn) -> Outgoing:
    """The event that requests the second step."""
    return TURN_EXTRACT, make_envelope(subject, turn, TurnExtract(turn_id=turn.turn_id))


MAX_TOOL_CHARS = 4000
UNNAMED = "?"
"""Replaces the name of a tool that is not a plain name, because others read it."""
_NAME = to_pattern(r"(?!.*\d{6})[A-Za-z\u4e00-\u9fff][A-Za-z0-9\u4e00-\u9fff_.:/-]{0,63}")


def to_mention_rows(turn: Turn, observed: Observed) -> list[MentionRow]:
    """The mentions of entities in the turn."""
    said_at = {e.ordinal: e.said_at for e in turn.events}
    return [
        MentionRow(
            clock.uuid7(),
            m.kind,
            m.canonical,
            m.name,
            turn.turn_id,
            m.message_ordinal,
            *m.span,
            said_at.get(m.message_ordinal, turn.said_at),
            m.same_as,
        )
        for m in observed.mentions
    ]


def to_chunks(turn: Turn, policy: SanitizePolicy = DEFAULT_SANITIZE) -> list[Chunk]:
    """The chunks of the turn for search: messages with the text of their media, and shortened tool results.

    A turn that contains only commands has none: their effects are stored elsewhere.
    """
    if turn_texts.only_commands(turn):
        return []
    return [_chunk(turn, event, text, media) for event, text, media in _list_texts(turn, policy) if text.strip()]


def _list_texts(turn: Turn, policy: SanitizePolicy) -> Iterable[tuple[Event, str, tuple[Recognized, ...]]]:
    """The own text of each event, without text that packages had shown."""
    for event in turn.events:
        if event.content is None:
            continue
        if blocks := event.blocks:
            yield event, *searchable(take_own_text(turn, event, event.content["text"]), blocks, policy)
        elif "text" in event.content and event.event_type in (*SPOKEN, "tool_result"):
            yield event, take_own_text(turn, event, event.content["text"]), ()
        elif event.event_type == "tool_result":
            yield (
                event,
                f"{event.name}: {take_own_text(turn, event, render_result(event.content.get('result')))}"[
                    :MAX_TOOL_CHARS
                ],
                (),
            )
        elif event.event_type == "ref":
            yield event, " ".join(filter(None, (event.content.get("title"), event.content["ref_uri"]))), ()


def _chunk(turn: Turn, event: Event, text: str, media: tuple[Recognized, ...]) -> Chunk:
    return Chunk(
        chunk_id=chunk_ids.chunk_of(turn.session_id, turn.seq, event.ordinal),
        text=text,
        terms=tuple(segment.terms(text)),
        language=detect(text),
        normalizer_version=segment.SEGMENTER_VERSION,
        said_at=event.said_at,
        turn_id=turn.turn_id,
        ordinal=event.ordinal,
        session_id=turn.session_id,
        seq=turn.seq,
        role=event.role,
        name=event.name,
        media=[asdict(each) for each in media] or None,
    )


def to_tool_receipts(turn: Turn, question: str) -> list[ToolReceipt]:
    """The result of each tool call in the turn, and the intent of the `question` of the user; without arguments."""
    calls = [event for event in turn.events if event.event_type == "tool_call"]
    ended = {e.ordinal: (e.content or {}).get("status") or "ok" for e in turn.events if e.event_type == "tool_result"}
    text = normalise(question) if calls else ""
    intent = understand(text).intent if text else None
    return [
        ToolReceipt(
            turn.turn_id,
            call.ordinal,
            clean_tool_name(call.name),
            ended.get(call.ordinal + 1, "pending"),
            intent,
            call.said_at,
        )
        for call in calls
    ]


def clean_tool_name(name: str | None) -> str:
    """The name if it is a plain name, without secrets, personal numbers and orders to the agent; else `UNNAMED`."""
    fits = name and _NAME.fullmatch(name) and not find_secrets(name) and screen(name).outcome == "pass"
    return name if name and fits else UNNAMED


def make_notes(turn: Turn, extraction: Extraction, summary: Mapping[str, Any]) -> dict[str, Any]:
    """The notes for the outcome of the turn: spans and reasons, never text; and its experiment."""
    observed = extraction.observed
    explain = [
        {"ordinal": e.ordinal, "span": list(e.text_span), "decision": e.decision, "reason": e.reason}
        for e in observed.explain
    ]
    refused = [
        {"ordinal": r.ordinal, "span": list(r.span), "decision": "refused", "reason": r.reason, "rule": r.rule}
        for r in observed.refused
    ]
    extra: list[dict[str, Any]] = [{"reason": reason} for reason in extraction.notes]
    if turn.experiment:
        named = {name: turn.experiment[name] for name in IN_EXPERIMENT}
        extra.append({"reason": EXPERIMENT, **named, "prompt_version": extraction.prompt_version})
    if turn.command:
        command = {name: turn.command.get(name) for name in ("command", "done", "number", "memory_ids")}
        extra.append({"reason": "command", "rule": turn.command.get("reason"), **command})
    recalled = [
        {"ordinal": int(ordinal), "span": list(span), "decision": "dropped", "reason": "recalled"}
        for ordinal, spans in turn.recalled.items()
        for span in spans
    ]
    return {"explain": [*explain, *refused, *recalled, *extra], "summary": dict(summary)}


@dataclass(frozen=True, slots=True)
class TurnNames:
    """The names in one turn, and the values that it retracted or replaced."""

    seq: int
    mentions: Sequence[Mention]
    retracted: Sequence[str] = ()


def grow_slots(
    slots: Mapping[str, Mapping[str, Any]], turns: Iterable[TurnNames], most: int
) -> dict[str, dict[str, Any]]:
    """The names that represent a running session: the most mentioned, and as many of the latest others.

    A retracted name is left out until it is mentioned again. At the end of the session the names are counted again.
    """
    grown = {key: dict(slot) for key, slot in slots.items()}
    for turn in turns:
        for each in turn.mentions:
            key = f"{each.kind}:{each.canonical}"
            slot = grown.setdefault(key, {"name": each.name, "kind": each.kind, "mentions": 0, "last_seq": turn.seq})
            slot["mentions"] += 1
            slot["last_seq"] = max(slot["last_seq"], turn.seq)
        retracted = turn.retracted
        grown = {
            key: slot for key, slot in grown.items() if not any(has_word(each, slot["name"]) for each in retracted)
        }
    ranked = sorted(grown, key=lambda key: (-grown[key]["mentions"], -grown[key]["last_seq"], key))
    latest = sorted(ranked[most:], key=lambda key: -grown[key]["last_seq"])
    return {key: grown[key] for key in (*ranked[:most], *latest[:most])}
