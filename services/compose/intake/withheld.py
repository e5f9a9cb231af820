"""Where policy does not keep what nothing is learnt from, the words of such a turn are not written to the log."""

from collections.abc import Sequence
from typing import Any

from schemas.content import TEXT_ONLY
from schemas.turn_events import TurnEvents
from services.compose.intake.learning import to_turn_text
from shared import clock
from shared.domain.subjects import Subject
from shared.extraction.standing_wishes import TurnPlace
from shared.extraction.turn_texts import left_of, place_of, turn_text
from shared.extraction.wishes import find
from shared.runtime import Runtime
from shared.store import turns, wishes


async def why_wordless(turn: TurnEvents, rt: Runtime, *, learning: bool) -> str | None:
    """By whose wish the turn is to be logged without its words; None where policy keeps them, or nobody wishes so."""
    if rt.policy.observer.log_withheld:
        return None
    subject = Subject(turn.tenant_id, turn.user_id)
    silence, waiting, last = await rt.db.read(
        subject,
        wishes.load_standing(subject, [turn.session_id]),
        turns.load_pending(subject, rt.policy.compose.pending_turns_max),
        turns.load_last(subject, turn.session_id),
    )
    seq, why = last
    if why:
        silence.note(turn.session_id, seq, why)
    for each in waiting:
        silence.hear(place_of(each), turn_text(each))
    place = TurnPlace(clock.uuid7(), turn.session_id, seq + 1, clock.now(), turn.remember, learning=learning)
    return silence.hear(place, to_turn_text(turn))


def wordless(events: Sequence[dict[str, Any]], why: str) -> list[dict[str, Any]]:
    """The same events; of their words only the wishes are left, and what takes something known away."""
    return [_wordless(event, why) for event in events if event["event_type"] != "item" or _manages(event)]


def _manages(event: dict[str, Any]) -> bool:
    return bool(event["content"].get("memory_id") or event["content"].get("retract"))


def _wordless(event: dict[str, Any], why: str) -> dict[str, Any]:
    match event["event_type"]:
        case "user_message":
            text: str = event["content"]["text"]
            wished = [(wish.start, wish.end) for wish in find(text)]
            return {**event, "content": {"text": left_of(text, why, wished)}, "version": TEXT_ONLY}
        case "assistant_message" | "system":
            return {**event, "content": {"text": ""}, "version": TEXT_ONLY}
        case "tool_call":
            return {**event, "content": {"args": {}, "call_id": None}}
        case "tool_result":
            return {**event, "content": {"result": None, "status": event["content"].get("status")}}
        case "ref":
            return {**event, "content": {**event["content"], "ref_uri": "withheld:", "title": None, "meta": {}}}
        case _:
            return event
