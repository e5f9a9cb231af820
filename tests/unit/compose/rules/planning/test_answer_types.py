"""The kind of answer that a question asks for and that a text contains, in both languages."""

import pytest

from services.compose.rules.planning import cues


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Where did Gina open her shop?", {"name"}),
        ("Which book did Tim read last?", {"name"}),
        ("What is the name of Jon's studio?", {"name"}),
        ("How many cats does she have?", {"amount"}),
        ("Why did you leave the bank?", {"reason"}),
        ("What motivated Jon to dance?", {"reason"}),
        ("What did Gina say about the weather?", set[str]()),
        ("我住在成都哪里？", {"name"}),
        ("我的猫叫什么名字？", {"name"}),
        ("老周是谁？", {"name"}),
        ("房贷还要还多久？", {"amount"}),
        ("我为什么换工作？", {"reason"}),
        ("妈妈爱吃鱼吗？", set[str]()),
    ],
)
def test_what_a_question_asks_for(question: str, kinds: set[str]) -> None:
    assert cues.find_kinds(question) == kinds


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I was in Chicago, then I saw Harry Potter.", {"chicago", "harry", "potter"}),
        ('We read "the old man" on Friday.', {"the old man"}),
        ("Thanks! Great idea.", set[str]()),
        ("昨天去青城山，李明推荐了《三体》", {"青城山", "李明", "三体"}),
        ("刚买了 Kindle，看看 email", {"kindle"}),
        ("好的，谢谢", set[str]()),
    ],
)
def test_names_are_found_in_both_languages(text: str, names: set[str]) -> None:
    assert cues.find_names(text) == names


def test_known_names_do_not_count_as_an_answer() -> None:
    text = "We met Laura, David, Jean and Cindy in Boston."
    assert cues.score_names(text, ()) == 1.0
    assert cues.score_names(text, {hash(name) for name in ("laura", "david", "jean")}) == pytest.approx(2 / 3)
    assert cues.score_names("我和李明去了杭州", {hash("李明"), hash("杭州")}) == 0.0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("I adopted two dogs", True),
        ("we go there every week", True),
        ("三只猫", True),
        ("一百块", True),
        ("一起去吧", False),
        ("I love it", False),
    ],
)
def test_numbers_are_digits_or_words(text: str, number: bool) -> None:
    assert cues.has_number(text) is number


@pytest.mark.parametrize(
    ("text", "reason"),
    [("I quit because of the hours", True), ("因为太远了", True), ("I quit", False), ("辞职了", False)],
)
def test_reasons_have_their_words(text: str, reason: bool) -> None:
    assert cues.gives_reason(text) is reason
