"""What the network of worth says of sentences, read in their message or, where that is too long, alone."""

import pytest

from shared.extraction.word_tags import MOST_UNITS, NOTHING_SAID, describe_sentence, tag_slips

FACT, BANTER = "I work as a nurse in Leeds.", "haha that was so funny, thanks!"
FACT_ZH, BANTER_ZH = "我在成都一家医院当护士。", "哈哈笑死我了，谢谢你！"


@pytest.mark.parametrize(("fact", "banter"), [(FACT, BANTER), (FACT_ZH, BANTER_ZH)])
def test_a_sentence_worth_keeping_stands_out_of_its_message(fact: str, banter: str) -> None:
    text = f"{banter} {fact}"
    worth, most, *types = describe_sentence(text, len(banter) + 1, len(text))
    other, *_ = describe_sentence(text, 0, len(banter))
    assert worth > 0 > other
    assert most >= worth
    assert sum(types) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(("fact", "word"), [(FACT, "well "), (FACT_ZH, "好吧，")])
def test_a_sentence_of_a_long_message_is_read_alone(fact: str, word: str) -> None:
    text = word * MOST_UNITS + fact
    assert tag_slips(text) is None
    assert describe_sentence(text, len(text) - len(fact), len(text)) == describe_sentence(fact, 0, len(fact))


@pytest.mark.parametrize("fact", [FACT, FACT_ZH])
def test_other_lines_say_nothing_of_a_sentence(fact: str) -> None:
    text = f"def add(a, b): return a + b\n{fact}\n<html>404</html>"
    begin = text.index(fact)
    assert describe_sentence(text, begin, begin + len(fact)) == describe_sentence(fact, 0, len(fact))


def test_nothing_is_said_of_what_has_no_words() -> None:
    assert tag_slips("") is None
    assert describe_sentence("", 0, 0) == NOTHING_SAID
    assert describe_sentence("I live in Rome.   ", 15, 18) == NOTHING_SAID
