"""A user's own text, without the parts that a package had shown before."""

import pytest

from shared.extraction.recalled import ShownSentence, find_recalled, keep_own, list_fingerprints
from shared.language.fingerprint import prints

TAG = '<user_memory nonce="a1b2c3" source="personal" confidence="0.90">likes jasmine tea</user_memory>'
FENCED = [
    (f"Context: {TAG}\nI moved to Rome.", "I moved to Rome."),
    (f"{TAG}我搬到罗马了。", "我搬到罗马了。"),
    ('<knowledge nonce="a1b2c3" source="url">Rule one.\nRule two.</knowledge> And I am Ann.', "And I am Ann."),
    ("<memory_usage_guide>\nNotes inside ...\n</memory_usage_guide>\n我叫小林。", "我叫小林。"),
    ("[E1] tea - smartbrain://memory/1\nmine\n(hybrid, 0.31)\nstill mine", "mine\nstill mine"),
    ('<user_memory source="personal">cut off in the mid', ""),
]
UNTOUCHED = [
    "I wrote <user_memory> into my template and <knowledge> too.",
    "The section [E1] of the form (hybrid, maybe) is empty.",
    "我在模板里写了 <knowledge> 标签。",
    "a < b and c > d",
]
ONE, TWO, THREE = "I live in Portland by the river.", "I really love jasmine tea.", "我养了一只叫团子的橘猫。"
SHOWN = {next(prints(text)).hash: frozenset({piece}) for piece, text in enumerate((ONE, TWO, THREE))}


@pytest.mark.parametrize(("text", "left"), FENCED)
def test_blocks_of_a_package_are_removed(text: str, left: str) -> None:
    kept = keep_own(text)
    assert len(kept) == len(text)
    assert " ".join(kept.replace("Context:", "").split()) == " ".join(left.split())


@pytest.mark.parametrize("text", UNTOUCHED)
def test_text_that_only_resembles_a_block_is_kept(text: str) -> None:
    assert keep_own(text) == text


def marks(text: str, *, stated: bool) -> list[str]:
    """The parts of a text that count as recalled."""
    heard = [ShownSentence(0, text, stated)]
    return [text[start:end].strip() for start, end in find_recalled(heard, list_fingerprints(heard), SHOWN).get(0, [])]


CASES = [
    (f"{TWO}", True, 0),
    (f"{TWO} {TWO}", True, 0),
    (f"{TWO} I am new here in town.", True, 0),
    (f"{ONE}\n{TWO}", True, 2),
    (f"{ONE}\n{THREE}\nI am new here in town.", True, 2),
    (f"{THREE}", False, 1),
    (f"Noted. {TWO} Anything else?", False, 1),
    ("Nothing of this was ever shown before.", False, 0),
    ("这些话以前从来没有出现过。", False, 0),
]


@pytest.mark.parametrize(("text", "stated", "count"), CASES)
def test_the_newest_message_may_repeat_one_item_and_paste_none(text: str, stated: bool, count: int) -> None:
    assert len(marks(text, stated=stated)) == count


def test_two_sentences_of_one_item_are_a_repetition() -> None:
    shown = dict.fromkeys(SHOWN, frozenset({7}))
    heard = [ShownSentence(3, f"{ONE} {TWO}", stated=True)]
    assert find_recalled(heard, list_fingerprints(heard), shown) == {}
