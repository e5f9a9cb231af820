"""A word is found where it occurs as a word."""

import pytest

from shared.language.segment import has_word, letters


@pytest.mark.parametrize(
    ("text", "word", "there"),
    [
        ("loves hamburgers", "ham", False),
        ("loves ham and eggs", "ham", True),
        ("loves steak", "tea", False),
        ("I use JavaScript", "Java", False),
        ("likes startups", "art", False),
        ("eats peanuts", "peanut", True),
        ("We use C++ here", "C++", True),
        ("喜欢米粉", "米", False),
        ("喜欢吃米", "米", True),
        ("喜欢喝绿茶", "茶", True),
        ("喜欢喝龙井茶", "龙井", True),
        ("用 Java 写后端", "java", True),
        ("anything", "", False),
    ],
)
def test_letters_inside_another_word_do_not_match(text: str, word: str, there: bool) -> None:
    assert has_word(text, word) is there


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("vitamin c tablets", "c"),
        ("Vitamin A and vitamin D", "ad"),
        ("I have a dog", ""),
        ("吃维生素C", "c"),
        ("it's John's", ""),
        ("a plan b", "b"),
    ],
)
def test_letters_that_name_something_are_found(text: str, found: str) -> None:
    assert letters(text) == frozenset(found)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("JavaScript", "Java", False),
        ("annual leave", "Ann", False),
        ("Joann", "Ann", False),
        ("lives with Ann.", "ann", True),
        ("Ann's cat, not annual", "Ann", True),
        ("annual leave of Ann", "Ann", True),
        ("我用Java写", "Java", True),
        ("我用JavaScript写", "Java", False),
        ("Zoë Müller", "zoe", True),
        ("Łukaszów", "Łukasz", False),
        ("gpt-4o", "GPT-4", False),
        ("written in C++", "C++", True),
        ("C++17", "C++", True),
        ("住在上海市", "上海", True),
        ("小米3", "小米", True),
        ("5小米", "小米", True),
        ("a.b", "a+b", False),
    ],
)
def test_a_latin_name_matches_as_a_word_and_a_chinese_name_anywhere(text: str, name: str, expected: bool) -> None:
    assert has_word(text, name) is expected
