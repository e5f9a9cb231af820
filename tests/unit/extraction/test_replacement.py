"""The value that a short message replaces, and that most short messages replace none."""

import pytest

from shared.classifiers.judges import load_hidden_layer
from shared.extraction.observe import MAY_REPAIR
from shared.extraction.replacement import (
    SIGNS,
    count_own_signs,
    estimate_repairing,
    find_repair,
    find_replacement,
    owns_slip,
    read_phrases,
)
from shared.resolution.amending import PUTS_RIGHT


def put_right(before: str, said: str) -> str:
    """The earlier statement after the short message."""
    found = find_repair(said)
    if found is None or (found[2] < MAY_REPAIR and not owns_slip(said)):
        return before
    best = find_replacement(before, said)
    if best is None or best.probability < PUTS_RIGHT:
        return before
    return before[: best.old[0]] + said[slice(*best.new)] + before[best.old[1] :]


@pytest.mark.parametrize(
    ("before", "said", "after"),
    [
        ("I take metformin, 850 in the morning", "500 not 850, wrong glasses", "I take metformin, 500 in the morning"),
        ("my landlord's name is Jon", "it's John with an h", "my landlord's name is John"),
        ("The train leaves from platform 3", "platform 5, sorry", "The train leaves from platform 5"),
        ("Our dentist is on Monday at 3", "wednesday, I misread it", "Our dentist is on wednesday at 3"),
        ("装修预算我这边最多十二万", "十五万，刚跟老婆商量完", "装修预算我这边最多十五万"),
        ("我女儿班主任姓陈，教数学", "姓程，禾呈程", "我女儿班主任姓程，教数学"),
        ("体检约在周二上午", "周四，看错了", "体检约在周四上午"),
        ("my cousin is called Sarah, a nurse", "it's Sara without the h", "my cousin is called Sara, a nurse"),
    ],
)
def test_the_intended_value_is_replaced(before: str, said: str, after: str) -> None:
    assert put_right(before, said) == after


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("Our dentist is on Monday at 3", "thanks!"),
        ("Our dentist is on Monday at 3", "my sister's is on Friday"),
        ("Our dentist is on Monday at 3", "which floor is it on?"),
        ("I'm allergic to cats", "Wow, that sounds great"),
        ("I appreciate our friendship too, Caroline", "Sounds great, Caroline!"),
        ("Count me in, John", "Agree, John!"),
        ("I completed the application on Saturday", "Right. And the flashcards during lunch."),
        ("从今天傍晚开始喂豆豆", "[通话] 韩东，接通，18:05至18:07"),
        ("体检约在周二上午", "谢谢"),
        ("体检约在周二上午", "要空腹吗"),
        ("体检约在周二上午", "哈哈好的"),
    ],
)
def test_other_messages_change_nothing(before: str, said: str) -> None:
    assert put_right(before, said) == before


def test_no_word_of_letters_and_digits_is_split() -> None:
    words = read_phrases("I'm in unit 4B, 三区12号档").words
    assert "4b" in words
    assert "4" not in words
    assert "12" in words


def test_texts_without_words_have_no_phrases() -> None:
    assert find_replacement("", "500") is None
    assert find_replacement("500", "!!") is None
    assert find_repair("") is None
    assert 0 < estimate_repairing("...") < 1


def test_every_sign_has_a_weight() -> None:
    assert load_hidden_layer("replacement").into.shape[0] == len(SIGNS)
    assert len(count_own_signs("no, 15")) == 3
