"""How answers are to be from now on, and orders for the task at hand, in both languages."""

import pytest

from shared.extraction.clauses import split
from shared.extraction.guards import find_order


@pytest.mark.parametrize(
    "text",
    [
        "please answer in tables from now on",
        "no more tables please, bullet points read better",
        "keep your answers under three lines",
        "stop using emojis",
        "call me Sam every time",
        "别用表格了，还是列点看着舒服",
        "别老道歉",
        "以后用英文回我",
    ],
)
def test_an_order_for_all_answers_is_a_standing_order(text: str) -> None:
    assert find_order(text) == "standing"


@pytest.mark.parametrize(
    "text",
    [
        "the shop's closed mondays from now on",
        "don't use tables in this document",
        "no more tables at the restaurant",
        "use the blue one for this",
        "I'm vegetarian from now on",
        "不要标题党的书",
        "别客气",
    ],
)
def test_other_words_are_none(text: str) -> None:
    assert find_order(text) is None


def test_an_abbreviation_ends_no_sentence() -> None:
    assert len({clause.sentence for clause in split("rent is 1,450 incl. bills and approx. 60 for water")}) == 1
