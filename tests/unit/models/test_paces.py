"""How long something usually takes is learnt, and forgotten in time."""

import pytest

from shared.models.paces import HALF_LIFE_S, Paces


class Clock:
    """Monotonic seconds in the test's hands."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def paces(clock: Clock) -> Paces:
    return Paces(clock)


def test_nothing_is_known_at_first(paces: Paces) -> None:
    assert paces.usual_s("judge", 20) == 0.0


def test_time_grows_with_the_work_and_each_kind_has_its_own(paces: Paces) -> None:
    paces.took("judge", 10, 0.2)
    assert paces.usual_s("judge", 20) == pytest.approx(0.4)
    assert paces.usual_s("other", 20) == 0.0


def test_a_slow_call_counts_at_once_and_quick_ones_little_by_little(paces: Paces) -> None:
    paces.took("judge", 10, 0.1)
    paces.took("judge", 10, 0.3)
    assert paces.usual_s("judge", 10) == pytest.approx(0.2)
    paces.took("judge", 10, 0.1)
    assert paces.usual_s("judge", 10) == pytest.approx(0.19)


def test_a_call_that_was_given_up_takes_longer_than_it_was_given(paces: Paces) -> None:
    paces.took("judge", 10, 0.1)
    paces.gave_up("judge", 10, 0.3)
    assert paces.usual_s("judge", 10) > 0.3
    paces.gave_up("judge", 10, 0.01)
    assert paces.usual_s("judge", 10) > 0.3


def test_what_nobody_measures_is_forgotten_so_that_it_is_tried_again(paces: Paces, clock: Clock) -> None:
    paces.gave_up("judge", 10, 0.3)
    clock.now += HALF_LIFE_S
    assert paces.usual_s("judge", 10) == pytest.approx(0.225)
