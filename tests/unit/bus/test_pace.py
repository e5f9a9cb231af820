"""The fetch size adapts to the handling time of records."""

from shared.bus.fetching import BatchPace


def test_slow_records_are_fetched_in_small_batches_and_fast_ones_in_large() -> None:
    pace = BatchPace(200, 4)
    assert pace.records == 4
    for _ in range(6):
        pace.note(pace.records, 0.001)
    assert pace.records == 200
    pace.note(200, 100.0)
    assert pace.records == 4
    pace.note(4, 0.01)
    assert pace.records == 8
    pace.note(8, 0.5)
    assert pace.records == 8


def test_ordinary_records_are_fetched_by_the_hundred_even_if_the_batch_takes_seconds() -> None:
    pace = BatchPace(200, 4)
    for _ in range(6):
        pace.note(pace.records, 0.02 * pace.records)
    assert pace.records == 200


def test_one_fast_record_among_slow_ones_has_little_effect() -> None:
    pace = BatchPace(200, 1)
    for _ in range(10):
        pace.note(pace.records, 0.4 * pace.records)
        pace.note(1, 0.01)
        assert pace.records <= 2


def test_a_batch_is_never_smaller_than_the_number_of_workers() -> None:
    pace = BatchPace(2, 4)
    pace.note(2, 60.0)
    assert pace.records == 2
