"""Converts stored turns into texts for extraction, and observations into rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import orjson

from schemas.content import TEXT_ONLY
from shared.domain.observations import ObservationRow
from shared.domain.statements import CLAIMED, MISREAD, RELATED, candidate_id, input_hash
from shared.domain.turns import SESSION_END, WISH, WORDLESS, Event, Turn
from shared.extraction import (
    MessageText,
    Observation,
    Observed,
    RefText,
    StructuredStatement,
    ToolText,
    TurnText,
    recalled,
    retractions,
    slash,
    wishes,
)
from shared.extraction.clauses import language_of
from shared.extraction.edited import VALUE, redact_value, show_value
from shared.extraction.standing_wishes import TurnPlace, Why
from shared.policy import ConfidencePolicy
from shared.secrets import redact

SPOKEN = frozenset({"user_message", "assistant_message", "system"})
"""The events that are messages."""

RESTORE, EDIT, PIN, UNPIN, MERGE, IMPORT = "restore", "edit", "pin", "unpin", "merge", "import"
"""The patterns of items that name a memory: they restore its content, give its next version, pin or unpin it in core
memory, merge others into it, or import it unchanged."""
ACTS = frozenset({RESTORE, PIN, UNPIN, MERGE, IMPORT})
"""The patterns whose words, if there are any, are no statement by themselves."""
IMPORTED = "imported"
"""The field of an item with the imported version of a memory."""
OTHERS = "others"
"""The field of a merging item with the other memories."""
NOT_USEFUL, NEVER_AGAIN, BRING_UP_AGAIN = "not_useful", "never_again", "bring_up_again"
JUDGEMENTS = frozenset({NOT_USEFUL, NEVER_AGAIN, BRING_UP_AGAIN})
"""The patterns of items that judge the use of a memory and do not change its content."""

IN_EXPERIMENT = ("experiment_id", "variant")
"""The fields of a row about the experiment of its turn."""


def turn_text(turn: Turn) -> TurnText:
    """The turn as extraction reads it: everybody's own words, without erased events.

    An imported turn has nothing to read, because what was learnt from it was imported too.
    """
    return TurnText(()) if turn.imported else read_words(turn)


def read_words(turn: Turn) -> TurnText:
    """The words of the turn, wherever it came from."""
    calls = {e.ordinal: e for e in turn.events if e.event_type == "tool_call" and e.content is not None}
    return TurnText(
        messages=tuple(
            MessageText(e.role or "user", take_own_text(turn, e, e.content["text"]), e.name, e.ordinal, e.said_at)  # pyright: ignore[reportArgumentType] # the table's roles are the vocabulary's
            for e in turn.events
            if e.event_type in SPOKEN and e.content is not None
        ),
        tool_calls=tuple(
            _tool(turn, calls[e.ordinal - 1], e)
            for e in turn.events
            if e.event_type == "tool_result" and e.ordinal - 1 in calls
        ),
        refs=tuple(_ref(e.content) for e in turn.events if e.event_type == "ref" and e.content is not None),
        items=tuple(
            _item(e.content)
            for e in turn.events
            if e.event_type == "item" and e.content is not None and not e.content.get("memory_id")
        ),
        remembered=next((bool(e.content["remember"]) for e in turn.events if e.event_type == WISH and e.content), None),
    )


def only_commands(turn: Turn) -> bool:
    """Whether all messages of the user in the turn are commands, and there is at least one."""
    texts = turn.list_texts("user_message")
    return bool(texts) and all(map(slash.is_command, texts))


def place_of(turn: Turn) -> TurnPlace:
    """The place of the turn, for the wishes of its session."""
    told = turn.remember, turn.withheld, turn.learning
    return TurnPlace(turn.turn_id, turn.session_id, turn.seq, turn.committed_at, *told)


def withhold(turn: Turn, why: Why | str) -> Turn:
    """The turn without anything to learn; what retracts knowledge or names a memory stays."""
    events = tuple(left for event in turn.events if (left := leave_event(event, why)))
    return replace(turn, events=events, withheld=why)


def keep_session_end(turn: Turn) -> Turn:
    """The turn without words: only the end of its session is left, if it ends with it."""
    return replace(turn, events=tuple(e for e in turn.events if e.event_type == SESSION_END))


def leave_event(event: Event, why: str) -> Event | None:
    if event.event_type in WORDLESS:
        return event
    content = event.content or {}
    if event.event_type == "item":
        return event if content.get("memory_id") or content.get("retract") else None
    if event.event_type != "user_message" or "text" not in content:
        return None
    text = left_of(content["text"], why)
    return replace(event, content={"text": text}, version=TEXT_ONLY) if text.strip() else None


def left_of(text: str, why: str, kept: Sequence[tuple[int, int]] = ()) -> str:
    """The rest of a message in a withheld turn: its requests to forget, unless only this message was withheld."""
    spans = list(kept)
    if why in ("session", "settings", "person"):  # "person": of turns from before that was a setting
        wished = [(wish.start, wish.end) for wish in wishes.find_wishes(text)]
        spans += [
            (each.start, each.end)
            for each in retractions.find_requests_to_forget(text)
            if all(each.end <= start or each.start >= end for start, end in wished)
        ]
    return recalled.keep_spans(text, spans)


def take_own_text(turn: Turn, event: Event, text: str) -> str:
    """The text of the event without what memory had shown before."""
    return recalled.keep_own(text, turn.recalled.get(str(event.ordinal), ()))


def _tool(turn: Turn, call: Event, result: Event) -> ToolText:
    content = result.content or {}
    return ToolText(
        name=call.name or "",
        args=(call.content or {}).get("args") or {},
        result_text=take_own_text(turn, result, render_result(content.get("result"))),
        status=content.get("status") or "ok",
        ordinal=result.ordinal,
    )


def render_result(value: Any) -> str:
    """The result of a tool as text."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _ref(content: Mapping[str, Any]) -> RefText:
    return RefText(content["ref_type"], content["ref_uri"], content.get("title"))


def _item(content: Mapping[str, Any]) -> StructuredStatement:
    return StructuredStatement(
        type=content["type"],
        key=content.get("key"),
        value=content.get("value"),
        text=content.get("text"),
        confirmed=bool(content.get("confirmed")),
        retract=bool(content.get("retract")),
        confidence=content.get("confidence"),
    )


def observation_rows(turn: Turn, observed: Observed, policy: ConfidencePolicy) -> tuple[ObservationRow, ...]:
    """The observations of a turn as rows, including items that name a memory by id."""
    rows = [_row(turn, o, policy) for o in (*observed.observations, *observed.suspected)]
    rows += [_by_id(turn, e) for e in turn.events if _names_memory(turn, e)]
    # what has a key finds its own memory before words without one look for theirs
    rows.sort(key=lambda row: (row.ordinal, row.key is None, row.span_start))
    return tuple({row.input_hash: row for row in rows}.values())


def _names_memory(turn: Turn, event: Event) -> bool:
    """Whether the event is an item that names a memory; in an imported turn only imported items count."""
    content = event.content or {}
    return event.event_type == "item" and bool(content.get("memory_id")) and turn.imported == (IMPORTED in content)


def _row(turn: Turn, seen: Observation, policy: ConfidencePolicy) -> ObservationRow:
    plain = {name: part for name, part in seen.value.items() if name not in (RELATED, CLAIMED)}
    value = {**plain, **({"event_date": seen.event_date.isoformat()} if seen.event_date else {})}
    when = next((e.said_at for e in turn.events if e.ordinal == seen.message_ordinal), turn.said_at)
    statement_hash = input_hash(turn.turn_id, seen.message_ordinal, seen.kind, seen.key, seen.text, seen.retracts)
    return ObservationRow(
        observation_id=candidate_id(turn.turn_id, statement_hash),
        turn_id=turn.turn_id,
        session_id=turn.session_id,
        ordinal=seen.message_ordinal,
        priority=seen.priority,
        kind=seen.kind,
        key=seen.key,
        value=value,
        text=seen.text,
        assertion=seen.assertion,
        epistemic=seen.epistemic,
        polarity=seen.polarity,
        confidence=confidence_of(seen, policy),
        detector=seen.detector,
        pattern=seen.pattern,
        language=seen.language,
        retracts=seen.retracts,
        old_value=seen.old_value,
        flags=seen.flags,
        valid_until=seen.valid_until,
        said_at=when,
        input_hash=statement_hash,
        span_start=seen.span[0],
        span_end=seen.span[1],
        related_memory_id=_find(turn, seen) if MISREAD in seen.flags else find_related(seen),
        experiment={name: turn.experiment[name] for name in IN_EXPERIMENT} if turn.experiment else None,
    )


def confidence_of(seen: Observation, policy: ConfidencePolicy) -> float:
    """The first confidence of an observation: the one that it claims, up to its cap, or the one of its assertion.

    A model that is less sure of what it found lowers that, and never raises it.
    """
    standing = policy.level_of(seen.assertion, seen.flags)
    claimed = seen.value.get(CLAIMED)
    if seen.detector.startswith("model:") and isinstance(claimed, int | float):
        return min(float(claimed), standing.initial)
    stated = seen.value.get("confidence")
    return min(float(stated), standing.cap) if isinstance(stated, int | float) else standing.initial


def find_related(seen: Observation) -> UUID | None:
    """The memory that a model says has changed; the value of a client's item names none."""
    related = seen.value.get(RELATED) if seen.detector.startswith("model:") else None
    return UUID(related) if related else None


def _find(turn: Turn, seen: Observation) -> UUID:
    """The id of the memory that the finding of the rules in these words became."""
    said = input_hash(turn.turn_id, seen.message_ordinal, seen.kind, seen.key, seen.text, False)
    return candidate_id(turn.turn_id, said)


def is_forgotten(seen: ObservationRow) -> bool:
    """Whether what it retracts shall be forgotten: the user asked for that, retracted it by hand, or was joking.

    So is what was never said as it was read.
    """
    if MISREAD in seen.flags:
        return True
    joking = seen.detector == retractions.DETECTOR and seen.pattern in retractions.FORGOTTEN
    return seen.retracts and (joking or seen.pattern == "forget" or seen.detector == "items")


def takes_back_before(seen: ObservationRow) -> bool:
    """Whether it retracts what the user said in the turn before."""
    return seen.detector == retractions.DETECTOR and seen.old_value is None


def chosen_id(turn_id: UUID, ordinal: int, memory_id: UUID | str) -> UUID:
    """The id of the observation of an item that names a memory, which follows from its turn."""
    return candidate_id(turn_id, input_hash(turn_id, ordinal, memory_id))


def _by_id(turn: Turn, event: Event) -> ObservationRow:
    content = event.content or {}
    given = content.get("value")
    text = content.get("text") or ("" if given is None else show_value(given))
    clean, hits = (text, ()) if turn.imported else redact(text)
    value = {} if given is None else {VALUE: redact_value(given)}
    if content.get("merge"):
        value = {OTHERS: content["merge"]}
    if turn.imported:
        value = {IMPORTED: content[IMPORTED]}
    return ObservationRow(
        observation_id=chosen_id(turn.turn_id, event.ordinal, content["memory_id"]),
        turn_id=turn.turn_id,
        session_id=turn.session_id,
        ordinal=event.ordinal,
        priority="urgent",
        kind=content["type"],
        # a retraction is of the version that it names, not of what stands under its key by now
        key=None if content.get("retract") else content.get("key"),
        value=value,
        text=clean,
        assertion="directive",
        epistemic="fact",
        polarity=0,
        confidence=1.0,
        detector="items",
        pattern=_pattern(content),
        language=language_of(clean),
        retracts=bool(content.get("retract")),
        old_value=None,
        flags=("pii",) if hits else (),
        valid_until=None,
        said_at=event.said_at,
        input_hash=input_hash(turn.turn_id, event.ordinal, content["memory_id"]),
        related_memory_id=UUID(content["memory_id"]),
    )


def _pattern(content: Mapping[str, Any]) -> str:
    """The pattern of what an item does to the memory that it names."""
    if judged := content.get("feedback"):
        return str(judged)
    if IMPORTED in content:
        return IMPORT
    if content.get("pin") is not None:
        return PIN if content["pin"] else UNPIN
    if content.get("merge"):
        return MERGE
    return RESTORE if content.get("restore") else "memory_id" if content.get("retract") else EDIT
