"""When a partition counts as stalled."""

from dataclasses import dataclass, field

import pytest
from aiokafka import TopicPartition

from shared.bus.fetching import Progress
from shared.telemetry import LONGEST_WORK_S
from tests.system.kafka import Stored

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
STALL_S = 60.0


@dataclass
class Watch:
    """A consumer's progress, and a clock that the test advances."""

    now: float = 0.0
    progress: Progress = field(init=False)

    def __post_init__(self) -> None:
        self.progress = Progress("observer", "t", STALL_S, lambda: self.now)

    def see(self, at: float, reached: int, end: int, other: tuple[int, int] = (0, 0)) -> set[int]:
        """The partitions that are stalled at this time."""
        self.now = at
        self.progress.note({P0: reached, P1: other[0]}, {P0: end, P1: other[1]})
        return {place.partition for place in self.progress.stalled}


@pytest.fixture
def watch() -> Watch:
    return Watch()


def test_a_fully_read_partition_is_never_stalled(watch: Watch) -> None:
    assert [watch.see(at, 5, 5) for at in (0, 100, 1000)] == [set(), set(), set()]


def test_a_partition_with_waiting_records_is_stalled_after_the_time_limit(watch: Watch) -> None:
    assert watch.see(0, 5, 6) == set()
    assert watch.see(STALL_S, 5, 9) == set()
    assert watch.see(STALL_S + 1, 5, 9, (3, 3)) == {0}
    assert watch.see(STALL_S + 2, 6, 9) == set()


def test_the_time_starts_when_a_record_waits(watch: Watch) -> None:
    watch.see(0, 5, 5)
    watch.see(1000, 5, 5)
    assert watch.see(1001, 5, 6) == set()
    assert watch.see(1061, 5, 6) == {0}


def test_an_advancing_partition_does_not_hide_a_stalled_one(watch: Watch) -> None:
    assert [watch.see(30.0 * n, n, 99, (1, 2)) for n in range(4)] == [set(), set(), set(), {1}]


def test_the_first_handling_of_a_record_may_take_long(watch: Watch) -> None:
    watch.progress.take([Stored("t", 0, offset) for offset in (5, 6)])
    assert [watch.see(at, 7, 9) for at in (0, STALL_S + 1, LONGEST_WORK_S)] == [set(), set(), set()]
    assert watch.see(LONGEST_WORK_S + 1, 7, 9) == {0}
    watch.progress.finish()
    assert watch.see(LONGEST_WORK_S + 2, 9, 9) == set()


def test_a_repeatedly_redelivered_record_is_a_stall(watch: Watch) -> None:
    seen: list[set[int]] = []
    for at in (0, 30, 61):
        watch.progress.take([Stored("t", 0, 5)])
        seen.append(watch.see(at, 6, 6))
        watch.progress.fail()
    assert seen == [set(), set(), {0}]


def test_a_partition_assigned_to_another_consumer_is_forgotten(watch: Watch) -> None:
    watch.see(0, 5, 9)
    watch.now = 100
    watch.progress.note({P1: 0}, {P1: 0})
    assert not watch.progress.stalled
    assert watch.see(101, 5, 9) == set()
