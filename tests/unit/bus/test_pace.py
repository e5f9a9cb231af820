"""Records that are slow to handle are fetched few at a time, quick ones many."""

from shared.bus.delivery import BatchPace


def test_slow_records_come_few_at_a_time_and_quick_ones_many() -> None:
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


def test_ordinary_records_come_by_the_hundred_though_all_together_take_seconds() -> None:
    pace = BatchPace(200, 4)
    for _ in range(6):
        pace.note(pace.records, 0.02 * pace.records)
    assert pace.records == 200


def test_one_quick_record_between_slow_ones_hardly_counts() -> None:
    pace = BatchPace(200, 1)
    for _ in range(10):
        pace.note(pace.records, 0.4 * pace.records)
        pace.note(1, 0.01)
        assert pace.records <= 2


def test_a_batch_below_the_number_of_hands_stays_as_it_is() -> None:
    pace = BatchPace(2, 4)
    pace.note(2, 60.0)
    assert pace.records == 2
