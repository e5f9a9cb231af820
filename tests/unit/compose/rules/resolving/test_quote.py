"""The sentence around the source words of a memory, and a search in past memories."""

import pytest

from services.compose.rules.ranking.reranking import rank_by_terms
from services.compose.rules.resolving.outdated import MOST_QUOTED, quote_sentence

LONG_EN = "and so on and so forth " * 30
LONG_ZH = "还有很多很多别的事情" * 40


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("I like tea.", "I like tea", "I like tea."),
        ("Hi there. I like tea! And you?", "I like tea", "I like tea!"),
        ("你好。我喜欢喝茶！你呢？", "我喜欢喝茶", "我喜欢喝茶！"),
        ("one\ntwo three\nfour", "two", "two three"),
        ("Version 2.5 is fine. Really.", "2.5", "Version 2.5 is fine."),
        ("I like tea. I hate milk. Bye.", "tea. I hate", "I like tea. I hate milk."),
    ],
)
def test_the_sentence_is_quoted(text: str, words: str, expected: str) -> None:
    start = text.index(words)
    assert quote_sentence(text, (start, start + len(words))) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (LONG_EN + "I like tea " + LONG_EN, "I like tea"),
        (LONG_ZH + "我喜欢喝茶" + LONG_ZH, "我喜欢喝茶"),
        ("I like tea " + LONG_EN, "I like tea"),
        (LONG_ZH + "我喜欢喝茶", "我喜欢喝茶"),
    ],
)
def test_a_long_sentence_is_cut_around_the_words(text: str, words: str) -> None:
    start = text.index(words)
    cut = quote_sentence(text, (start, start + len(words)))
    assert words in cut
    assert len(cut) <= MOST_QUOTED
    assert cut.startswith("…") == (start > 0)
    assert cut.endswith("…") == (start + len(words) < len(text))


@pytest.mark.parametrize("span", [(0, 0), (0, 900), (500, 600), (3, 3)])
def test_a_span_that_is_off_still_quotes_something_short(span: tuple[int, int]) -> None:
    assert len(quote_sentence(LONG_EN, span)) <= MOST_QUOTED
    assert quote_sentence("", span) == ""


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("where am I living", ["oslo"]),
        ("喝茶", ["茶"]),
        ("tea in Oslo", ["both", "tea", "oslo"]),
        ("zebra", []),
        ("the", []),
    ],
)
def test_texts_with_the_most_matching_words_come_first(query: str, expected: list[str]) -> None:
    texts = [("tea", "likes tea"), ("oslo", "lives in Oslo"), ("both", "drinks tea in Oslo"), ("茶", "喜欢喝茶")]
    assert rank_by_terms(query, texts) == expected
