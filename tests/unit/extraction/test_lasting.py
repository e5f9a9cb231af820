"""Whether a sentence is worth storing: facts about a person are; moods and courtesies are not."""

import pytest

from shared.classifiers.judges import SLOTS, find_slots, load_text_sum
from shared.classifiers.static_encoder import load_static_encoder
from shared.extraction import lasting
from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.extraction.lasting import SURE
from shared.extraction.learned import read
from shared.extraction.word_tags import describe_sentence


def estimate(text: str) -> float:
    clauses = split(text)
    tagged = describe_sentence(text, clauses[0].start, clauses[-1].end)
    return lasting.estimate_lasting(text, clauses, stances(clauses), read(clauses), tagged)


@pytest.mark.parametrize(
    "text",
    [
        "My youngest is lactose intolerant and goes to the nursery on Mill Lane",
        "We moved the bakery to Antwerp last spring and hired two people",
        "I take metformin, 500 mg in the morning",
        "我女儿乳糖不耐，在实验二小读三年级",
        "去年把店搬到了绍兴，请了两个人",
        "我对青霉素过敏，看病得提前说",
    ],
)
def test_informative_sentences_are_worth_storing(text: str) -> None:
    assert estimate(text) >= SURE


@pytest.mark.parametrize(
    "text",
    [
        "That's really cool, you've got guts",
        "Thanks so much, that helped a lot",
        "Can you make the second paragraph shorter",
        "太棒了，谢谢你",
        "第二段太长了，短一点",
        "今天好累啊，不想动",
    ],
)
def test_courtesies_moods_and_requests_are_not(text: str) -> None:
    assert estimate(text) < SURE


def test_every_sign_number_and_slot_has_a_weight() -> None:
    weights = load_text_sum("lasting")
    assert weights.shapes == (len(lasting.SIGNS), load_static_encoder().dimension, SLOTS)


def test_slots_do_not_depend_on_spelling_variants() -> None:
    assert find_slots("I DON’T eat pork") == find_slots("i don't eat pork")
    assert len(find_slots("我不吃猪肉")) == 9
    assert find_slots("... !") == []
    assert load_text_sum("lasting").estimate("", [0.0] * len(lasting.SIGNS)) < 1.0
