"""The list of words that say nearly the same."""

import pytest

from shared.language.segment import ALIKE, MOST_SYNONYMS, STOPWORDS, list_synonyms, query_terms, stem, terms

PER_TERM = 6
"""Each other word is one more list of postings to read."""


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("mother", "mom"),
        ("movie", "film"),
        ("vacation", "trip"),
        ("工资", "薪水"),
        ("妻子", "老婆"),
        ("旅行", "旅游"),
    ],
)
def test_what_is_asked_with_one_word_is_told_with_another(asked: str, told: str) -> None:
    (term,) = query_terms(asked)
    assert set(terms(told)) & set(ALIKE.get(term, ()))


def test_the_list_is_short_and_holds_no_words_that_carry_nothing() -> None:
    assert max(map(len, ALIKE.values())) <= PER_TERM
    empty = STOPWORDS - {stem("wedding"), stem("illness")}  # which look like what "we'd" and "I'll" leave
    assert not [(term, other) for term, others in ALIKE.items() for other in (term, *others) if other in empty]
    assert not [term for term, others in ALIKE.items() if term in others or len(set(others)) < len(others)]


def test_a_long_question_gets_no_more_words_than_a_few() -> None:
    assert len(list_synonyms(list(ALIKE))) == MOST_SYNONYMS
    assert list_synonyms(["mother", "mom", "zebra"]) == ["mum", "mama"]
    assert list_synonyms([]) == []
