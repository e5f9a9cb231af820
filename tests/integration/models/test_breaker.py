"""The circuit breaker and the delays between retries (OC235, OC236)."""

import pytest

from shared.models.guard import Breaker, wait_s
from tests.integration.models.conftest import Clock


def open_breaker(clock: Clock) -> Breaker:
    breaker = Breaker(clock)
    for _ in range(5):
        assert breaker.admit()
        breaker.note_failure()
    return breaker


def test_five_failures_open_it(clock: Clock) -> None:
    breaker = open_breaker(clock)
    assert (breaker.state, breaker.admit()) == ("open", False)


def test_four_failures_do_not_open_it(clock: Clock) -> None:
    breaker = Breaker(clock)
    for _ in range(4):
        breaker.note_failure()
    assert breaker.admit()


def test_failures_outside_the_window_do_not_add_up(clock: Clock) -> None:
    breaker = Breaker(clock)
    for _ in range(10):
        breaker.note_failure()
        clock.now += 76
    assert breaker.state == "closed"


def test_a_success_resets_the_failures(clock: Clock) -> None:
    breaker = Breaker(clock)
    for _ in range(4):
        breaker.note_failure()
    breaker.note_success()
    breaker.note_failure()
    assert breaker.state == "closed"


def test_exactly_one_probe_is_sent_after_the_cooldown(clock: Clock) -> None:
    breaker = open_breaker(clock)
    clock.now += 300
    assert breaker.state == "half_open"
    assert [breaker.admit(), breaker.admit()] == [True, False]


def test_a_successful_probe_closes_it(clock: Clock) -> None:
    breaker = open_breaker(clock)
    clock.now += 300
    breaker.admit()
    breaker.note_success()
    assert (breaker.state, breaker.admit()) == ("closed", True)


def test_a_failed_probe_opens_it_for_another_cooldown(clock: Clock) -> None:
    breaker = open_breaker(clock)
    clock.now += 300
    breaker.admit()
    breaker.note_failure()
    assert breaker.state == "open"
    clock.now += 299
    assert not breaker.admit()
    clock.now += 1
    assert breaker.admit()


def test_a_call_of_unknown_result_does_not_prolong_the_cooldown(clock: Clock) -> None:
    breaker = open_breaker(clock)
    breaker.doubtful()
    clock.now += 300
    assert breaker.state == "half_open"


@pytest.mark.parametrize(("failed", "wait"), [(1, 0.1), (2, 0.5), (3, 2.0)])
def test_delays_match_the_seed_document_within_a_fifth(failed: int, wait: float) -> None:
    found = [wait_s(failed) for _ in range(200)]
    assert wait * 0.8 <= min(found) < wait < max(found) <= wait * 1.2
