"""Search terms in both languages and their PostgreSQL spelling."""

import pytest

from shared.language.segment import keywords, query_terms, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我喜欢简洁的回答", ["我", "喜欢", "简洁", "的", "回答"]),
        ("Running tests, tested twice", ["run", "test", "test", "twice"]),
        ("Ｐｙｔｈｏｎ　３", ["python", "3"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("org/repo", ["org/repo", "org", "repo"]),
        ("file.py", ["file.py", "file", "py"]),
        ("a@b.com", ["a@b.com", "a", "b", "com"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("Caroline's", ["carolin"]),
        ("café", ["cafe"]),
        ("zero\u200bwidth", ["zerowidth"]),
        ("C++ and c#", ["c++", "and", "c#"]),
        ("", []),
    ],
)
def test_text_is_split_into_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_unknown_chinese_names_are_found_by_a_part() -> None:
    assert set(query_terms("张伟")) & set(terms("张伟明在喜茶上班"))
    assert "喜茶" in terms("张伟明在喜茶上班")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("茶", "我喜欢喝茶"),
        ("茶", "他爱喝绿茶"),
        ("猫", "家里养了一只橘猫"),
        ("鞋", "买了一双新鞋"),
        ("喝茶", "我只喝绿茶"),
    ],
)
def test_a_word_of_one_character_is_found_inside_longer_ones(asked: str, told: str) -> None:
    assert set(query_terms(asked)) & set(terms(told))


def test_characters_that_are_no_words_are_not_terms() -> None:
    assert terms("学校工作") == ["学校", "工作"]


def test_oc116_a_note_and_a_question_share_words() -> None:
    assert {"简洁", "回答"} <= set(query_terms("我喜欢简洁的回答")) & set(terms("用户偏好：简洁回答"))


@pytest.mark.parametrize("text", ["What did I say?", "这是什么呢？", "怎么了", "the of and", "？！"])
def test_a_question_of_stop_words_has_no_terms(text: str) -> None:
    assert query_terms(text) == []


def test_query_terms_are_distinct_and_limited() -> None:
    assert query_terms("tea Tea teas 茶 茶") == ["tea", "茶"]
    assert len(query_terms(" ".join(f"word{n}" for n in range(100)))) == 24


def test_keywords_are_words_as_written() -> None:
    assert keywords("What did Caroline say about the support group?") == ["Caroline", "support", "group"]
