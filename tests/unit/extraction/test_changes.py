"""Statements about the past are distinguished from current ones and from their replacements."""

import pytest

from shared.extraction.changes import tells_only_past, tells_past


@pytest.mark.parametrize(
    "text",
    [
        "We used to run Jenkins",
        "I used to live in Lyon.",
        "We previously used Terraform for the infra",
        "I formerly worked at Stripe",
        "I used to smoke, it was a pack a day",
        "我以前住在里昂。",
        "我们以前用Jenkins部署",
        "我曾经养过一只猫",
        "之前在美团做运营",
    ],
)
def test_words_mark_a_statement_as_past(text: str) -> None:
    assert tells_only_past(text)


@pytest.mark.parametrize(
    "text",
    [
        "We used to run Jenkins, now GitHub Actions",
        "We previously used Terraform, replaced by Pulumi",
        "I used to hate olives. I love them",
        "以前用Jenkins，后来换成了GitHub Actions",
        "我以前不吃辣，现在无辣不欢",
    ],
)
def test_a_replacement_is_current(text: str) -> None:
    assert tells_past(text)
    assert not tells_only_past(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm used to the cold",
        "It took a while to get used to it",
        "The knife is used to cut bread",
        "I still live in Lyon",
        "What did I use to drink?",
        "周五以前交报告",
        "三天之前我买了车",
        "过去三年一直在上海",
        "原来如此",
        "之前说的那个方案可以",
        "吃饭之前先洗手",
    ],
)
def test_other_uses_of_these_words_do_not_mark_the_past(text: str) -> None:
    assert not tells_only_past(text)
