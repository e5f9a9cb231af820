"""A stalled loop is named; a working loop may take longer than an idle one."""

import pytest

from shared.telemetry import LONGEST_WORK_S, Loops


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
def test_a_loop_is_stalled_after_its_time_limit(working: bool, later: float, stalled: list[str]) -> None:
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


def test_a_loop_that_never_ran_is_not_stalled() -> None:
    assert Loops(0.0, Clock()).stalled == []


def test_partial_progress_counts() -> None:
    clock = Clock()
    loops = Loops(1.0, clock)
    with loops.work("topic"):
        clock.now = LONGEST_WORK_S
        loops.move("topic")
        clock.now += LONGEST_WORK_S
        assert loops.stalled == []
