"""When a summary is due."""

import pytest

from services.observer.summary import (
    Reason,
    Summary,
    SummaryFact,
    SummaryMessage,
    SummaryPolicy,
    SummaryState,
    SummaryTurn,
    state_of,
    trigger,
)
from shared.text.tokens import count

POLICY = SummaryPolicy()


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (SummaryState(12, 0), "turn_threshold"),  # OC088
        (SummaryState(11, 0), None),
        (SummaryState(1, 5735), "token_pressure"),  # OC089: 70% of 8192 is 5734.4
        (SummaryState(1, 5734), None),
        (SummaryState(1, 0, stage_event=True), "stage_event"),
        (SummaryState(12, 9000, stage_event=True), "turn_threshold"),
        (SummaryState(0, 9000, stage_event=True), None),
        (SummaryState(0, 0), None),
    ],
)
def test_the_first_reason_that_holds(state: SummaryState, reason: Reason | None) -> None:
    assert trigger(state, POLICY) == reason


def turn(seq: int, text: str, *results: str) -> SummaryTurn:
    return SummaryTurn(seq, (SummaryMessage("user", text),), tool_results=results)


@pytest.mark.parametrize(
    "fact",
    [
        SummaryFact("decision", "用 PostgreSQL", "decision:ledger:db", 1),
        SummaryFact("task", "write tests", "task:x:1", 1, state="done"),
    ],
)
def test_a_decision_or_a_finished_task_is_a_stage(fact: SummaryFact) -> None:
    assert state_of(None, [turn(1, "x")], [fact], POLICY, count).stage_event


@pytest.mark.parametrize(
    "fact",
    [
        SummaryFact("task", "write tests", "task:x:1", 1, state="todo"),
        SummaryFact("preference", "喜欢龙井", "pref:food:龙井", 1),
    ],
)
def test_other_facts_are_not(fact: SummaryFact) -> None:
    assert not state_of(None, [turn(1, "x")], [fact], POLICY, count).stage_event


def test_a_big_tool_result_is_a_stage() -> None:
    assert state_of(None, [turn(1, "x", "row of data " * 600)], [], POLICY, count).stage_event


def test_what_the_previous_summary_covers_does_not_count_again() -> None:
    previous = Summary(1, 1, 12)
    decided = SummaryFact("decision", "用 PostgreSQL", None, 12)
    state = state_of(previous, [turn(12, "x" * 900), turn(13, "hello")], [decided], POLICY, count)
    assert (state.turns_since_last, state.stage_event) == (1, False)
    assert state.used_tokens < 10


def test_chinese_is_counted_as_tokens_and_not_as_a_quarter_of_its_characters() -> None:
    state = state_of(None, [turn(1, "我们今天继续讨论账单系统的设计。" * 450)], [], POLICY, count)
    assert trigger(state, POLICY) == "token_pressure"
