"""Decides what a redrive of a dead letter would do."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from schemas.dead_letters import RedriveEffect
from schemas.topics import (
    COMPOSE_REQUEST,
    ERASURE_REQUESTED,
    FEEDBACK_RECORDED,
    RESOURCE_INGEST,
    TURN_COMMIT,
    TURN_EXTRACT,
    Topic,
)
from schemas.vocabulary import TombstoneStatus
from shared.secrets import redact

CARRIED_OUT: frozenset[RedriveEffect] = frozenset({"commits", "derives", "applies"})
"""The effects that are carried out; with others, nothing is done."""
BESIDE_THE_OUTCOME = frozenset({TURN_EXTRACT, FEEDBACK_RECORDED, RESOURCE_INGEST})
"""Topics whose events do not change the outcome of their turn."""
IDS = frozenset(
    {
        "tenant_id",
        "user_id",
        "session_id",
        "turn_id",
        "event_id",
        "event_type",
        "role",
        "type",
        "scope",
        "version",
        "created_at",
        "occurred_at",
        "requested_at",
        "trace_id",
        "policy_version",
    }
)
"""Fields shown unchanged in records that carry text."""


@dataclass(frozen=True)
class Behind:
    """The state behind a dead letter.

    `whole`: the record itself is kept. `refusal`: why it still cannot be read. `turn`: the progress of its turn, None
    if it names none. `status`: the outcome of that turn. `given_up`: its event is in quarantine. `handled`: a worker
    has claimed it. `erasure`: the progress of the erasure that it starts.
    """

    topic: Topic
    whole: bool = True
    act: str | None = None
    refusal: str | None = None
    erased: bool = False
    turn: str | None = None
    status: str | None = None
    given_up: bool = False
    handled: bool = False
    erasure: TombstoneStatus | None = None


@dataclass(frozen=True)
class Preview:
    """The effect of a redrive, with the reason."""

    effect: RedriveEffect
    why: str


def decide_effect(behind: Behind) -> Preview:
    """The effect of a redrive now."""
    return _find_obstacle(behind) or _decide_for_topic(behind)


def _find_obstacle(behind: Behind) -> Preview | None:
    """The obstacle to a redrive of any topic, if there is one."""
    if behind.act:
        return Preview("nothing", f"it has been {behind.act}")
    if not behind.whole:
        return Preview("impossible", "only the bytes of a batch or a hash are kept; the sender has to send it again")
    if not any(reader.group for reader in behind.topic.consumers):
        return Preview("nothing", "no service reads its topic")
    if behind.topic == COMPOSE_REQUEST:
        return Preview("nothing", "whoever asked no longer waits for the answer")
    if behind.erased:
        return Preview("nothing", "it was sent before an erasure that covers it")
    if behind.refusal:
        return Preview("returns", behind.refusal)
    return None


def _decide_for_topic(behind: Behind) -> Preview:
    if behind.topic == TURN_COMMIT:
        return _decide_for_intake(behind)
    if behind.topic == ERASURE_REQUESTED:
        return _decide_for_erasure(behind)
    if behind.turn == "missing":
        return Preview("nothing", "its turn does not exist")
    if behind.turn == "erased":
        return Preview("nothing", "its turn has been erased")
    if behind.topic in BESIDE_THE_OUTCOME:
        return _decide_for_event(behind)
    return _decide_for_turn(behind)


def _decide_for_intake(behind: Behind) -> Preview:
    if behind.erasure:
        return Preview("nothing", f"the erasure is in force: {behind.erasure}")
    if behind.turn in (None, "missing"):
        return Preview("commits", "nothing was committed under its key")
    return Preview("nothing", f"it was committed before; its turn is {behind.status or behind.turn}")


def _decide_for_erasure(behind: Behind) -> Preview:
    if behind.erasure is None:
        return Preview("nothing", "no such erasure")
    if behind.erasure == "completed":
        return Preview("nothing", "the erasure is completed")
    if behind.erasure == "escalated":
        return Preview("nothing", "the erasure waits for an operator: requeue it")
    return Preview("applies", f"the erasure is {behind.erasure}")


def _decide_for_event(behind: Behind) -> Preview:
    if behind.given_up:
        return Preview("applies", "it was given up and had no effect")
    if behind.handled:
        return Preview("nothing", "it has been handled")
    return Preview("applies", "no worker has handled it")


def _decide_for_turn(behind: Behind) -> Preview:
    if behind.turn == "open":
        return Preview("derives", "its turn has no outcome yet")
    if behind.turn == "quarantined":
        if behind.given_up:
            return Preview("derives", "its turn was given up with it")
        return Preview("nothing", "its turn was given up at another event: redrive that")
    return Preview("nothing", f"its turn has its outcome: {behind.status or behind.turn}")


def get_notes(outcome: Mapping[str, Any], reopened: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the observer noted in a turn's outcome: the results of each stretch, and the summary.

    Results of observations that are open again are left out.
    """
    said = [each for each in outcome.get("retention_explain") or () if "span" in each]
    explain = [
        {**each, "decision": "kept", "reason": "redriven"} if _touches(each, reopened) else each for each in said
    ]
    return {"explain": explain, "summary": outcome.get("summary") or {}}


def _touches(said: Mapping[str, Any], reopened: Sequence[Mapping[str, Any]]) -> bool:
    start, end = said["span"]
    here = (each for each in reopened if each["ordinal"] == said.get("ordinal"))
    return said.get("decision") == "dropped" and any(s["span_start"] < end and start < s["span_end"] for s in here)


def blank(value: JsonValue, *, carries_text: bool, name: str = "") -> JsonValue:
    """The value without words: lengths only if its topic carries text, else without secrets and personal data."""
    if isinstance(value, dict):
        return {key: blank(each, carries_text=carries_text, name=key) for key, each in value.items()}
    if isinstance(value, list):
        return [blank(each, carries_text=carries_text, name=name) for each in value]
    if not isinstance(value, str):
        return value
    is_id = name in IDS and value.isascii() and " " not in value
    if carries_text and not is_id:
        return f"({len(value)} characters)"
    return blank_text(value)


def blank_text(text: str) -> str:
    """The text without credentials and personal data of any kind, whatever the policy allows in memory."""
    return redact(text, frozenset())[0]
