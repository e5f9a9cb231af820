"""The effect of a redrive, by the state behind the dead letter; and the part of its text that is shown."""

from dataclasses import replace
from typing import Any

import pytest

from schemas.topics import (
    ANALYSIS_PROPOSED,
    COMPOSE_REPLY,
    COMPOSE_REQUEST,
    ERASURE_REQUESTED,
    FEEDBACK_RECORDED,
    OBSERVATION_RECORDED,
    TURN_COMMIT,
    TURN_COMMITTED,
    TURN_EXTRACT,
    TURN_OUTCOME,
)
from services.compose.rules.redriving import CARRIED_OUT, Behind, blank, decide_effect, get_notes


@pytest.mark.parametrize(
    ("behind", "effect", "why"),
    [
        (Behind(TURN_COMMIT), "commits", "under its key"),
        (Behind(TURN_COMMIT, turn="complete", status="derived"), "nothing", "derived"),
        (Behind(TURN_COMMIT, turn="open"), "nothing", "open"),
        (Behind(TURN_COMMIT, erasure="processing"), "nothing", "in force"),
        (Behind(TURN_COMMIT, erased=True), "nothing", "before an erasure"),
        (Behind(TURN_COMMIT, refusal="invalid_request: user_id"), "returns", "user_id"),
        (Behind(TURN_COMMIT, whole=False), "impossible", "batch"),
        (Behind(COMPOSE_REQUEST), "nothing", "no longer waits"),
        (Behind(COMPOSE_REPLY), "nothing", "no service"),
        (Behind(TURN_OUTCOME), "nothing", "no service"),
        (Behind(TURN_COMMITTED, refusal="no event"), "returns", "no event"),
        (Behind(TURN_COMMITTED, turn="missing"), "nothing", "does not exist"),
        (Behind(TURN_COMMITTED, turn="erased"), "nothing", "erased"),
        (Behind(TURN_COMMITTED, turn="open"), "derives", "no outcome"),
        (Behind(TURN_COMMITTED, turn="quarantined", given_up=True), "derives", "given up with it"),
        (Behind(TURN_COMMITTED, turn="quarantined"), "nothing", "another event"),
        (Behind(OBSERVATION_RECORDED, turn="complete", status="ignored"), "nothing", "ignored"),
        (Behind(ANALYSIS_PROPOSED, turn="complete", given_up=True, status="derived"), "nothing", "derived"),
        (Behind(TURN_EXTRACT, turn="complete", status="derived", given_up=True, handled=True), "applies", "no effect"),
        (Behind(TURN_EXTRACT, turn="complete", status="derived", handled=True), "nothing", "handled"),
        (Behind(TURN_EXTRACT, turn="erased", given_up=True), "nothing", "erased"),
        (Behind(FEEDBACK_RECORDED), "applies", "no worker"),
        (Behind(FEEDBACK_RECORDED, handled=True), "nothing", "handled"),
        (Behind(ERASURE_REQUESTED), "nothing", "no such"),
        (Behind(ERASURE_REQUESTED, erasure="completed"), "nothing", "completed"),
        (Behind(ERASURE_REQUESTED, erasure="escalated"), "nothing", "requeue"),
        (Behind(ERASURE_REQUESTED, erasure="processing"), "applies", "processing"),
    ],
)
def test_a_redrive_does_what_stands_behind_it_lets_it_do(behind: Behind, effect: str, why: str) -> None:
    seen = decide_effect(behind)
    assert seen.effect == effect
    assert why in seen.why
    for act in ("redriven", "dropped"):
        again = decide_effect(replace(behind, act=act))
        assert again.effect not in CARRIED_OUT
        assert act in again.why


@pytest.mark.parametrize(
    ("value", "with_text", "without"),
    [
        ("Anna 住在杭州", "(9 characters)", "Anna 住在杭州"),
        ({"user_id": "anna"}, {"user_id": "anna"}, {"user_id": "anna"}),
        ({"type": "my secret word"}, {"type": "(14 characters)"}, {"type": "my secret word"}),
        ({"type": "我的密码"}, {"type": "(4 characters)"}, {"type": "我的密码"}),
        ([{"content": ["hello", 7, None, True]}], [{"content": ["(5 characters)", 7, None, True]}], ...),
        ({"about": "password=hunter2secret9"}, {"about": "(23 characters)"}, {"about": "password=[SECRET]"}),
        ({"user_id": "13912345678"}, {"user_id": "[PHONE]"}, {"user_id": "[PHONE]"}),
    ],
)
def test_text_is_blanked_according_to_the_topic(value: Any, with_text: Any, without: Any) -> None:
    assert blank(value, carries_text=True) == with_text
    assert blank(value, carries_text=False) == (value if without is ... else without)


def test_the_observers_notes_are_kept_and_the_failed_step_is_reopened() -> None:
    failed = {"ordinal": 0, "span": [0, 10], "decision": "dropped", "reason": "ZeroDivisionError"}
    elsewhere = {"ordinal": 1, "span": [0, 10], "decision": "dropped", "reason": "question"}
    kept = {"ordinal": 0, "span": [20, 30], "decision": "kept", "reason": "preference"}
    settled = {"decision": "quarantined", "reason": "analyzer:ZeroDivisionError", "kind": "preference"}
    outcome = {"retention_explain": [failed, elsewhere, kept, settled], "summary": {"updated": True}}
    reopened = [{"ordinal": 0, "span_start": 4, "span_end": 9}]
    again = {**failed, "decision": "kept", "reason": "redriven"}
    assert get_notes(outcome, reopened) == {"explain": [again, elsewhere, kept], "summary": {"updated": True}}
    assert get_notes({}, reopened) == {"explain": [], "summary": {}}
