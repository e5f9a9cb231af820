"""Fingerprints of sentences ignore spacing, punctuation and case; short sentences have none."""

import pytest

from shared.language.fingerprint import prints

SAME = [
    ("I really love jasmine tea.", "i REALLY love jasmine tea!!"),
    ("I really love jasmine tea.", '<user_memory nonce="a1" source="personal">I really love jasmine tea</user_memory>'),
    ("我特别喜欢喝茉莉花茶。", "我特别喜欢喝 茉莉花茶！"),
    ("我特别喜欢喝茉莉花茶。", "用户说过：“我特别喜欢喝茉莉花茶”"),
    ("The server is ｄｂ-7 in Osaka", "- the server is db-7 in osaka"),
]
OTHER = [
    ("I really love jasmine tea.", "I really love oolong tea."),
    ("我特别喜欢喝茉莉花茶。", "我特别喜欢喝龙井茶水。"),
    ("My flight is on 12 May at 9.", "My flight is on 13 May at 9."),
]
SHORT = ["Yes, please.", "OK!", "好的，谢谢。", "嗯嗯", "...", "", "   \n\n"]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_sentence_has_the_same_fingerprint(one: str, other: str) -> None:
    assert {p.hash for p in prints(one)} & {p.hash for p in prints(other)}


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_sentence_has_another_fingerprint(one: str, other: str) -> None:
    assert not {p.hash for p in prints(one)} & {p.hash for p in prints(other)}


@pytest.mark.parametrize("text", SHORT)
def test_a_short_sentence_has_none(text: str) -> None:
    assert list(prints(text)) == []


def test_a_fingerprint_includes_the_position_of_its_sentence() -> None:
    text = "Hi. I moved to Lisbon in spring. 我上个月搬到了里斯本。ok"
    assert [text[p.start : p.end].strip() for p in prints(text)] == [
        "I moved to Lisbon in spring",
        "我上个月搬到了里斯本",
    ]
