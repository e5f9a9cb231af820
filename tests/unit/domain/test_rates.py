"""A token bucket: request times and the accepted requests."""

import pytest

from shared.domain.rates import Bucket, Rate, take_token

SLOW = Rate(0.5, 3)
CASES: dict[str, tuple[Rate, list[tuple[float, float]]]] = {
    "a burst, and then no more": (SLOW, [(0, 0), (0, 0), (0, 0), (0, 2), (0, 2)]),
    "what is refused costs nothing": (SLOW, [(0, 0), (0, 0), (0, 0), (0, 2), (1, 1), (2, 0), (2, 2)]),
    "as often as tokens come": (SLOW, [(0, 0), (0, 0), (0, 0), (2, 0), (4, 0), (6, 0), (7, 1)]),
    "a rest fills it, and no more than that": (SLOW, [(0, 0), (1000, 0), (1000, 0), (1000, 0), (1000, 2)]),
    "a part of a token is kept": (SLOW, [(0, 0), (0, 0), (0, 0), (1, 1), (1.5, 0.5), (2, 0)]),
    "a clock that goes back": (SLOW, [(10, 0), (10, 0), (10, 0), (0, 2), (10, 2), (12, 0), (12, 2)]),
    "one at a time": (Rate(1, 1), [(0, 0), (0, 1), (0.25, 0.75), (1, 0), (1, 1)]),
    "no limit": (Rate(0, 1), [(0, 0)] * 50),
    "a third of a second, three times": (Rate(3, 1), [(0, 0), (1 / 3, 0), (2 / 3, 0), (1, 0)]),
}


@pytest.mark.parametrize(("rate", "asked"), CASES.values(), ids=CASES)
def test_the_waiting_time_of_requests(rate: Rate, asked: list[tuple[float, float]]) -> None:
    bucket: Bucket | None = None
    for at, expected in asked:
        bucket, wait_s = take_token(bucket, rate, at)
        assert wait_s == pytest.approx(expected), (at, bucket)


def test_a_refilled_bucket_equals_a_new_one() -> None:
    empty = Bucket(0.0, 100.0)
    at = 100.0 + SLOW.fills_in_s
    assert take_token(empty, SLOW, at) == take_token(None, SLOW, at)
    assert take_token(empty, SLOW, at - 0.5) != take_token(None, SLOW, at - 0.5)
