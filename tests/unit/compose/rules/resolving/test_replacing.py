"""Whether a newer sentence replaces an older one or coexists with it, by its words."""

import pytest

from services.compose.rules.planning.questions import asks_for_one
from services.compose.rules.resolving.replacing import (
    gives_other_value,
    read_phrasing,
    stands_beside,
    without_common_change,
)


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("I switched to Firefox", "replaces"),
        ("We shop at the market instead", "replaces"),
        ("I no longer teach the beginners", "replaces"),
        ("I gave up on the 7:50", "replaces"),
        ("I switched to Fly, and I started a new project there", "replaces"),
        ("I drive to work now", "now"),
        ("I keep my notes in Obsidian these days", "now"),
        ("I started playing squash now", "adds"),
        ("I also play squash now", "adds"),
        ("I have a dog now as well", "adds"),
        ("I like jazz", None),
        ("部署换成GitHub Actions了", "replaces"),
        ("周会改到周四了", "replaces"),
        ("我不再吃肉", "replaces"),
        ("公司迁到亦庄，我也跟着搬到亦庄了", "replaces"),
        ("现在早上喝豆浆", "now"),
        ("我又开始打壁球了", "adds"),
        ("现在周四还打壁球", "adds"),
        ("我对海鲜也过敏", "adds"),
        ("我喜欢爵士乐", None),
    ],
)
def test_words_decide_whether_one_statement_replaces_another(text: str, way: str | None) -> None:
    assert read_phrasing(text).way == way


@pytest.mark.parametrize(
    ("old", "new", "beside"),
    [
        # about somebody else
        ("My sister lives in Leeds", "I live in York now", True),
        ("My car is a Golf", "My wife drives a Kia now", True),
        ("My daughter's class is on Monday", "My son's class is on Friday now", True),
        ("我姐住在成都", "我现在住重庆", True),
        ("我开高尔夫", "我老婆现在开特斯拉", True),
        # about another named thing
        ("My manager is Ruth", "My dentist is Omar now", True),
        ("My manager is Ruth", "Omar is my manager now", False),
        ("The team meets on Mondays", "The band meets on Thursdays now", True),
        ("客厅刷成绿色", "卧室现在刷成蓝色了", True),
        # there can be many
        ("I play the piano", "I play the guitar in a band now", True),
        ("I love Thai food", "I'm eating sushi now", True),
        ("I'm learning Spanish on Duolingo", "I switched from Duolingo to a tutor for my Spanish", False),
        ("我弹钢琴", "现在在乐队弹吉他", True),
        ("我会说法语", "现在在学意大利语", True),
        # at another time of day
        ("I drink coffee in the morning", "I drink tea in the afternoon now", True),
        ("我早上喝咖啡", "现在下午喝杯茶", True),
        ("我早上喝咖啡", "现在早上喝豆浆", False),
        # states that pass, past events, further details
        ("I live in Portland", "I'm in Chicago for a conference now", True),
        ("我住在杭州", "现在在北京出差", True),
        ("I went to Rome in May", "I'm in Paris now", True),
        ("I'm from Lagos", "I'm in London now", True),
        ("I take the 8:15 train", "The 8:15 is crowded now", True),
        ("My dog is called Rex", "Rex is 5 now", True),
        ("狗叫旺财", "旺财现在五岁了", True),
        # the same slot
        ("I bank with Lloyds", "I'm with Monzo now", False),
        ("I cycle to the office", "I walk to the office now", False),
        ("我骑车上班", "自行车被偷了，现在走路上班", False),
        ("我们用Jenkins部署", "部署换到GitHub Actions了", False),
    ],
)
def test_words_decide_whether_the_older_statement_still_holds(old: str, new: str, beside: bool) -> None:
    assert stands_beside(old, new) is beside


@pytest.mark.parametrize(
    ("old", "new", "gives"),
    [
        ("I take the 8:15 train", "I'm on the 7:50 now", True),
        ("I take the 8:15 train", "I work from 7:50 at the harbour now", False),
        ("We deploy with Jenkins", "We monitor with Grafana now", False),
        ("我坐8点15的地铁上班", "现在是7点50", True),
        ("我坐8点15的地铁上班", "现在7点50吃早饭", False),
    ],
)
def test_a_bare_value_is_distinguished_from_a_sentence_with_one(old: str, new: str, gives: bool) -> None:
    assert gives_other_value(old, new) is gives


def test_shared_words_of_change_do_not_make_sentences_similar() -> None:
    one, other = without_common_change("I switched to oat milk", "I switched to Linux")
    assert "switched" not in one + other
    assert without_common_change("I use Chrome", "I switched to Firefox") == ("I use Chrome", "I switched to Firefox")


@pytest.mark.parametrize(
    ("question", "one"),
    [
        ("Where do I live?", True),
        ("How do I get to work?", True),
        ("What time is standup?", True),
        ("Which bus do I take?", True),
        ("Which sports do I play?", False),
        ("What do you know about me?", False),
        ("我住在哪儿？", True),
        ("我早上喝什么？", True),
        ("我都做哪些运动？", False),
        ("介绍一下我", False),
    ],
)
def test_a_question_asks_for_one_thing_or_for_many(question: str, one: bool) -> None:
    assert asks_for_one(question) is one
