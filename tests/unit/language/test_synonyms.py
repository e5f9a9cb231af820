"""The list of near-synonyms."""

import pytest

from shared.language.segment import ALIKE, MOST_SYNONYMS, STOPWORDS, list_synonyms, query_terms, stem, terms

PER_TERM = 6
"""The maximum number of synonyms per word: each is another posting list to read."""


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
def test_a_synonym_in_the_answer_is_found(asked: str, told: str) -> None:
    (term,) = query_terms(asked)
    assert set(terms(told)) & set(ALIKE.get(term, ()))


def test_the_list_is_short_and_contains_no_stop_words() -> None:
    assert max(map(len, ALIKE.values())) <= PER_TERM
    empty = STOPWORDS - {stem("wedding"), stem("illness")}  # these are what remains of "we'd" and "I'll"
    assert not [(term, other) for term, others in ALIKE.items() for other in (term, *others) if other in empty]
    assert not [term for term, others in ALIKE.items() if term in others or len(set(others)) < len(others)]


def test_a_long_question_gets_a_limited_number_of_synonyms() -> None:
    assert len(list_synonyms(list(ALIKE))) == MOST_SYNONYMS
    assert list_synonyms(["mother", "mom", "zebra"]) == ["mum", "mama"]
    assert list_synonyms([]) == []
