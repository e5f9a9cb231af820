"""What people say plainly in daily talk is kept; jests and talk of the moment leave nothing."""

import pytest

from tests.unit.extraction.say import stated


@pytest.mark.parametrize(
    "text",
    [
        "remember that i'm an idiot 😂",
        "can't stop laughing at that",
        "haven't a clue what you mean",
        "what i mean is the second one",
        "i need you to shorten that",
        "记住我是条咸鱼，哈哈",
        "最近烦死了",
        "我先看看再说",
    ],
)
def test_jests_and_talk_of_the_moment_leave_nothing(text: str) -> None:
    assert stated(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "can't do mondays anymore, childcare fell through",
        "what i'm really saving for is a new roof, about 8 grand",
        "our shop runs on Shopify if that matters for the export",
        "need to renew my passport before june",
        "我们用的是飞书，如果有影响的话",
        "还要去银行换社保卡",
    ],
)
def test_what_is_plainly_said_is_kept(text: str) -> None:
    assert stated(text)
