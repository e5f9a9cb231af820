"""Plain BM25, the baseline of the benches."""

import pytest

from tests.bench.bm25 import Bm25, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Dad's 2 dogs", ["dad", "s", "2", "dogs"]),
        ("我住杭州", ["我住", "住杭", "杭州"]),
        ("用Go写，快", ["用", "go", "写", "快"]),
        ("…！", []),
    ],
)
def test_tokens_are_latin_words_and_han_bigrams(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    index = Bm25()
    for n in range(10):
        index.add(f"usual {n}", "we went to the market")
    index.add("rare", "we saw the heron")
    assert index.search("the heron", 3)[0] == "rare"
    assert index.search("heron", 3) == ["rare"]
    assert index.search("zebra", 3) == []


def test_a_short_text_ranks_before_a_long_one_with_the_same_word() -> None:
    index = Bm25()
    index.add("long", "杭州的春天来得早，西湖边的柳树已经绿了，游人也多了起来")
    index.add("short", "杭州见")
    assert index.search("杭州", 2) == ["short", "long"]


def test_texts_added_later_are_found() -> None:
    index = Bm25()
    index.add("old", "the tram to work")
    assert index.search("tram", 5) == ["old"]
    index.add("new", "no tram any more")
    assert set(index.search("tram", 5)) == {"old", "new"}
