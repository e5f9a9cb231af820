"""Transitions of a tombstone, its fence, and its retries: every pair of states, every attempt."""

from datetime import timedelta
from itertools import product
from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.vocabulary import TombstoneStatus
from shared.erasure.rules import NEXT, backoff, is_exhausted, is_fenced, may
from shared.policy import ErasurePolicy

STATES: tuple[TombstoneStatus, ...] = get_args(TombstoneStatus)
POLICY = ErasurePolicy()
TABLE = """
               requested verified tombstoned queued processing completed failed retry_pending escalated
requested      .         x        .          .      .          .         .      .             x
verified       .         .        x          .      .          .         .      .             x
tombstoned     .         .        .          x      .          .         .      .             x
queued         .         .        .          .      x          .         .      .             x
processing     .         .        .          .      .          x         x      .             x
completed      .         .        .          .      .          .         .      .             .
failed         .         .        .          .      .          .         .      x             x
retry_pending  .         .        .          .      x          .         .      .             x
escalated      .         .        .          .      x          .         .      .             .
"""


def pairs() -> dict[tuple[str, str], bool]:
    """Every cell of the table."""
    head, *rows = TABLE.strip().splitlines()
    columns = head.split()
    return {
        (before, after): cell == "x"
        for before, *cells in (row.split() for row in rows)
        for after, cell in zip(columns, cells, strict=True)
    }


def test_the_table_has_every_pair_of_the_nine_states() -> None:
    assert len(STATES) == len(set(STATES)) == 9
    assert pairs().keys() == set(product(STATES, repeat=2))


@pytest.mark.parametrize(("before", "after"), list(product(STATES, repeat=2)))
def test_a_tombstone_changes_state_only_as_the_table_allows(before: TombstoneStatus, after: TombstoneStatus) -> None:
    assert may(before, after) is pairs()[before, after]


@pytest.mark.parametrize(
    ("before", "after", "allowed"),
    [
        pytest.param("verified", "tombstoned", True, id="OC163"),
        pytest.param("tombstoned", "queued", True, id="OC164"),
        pytest.param("processing", "completed", True, id="OC166"),
        pytest.param("processing", "failed", True, id="OC167"),
        pytest.param("retry_pending", "processing", True, id="OC169"),
        pytest.param("retry_pending", "escalated", True, id="OC170"),
        pytest.param("requested", "tombstoned", False, id="OC172"),
        pytest.param("requested", "completed", False, id="OC173"),
        pytest.param("completed", "processing", False, id="OC175"),
        pytest.param("completed", "failed", False, id="OC176"),
    ],
)
def test_a_listed_transition(before: TombstoneStatus, after: TombstoneStatus, allowed: bool) -> None:
    assert may(before, after) is allowed


def test_every_state_is_reachable_and_every_open_one_can_end() -> None:
    def reached(first: TombstoneStatus) -> set[TombstoneStatus]:
        seen, left = {first}, [first]
        while left:
            fresh = NEXT[left.pop()] - seen
            seen |= fresh
            left.extend(fresh)
        return seen

    assert reached("requested") == set(STATES)
    assert all("completed" in reached(each) for each in STATES)
    assert reached("completed") == {"completed"}


def test_every_open_tombstone_can_be_escalated() -> None:
    assert {each for each in STATES if not may(each, "escalated")} == {"escalated", "completed"}


@pytest.mark.parametrize(
    "status",
    [
        pytest.param("requested", id="OC178"),
        pytest.param("verified", id="OC179"),
        pytest.param("tombstoned", id="tombstoned"),
        pytest.param("queued", id="OC181"),
        pytest.param("processing", id="OC182"),
        pytest.param("failed", id="failed"),
        pytest.param("retry_pending", id="OC184"),
        pytest.param("escalated", id="OC185"),
    ],
)
def test_an_open_tombstone_fences_its_scope(status: TombstoneStatus) -> None:
    assert is_fenced(status)


def test_only_completion_removes_the_fence() -> None:
    assert [each for each in STATES if not is_fenced(each)] == ["completed"]


@pytest.mark.parametrize(
    ("attempts", "seconds"), [(1, 1), (2, 5), (3, 30), (4, 120), (5, 600), (6, 600), (99, 600), (0, 1)]
)
def test_delays_grow_and_the_last_repeats(attempts: int, seconds: int) -> None:
    assert backoff(attempts, POLICY) == timedelta(seconds=seconds)


@pytest.mark.parametrize(("attempts", "over"), [(0, False), (1, False), (5, False), (6, True), (7, True)])
def test_five_retries_are_made(attempts: int, over: bool) -> None:
    assert is_exhausted(attempts, POLICY) is over


def test_a_failing_erasure_waits_each_delay_once_and_is_escalated() -> None:
    status: TombstoneStatus = "queued"
    waited: list[float] = []
    failures = 0

    def go(after: str) -> None:
        nonlocal status
        assert may(status, cast("TombstoneStatus", after))
        status = cast("TombstoneStatus", after)

    while status != "escalated":
        go("processing")
        go("failed")
        go("retry_pending")
        failures += 1
        if is_exhausted(failures, POLICY):
            go("escalated")
        else:
            waited.append(backoff(failures, POLICY).total_seconds())
    assert waited == [1, 5, 30, 120, 600]
    assert failures == 6
    go("processing")
    go("completed")


def test_the_numbers_come_from_policy() -> None:
    policy = ErasurePolicy(attempts_max=0, retry_after_s=(0.5, 9))
    assert is_exhausted(1, policy)
    assert not is_exhausted(0, policy)
    assert [backoff(each, policy).total_seconds() for each in (1, 2, 3)] == [0.5, 9, 9]


@given(st.integers(0, 50), st.lists(st.floats(0.1, 1e5), min_size=1, max_size=9).map(sorted))
def test_growing_delays_never_decrease(attempts: int, pauses: list[float]) -> None:
    policy = ErasurePolicy(retry_after_s=tuple(pauses))
    first, then = backoff(attempts, policy), backoff(attempts + 1, policy)
    assert timedelta(seconds=pauses[0]) <= first <= then <= timedelta(seconds=pauses[-1])
