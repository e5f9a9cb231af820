"""Usual durations are measured, and expire."""

import pytest

from shared.models.paces import HALF_LIFE_S, Paces


class Clock:
    """Monotonic seconds that the test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def paces(clock: Clock) -> Paces:
    return Paces(clock)


def test_without_measurements_there_is_no_estimate(paces: Paces) -> None:
    assert paces.usual_s("judge", 20) == 0.0


def test_the_estimate_grows_with_the_work_per_kind(paces: Paces) -> None:
    paces.took("judge", 10, 0.2)
    assert paces.usual_s("judge", 20) == pytest.approx(0.4)
    assert paces.usual_s("other", 20) == 0.0


def test_a_slow_call_counts_at_once_and_fast_ones_gradually(paces: Paces) -> None:
    paces.took("judge", 10, 0.1)
    paces.took("judge", 10, 0.3)
    assert paces.usual_s("judge", 10) == pytest.approx(0.2)
    paces.took("judge", 10, 0.1)
    assert paces.usual_s("judge", 10) == pytest.approx(0.19)


def test_an_abandoned_call_counts_as_longer_than_its_deadline(paces: Paces) -> None:
    paces.took("judge", 10, 0.1)
    paces.gave_up("judge", 10, 0.3)
    assert paces.usual_s("judge", 10) > 0.3
    paces.gave_up("judge", 10, 0.01)
    assert paces.usual_s("judge", 10) > 0.3


def test_an_old_estimate_expires_so_that_the_call_is_tried_again(paces: Paces, clock: Clock) -> None:
    paces.gave_up("judge", 10, 0.3)
    clock.now += HALF_LIFE_S
    assert paces.usual_s("judge", 10) == pytest.approx(0.225)
