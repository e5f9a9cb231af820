"""A model's late results: retracted in the meantime, or recorded in an outcome that may be complete."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from services.observer.withdrawn import drop_withdrawn, is_withdrawn
from shared import clock
from shared.domain.observations import ObservationRow
from shared.store.additions import Withdrawal, with_entries
from shared.store.model_answers import CachedAnswer
from shared.store.turn_states import outcome_of, with_addition

TURN = UUID("01920000-0000-7000-8000-000000000001")
FOUND = ObservationRow(
    observation_id=UUID("01920000-0000-7000-8000-000000000002"),
    turn_id=TURN,
    session_id="s1",
    ordinal=0,
    priority="normal",
    kind="pattern",
    key=None,
    value={"value": "pool"},
    text="Usually at the pool on weekends",
    assertion="inferred",
    epistemic="fact",
    polarity=0,
    confidence=0.4,
    detector="model:qwen3",
    pattern="extract-3",
    language="en",
    retracts=False,
    old_value=None,
    flags=(),
    valid_until=None,
    said_at=clock.now(),
    input_hash="x",
    span_end=36,
)


@pytest.mark.parametrize(
    ("since", "gone"),
    [
        (Withdrawal(None, "", of_turn=True), True),
        (Withdrawal(None, "the pool", of_turn=False), True),
        (Withdrawal(None, "jazz", of_turn=False), False),
        (Withdrawal("pattern:sport:weekend", "", of_turn=False), True),
        (Withdrawal(None, "", of_turn=False), False),
    ],
)
def test_a_result_is_withdrawn_by_words_key_or_turn(since: Withdrawal, gone: bool) -> None:
    found = replace(FOUND, key="pattern:sport:weekend")
    assert is_withdrawn(found, [since]) is gone
    assert not is_withdrawn(found, [])


def test_a_chinese_result_is_withdrawn_by_words() -> None:
    found = replace(FOUND, text="周六日泡泳池", value={"value": "周六日泡泳池"})
    assert is_withdrawn(found, [Withdrawal(None, "泳池", of_turn=False)])
    assert not is_withdrawn(found, [Withdrawal(None, "咖啡", of_turn=False)])


def test_a_withdrawn_result_is_not_stored_as_an_answer() -> None:
    answer = {"items": [{"content": FOUND.text}, {"content": "Likes tea"}]}
    kept = CachedAnswer("h", "extract", "extract-3", "qwen3", "said", TURN, answer)
    assert drop_withdrawn(kept, {FOUND.text}).answer == {"items": [{"content": "Likes tea"}]}
    assert drop_withdrawn(kept, set()) is kept


@pytest.mark.parametrize("entries", ["explain", "retention_explain"])
def test_model_notes_follow_the_others_and_an_experiment_is_noted_once(entries: str) -> None:
    before: dict[str, Any] = {entries: [{"reason": "kept"}, {"reason": "experiment"}], "summary": {"version": 1}}
    more = [{"reason": "model_read"}, {"reason": "experiment", "prompt_version": "extract-1"}]
    after = with_entries(before, entries, more, {"version": 2})
    assert after == {entries: [{"reason": "kept"}, *more], "summary": {"version": 2}}
    assert with_entries({}, entries, [], {}) == {entries: [], "summary": {}}


def test_the_effect_of_a_late_result_is_recorded_once() -> None:
    kept = {"ordinal": 0, "span": [0, 36], "decision": "kept", "reason": "model: pattern"}
    rules = {"ordinal": 0, "span": [0, 36], "decision": "kept", "reason": "preference"}
    outcome = {"status": "ignored", "written": [], "conflicts": [], "retention_explain": [rules, kept]}
    rejected = replace(FOUND, state="rejected", reason="skip:older_than_known")
    for _ in range(2):
        added = outcome_of(TURN, [rejected], {}, {})
        outcome = with_addition(outcome, added, [rejected], {})
        assert outcome["status"] == "ignored"
        assert [each["decision"] for each in outcome["retention_explain"]] == ["kept", "dropped", "rejected"]
        assert outcome["retention_explain"][1]["reason"] == "older_than_known"
