"""Texts are cut into words, numbers and signs, with their places, shapes and vectors."""

import numpy as np
import pytest

from shared.classifiers.units import CHINESE, COMMA, LATIN, NUMBER, STOP, count_repetitions, split_units

MOST = 50


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Flight CA981 at 7.40, ok", ["flight", "ca981", "at", "7.40", ",", "ok"]),
        ("it's 3:15... no — 4", ["it's", "3:15", "...", "no", "—", "4"]),
        ("Café No. 5.", ["café", "no", ".", "5", "."]),
        ("内线8006，不对", ["内", "线", "8006", "，", "不对"]),
    ],
)
def test_a_text_is_cut_into_words_numbers_and_signs(text: str, words: list[str]) -> None:
    units = split_units(text, MOST)
    assert units is not None
    assert units.words == words
    places = zip(units.starts, units.ends, strict=True)
    assert [text[start:end].lower() for start, end in places] == words
    lengths = np.linalg.norm(units.vectors, axis=1)
    assert [bool(length) for length in lengths] == [word[0].isalnum() for word in words]
    assert np.allclose(lengths[lengths > 0], 1, atol=1e-5)


def test_units_have_the_shape_of_their_letters() -> None:
    units = split_units("room 2B, 三点 tea.", MOST)
    assert units is not None
    shapes = dict(zip(units.words, units.shapes.tolist(), strict=True))
    assert shapes["room"] == shapes["tea"] == LATIN
    assert shapes["2b"] == NUMBER
    assert shapes[","] == COMMA
    assert shapes["."] == STOP
    assert CHINESE in shapes.values()


@pytest.mark.parametrize("text", ["", "   ", "a " * (MOST + 1), "字" * 200, "İstanbul is far"])
def test_a_text_that_is_empty_too_long_or_changes_length_has_no_units(text: str) -> None:
    assert split_units(text, MOST) is None


def test_words_that_are_said_again_are_marked_on_both_sides() -> None:
    units = split_units("with the murphys and then with the kowalskis", MOST)
    assert units is not None
    signs = count_repetitions(units)
    half = signs.shape[1] // 2
    first, second = (place for place, word in enumerate(units.words) if word == "with")
    assert signs[first, 0] == 1 == signs[second, half]
    assert signs[first, half] == 0 == signs[second, 0]
    assert signs[units.words.index("and"), 0] == 0


def test_another_number_on_either_side_is_marked() -> None:
    units = split_units("bring 30 juice boxes, scratch that, 36", MOST)
    assert units is not None
    signs = count_repetitions(units)
    half = signs.shape[1] // 2
    assert signs[units.words.index("30"), half - 1] == 1 == signs[units.words.index("36"), -1]
    assert signs[units.words.index("juice"), half - 1] == 0
