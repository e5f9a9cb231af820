"""The daily share of model usage."""

import pytest

from shared.model_calls.budget import ModelBudget, choose_least, subtract_spent
from shared.models.cost import Meter, Spent


@pytest.mark.parametrize(
    ("tokens", "seconds", "spent", "prompt", "allowed"),
    [
        (0, 0, Spent(9, 10**9, 10**9, 10**9), 10**6, True),
        (1000, 0, Spent(), 1000, True),
        (1000, 0, Spent(), 1001, False),
        (1000, 0, Spent(1, 600, 200), 200, True),
        (1000, 0, Spent(1, 600, 200), 201, False),
        (1000, 0, Spent(1, 900, 200), 1, False),
        (0, 60, Spent(1, 1, 1, 59.9), 10**6, True),
        (0, 60, Spent(1, 1, 1, 60.0), 1, False),
        (1000, 60, Spent(1, 1, 1, 61.0), 1, False),
    ],
)
def test_a_share_is_exhausted_by_tokens_or_by_time(
    tokens: int, seconds: float, spent: Spent, prompt: int, allowed: bool
) -> None:
    assert subtract_spent(tokens, seconds, spent).allows(prompt) is allowed


def test_a_burst_reduces_the_share() -> None:
    budget, asked = subtract_spent(1000, 0, Spent()), 0
    while budget.allows(300):
        budget, asked = budget.subtract(Spent(1, 300, 50, 2.0)), asked + 1
    assert asked == 3
    assert budget.tokens == -50


def test_the_smaller_share_limits() -> None:
    assert choose_least(ModelBudget(10, None), ModelBudget(None, 5.0)) == ModelBudget(10, 5.0)
    assert choose_least(ModelBudget(10, 7.0), ModelBudget(3, 9.0)) == ModelBudget(3, 7.0)
    assert choose_least(ModelBudget(), ModelBudget()) == ModelBudget()


def test_a_meter_counts_late_and_abandoned_answers() -> None:
    now = [10.0]
    meter = Meter(lambda: now[0])
    meter.note_sent(100)
    meter.note_answered(120, 30)
    meter.note_sent(50)
    meter.note_failed()
    now[0] = 12.5
    assert meter.total() == Spent(2, 120, 30, 2.5)
    meter.note_sent(70)
    assert (meter.total().calls, meter.total().tokens, meter.total().tokens_in) == (3, 220, 190)
