"""A loop that stands still is named; one that works may take longer than one that rests."""

import pytest

from shared.loops import LONGEST_WORK_S, Loops


class Clock:
    """Seconds that the test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("working", "later", "stalled"),
    [
        (False, 10.0, []),
        (False, 10.1, ["topic"]),
        (True, 10.1, []),
        (True, LONGEST_WORK_S, []),
        (True, LONGEST_WORK_S + 1, ["topic"]),
    ],
)
def test_a_loop_has_stalled_after_its_time(working: bool, later: float, stalled: list[str]) -> None:
    clock = Clock()
    loops = Loops(10.0, clock)
    if working:
        with loops.work("topic"):
            clock.now = later
            assert loops.stalled == stalled
        assert loops.stalled == []
    else:
        loops.move("topic")
        clock.now = later
        assert loops.stalled == stalled


def test_a_loop_that_never_moved_is_not_expected_to() -> None:
    assert Loops(0.0, Clock()).stalled == []


def test_a_part_of_the_work_that_is_done_is_a_move() -> None:
    clock = Clock()
    loops = Loops(1.0, clock)
    with loops.work("topic"):
        clock.now = LONGEST_WORK_S
        loops.move("topic")
        clock.now += LONGEST_WORK_S
        assert loops.stalled == []
