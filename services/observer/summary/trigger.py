"""Whether a summary is due: enough turns, more tokens than the window, or a finished matter."""

from collections.abc import Sequence

from services.observer.summary.model import (
    Count,
    Reason,
    Summary,
    SummaryFact,
    SummaryPolicy,
    SummaryState,
    SummaryTurn,
)
from shared.policy import Policy


def to_summary_policy(policy: Policy) -> SummaryPolicy:
    """The slice of policy that summaries follow: due before a turn leaves the window that compose shows."""
    observer, compose = policy.observer, policy.compose
    return SummaryPolicy(
        after_turns=min(observer.summarize_after_turns, max(1, compose.recent_turns_max)),
        token_limit=observer.summary_token_limit,
        token_share=observer.summary_token_share,
        language=None if compose.language == "auto" else compose.language,
        window_tokens=min(shares.window for shares in compose.budget.profiles.values()),
    )


def trigger(state: SummaryState, policy: SummaryPolicy) -> Reason | None:
    """Why a summary is due now, or None."""
    if state.turns_since_last <= 0:
        return None
    if state.turns_since_last >= policy.after_turns:
        return "turn_threshold"
    if state.used_tokens > min(policy.token_share * policy.token_limit, policy.window_tokens):
        return "token_pressure"
    return "stage_event" if state.stage_event else None


def state_of(
    previous: Summary | None,
    turns: Sequence[SummaryTurn],
    facts: Sequence[SummaryFact],
    policy: SummaryPolicy,
    count: Count,
) -> SummaryState:
    """The state after these turns; those that the previous summary covers do not count."""
    covered = previous.source_to_seq if previous else -1
    fresh = [turn for turn in turns if turn.seq > covered]
    used = count(previous.text) if previous and previous.text else 0
    used += sum(count(text) for turn in fresh for text in _texts(turn))
    staged = any(_is_stage(fact) for fact in facts if fact.turn_seq > covered)
    big = any(count(result) > policy.big_tool_tokens for turn in fresh for result in turn.tool_results)
    return SummaryState(len(fresh), used, staged or big)


def _texts(turn: SummaryTurn) -> list[str]:
    return [message.text for message in turn.messages] + list(turn.tool_results)


def _is_stage(fact: SummaryFact) -> bool:
    return fact.kind == "decision" or (fact.kind == "task" and fact.state == "done")
