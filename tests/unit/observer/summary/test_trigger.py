"""The conditions for updating a summary."""

import pytest

from services.observer.summary import (
    Reason,
    SummaryFact,
    SummaryPolicy,
    SummaryState,
    ends_stage,
    find_reason,
    to_summary_policy,
)
from shared.language.tokens import count
from shared.policy import ComposePolicy, Policy

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
def test_the_first_condition_that_holds(state: SummaryState, reason: Reason | None) -> None:
    assert find_reason(state, POLICY) == reason


@pytest.mark.parametrize("window", [0, 1, 2, 5, 8, 12, 20])
@pytest.mark.parametrize("length", range(1, 41))
def test_every_turn_is_in_the_window_or_covered(window: int, length: int) -> None:
    policy = to_summary_policy(Policy(compose=ComposePolicy(recent_turns_max=window)))
    covered = 0
    for seq in range(1, length + 1):
        if find_reason(SummaryState(seq - covered, 0), policy):
            covered = seq
    shown = range(max(1, length - window + 1), length + 1)
    assert [seq for seq in range(1, length + 1) if seq > covered and seq not in shown] == []


@pytest.mark.parametrize("tokens", [30, 140, 300, 900, 1300])
@pytest.mark.parametrize("length", range(1, 41))
def test_every_turn_is_in_the_smallest_window_or_covered_whatever_its_length(tokens: int, length: int) -> None:
    policy = to_summary_policy(Policy())
    room = min(shares.window for shares in Policy().compose.budget.profiles.values())
    covered, since = 0, 0
    for seq in range(1, length + 1):
        since += tokens
        if find_reason(SummaryState(seq - covered, since), policy):
            covered, since = seq, 0
    shown = range(max(1, length - min(8, room // tokens) + 1), length + 1)
    assert [seq for seq in range(1, length + 1) if seq > covered and seq not in shown] == []


@pytest.mark.parametrize(
    "fact",
    [
        SummaryFact("decision", "用 PostgreSQL", "decision:ledger:db", 1),
        SummaryFact("task", "write tests", "task:x:1", 1, state="done"),
    ],
)
def test_a_decision_or_a_completed_task_is_a_milestone(fact: SummaryFact) -> None:
    assert ends_stage([fact], [], POLICY, count)


@pytest.mark.parametrize(
    "fact",
    [
        SummaryFact("task", "write tests", "task:x:1", 1, state="todo"),
        SummaryFact("preference", "喜欢龙井", "pref:food:龙井", 1),
    ],
)
def test_other_facts_are_not(fact: SummaryFact) -> None:
    assert not ends_stage([fact], [], POLICY, count)


def test_a_large_tool_result_is_a_milestone() -> None:
    assert ends_stage([], ["row of data " * 600], POLICY, count)


def test_chinese_is_counted_in_tokens_and_not_as_a_quarter_of_its_characters() -> None:
    used_tokens = count("我们今天继续讨论账单系统的设计。" * 450)
    assert find_reason(SummaryState(1, used_tokens), POLICY) == "token_pressure"
