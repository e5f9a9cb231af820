"""Records that are slow to handle are fetched few at a time, quick ones many."""

from shared.bus.pace import Pace


def test_slow_records_come_few_at_a_time_and_quick_ones_many() -> None:
    pace = Pace(200, 4)
    assert pace.records == 4
    pace.note(4, 0.01)
    assert pace.records == 200
    pace.note(200, 100.0)
    assert pace.records == 4
    pace.note(4, 0.01)
    assert pace.records == 200
    pace.note(20, 0.5)
    assert pace.records == 20


def test_a_batch_below_the_number_of_hands_stays_as_it_is() -> None:
    pace = Pace(2, 4)
    pace.note(2, 60.0)
    assert pace.records == 2
