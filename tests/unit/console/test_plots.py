"""Charts: points within the frame, gaps without measurements, bars that add up."""

import pytest

from services.console.rules.plots import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, divide, draw, round_up


def test_the_maximum_is_within_the_frame_and_zero_at_the_bottom() -> None:
    plot = draw({"a": [0, 7]}, ["12:00", "12:01"])
    (piece,) = plot.lines[0].pieces
    (x0, y0), (x1, y1) = [tuple(map(float, point.split(","))) for point in piece.split()]
    assert (x0, x1) == (LEFT, WIDTH)
    assert y0 == HEIGHT - BOTTOM
    assert TOP <= y1 < y0
    assert [text for _, text in plot.rules] == ["0", "5", "10"]


def test_a_line_is_interrupted_without_measurements() -> None:
    plot = draw({"a": [1, 2, None, 3, 4, None], "b": [None] * 6}, [str(n) for n in range(6)])
    assert [len(piece.split()) for piece in plot.lines[0].pieces] == [2, 2]
    assert plot.lines[1].pieces == ()


def test_a_single_point_is_drawn() -> None:
    plot = draw({"a": [None, 3]}, ["1", "2"])
    assert len(plot.lines[0].pieces[0].split()) == 2


@pytest.mark.parametrize(("value", "rounded"), [(0, 1), (0.03, 0.05), (1, 1), (1.1, 2), (7, 10), (130, 200)])
def test_the_scale_is_a_number_of_one_digit(value: float, rounded: float) -> None:
    assert round_up(value) == pytest.approx(rounded)


def test_segments_of_a_bar_are_adjacent_and_within_it() -> None:
    pieces = divide({"a": 10, "none": 0, "b": 30}, 80)
    assert [(each.name, each.at, each.width) for each in pieces] == [("a", 0, 12.5), ("b", 12.5, 37.5)]
    over = divide({"a": 60, "b": 60}, 80)
    assert over[-1].at + over[-1].width == pytest.approx(100)
    assert divide({}, 0) == ()
