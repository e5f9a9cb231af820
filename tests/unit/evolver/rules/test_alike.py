"""Statements that can be merged: equal and merely similar pairs, in both languages."""

import pytest

from services.evolver.rules.alike import likeness, may_be_merged, read

SAME = [
    ("我周末喜欢去西湖边散步", "周末我喜欢去西湖边散步"),
    ("我周末喜欢去西湖边散步", "我很喜欢周末去西湖边散步"),
    ("我平时习惯用深色主题写代码", "我习惯用深色主题写代码"),
    ("喜欢在雨天听爵士乐", "特别喜欢在雨天听爵士乐"),
    ("写报告时偏好简短的段落", "写报告时喜欢简短的段落"),
    ("我爸爸住在成都的老城区", "在成都的老城区住着我爸爸"),
    ("I like walking along the river at dawn", "At dawn I like walking along the river"),
    ("I like walking along the river at dawn", "I really love walking along the river at dawn"),
    ("The user enjoys jazz on rainy nights", "Enjoys jazz on rainy nights"),
    ("I usually write code in a dark theme", "I write code in a dark theme"),
    ("I prefer short paragraphs in reports", "I like short paragraphs in reports"),
    ("I don't eat pork at home", "I do not eat pork at home"),
    ("I keep two bikes in the garage", "In the garage I keep two bikes"),
]
OTHER = [
    ("我喜欢喝茶", "我不喜欢喝茶"),
    ("我喜欢喝咖啡", "我喜欢喝红茶"),
    ("对花生过敏", "女儿对花生过敏"),
    ("我爸住在成都的老城区", "我妈住在成都的老城区"),
    ("每天喝两杯咖啡", "每天喝三杯咖啡"),
    ("每天跑5公里", "每天跑8公里"),
    ("喜欢打篮球", "以前喜欢打篮球"),
    ("喝咖啡", "只在出差时喝咖啡"),
    ("周六去图书馆看书", "周日去图书馆看书"),
    ("喜欢和小王打羽毛球", "喜欢和小李打羽毛球"),
    ("每天早上在公司楼下的咖啡店买一杯美式", "每天早上在公司楼下的咖啡店买一杯拿铁"),
    ("想养一只橘猫", "养一只橘猫"),
    ("咖啡比茶好喝", "茶和咖啡好喝"),
    ("除了海鲜都能吃", "海鲜都能吃"),
    ("妻子喜欢在雨天听爵士乐", "喜欢在雨天听爵士乐"),
    ("张伟喜欢在雨天听爵士乐", "喜欢在雨天听爵士乐"),
    ("I like tea", "I don't like tea"),
    ("I drink coffee", "I never drink coffee"),
    ("I can stand noise", "I cant stand noise"),
    ("My sister Anna lives in Oslo", "My sister Berta lives in Oslo"),
    ("I wake up at 6", "I wake up at 7"),
    ("I have two cats", "I have three cats"),
    ("I drink coffee", "I drink coffee only when travelling"),
    ("I played football", "I used to play football"),
    ("I have a dog", "I want a dog"),
    ("Allergic to peanuts", "My daughter is allergic to peanuts"),
    ("Enjoys jazz on rainy nights", "Marta enjoys jazz on rainy nights"),
    ("I buy a large flat white at the corner shop daily", "I buy a large espresso at the corner shop daily"),
    ("Meets the dentist on Monday", "Meets the dentist on Friday"),
    ("I like cats", "I like dogs"),
    ("Tea with milk", "Tea without milk"),
    ("Prefers tabs over spaces", "Prefers spaces and tabs"),
    ("I get up early", "I get up late"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_paraphrases_are_alike(one: str, other: str) -> None:
    a, b = read(one), read(other)
    assert may_be_merged(a, b)
    assert may_be_merged(b, a)
    assert likeness(a, b) > 0.85


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_different_statements_are_never_alike(one: str, other: str) -> None:
    assert not may_be_merged(read(one), read(other))
    assert not may_be_merged(read(other), read(one))


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ("喜欢在雨天听爵士乐", "喜欢在雨天听爵士乐，泡一壶茶"),
        ("I like walking along the river", "I like walking along the river with music in my ears"),
    ],
)
def test_one_may_add_to_the_other(less: str, more: str) -> None:
    assert may_be_merged(read(less), read(more))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I adore jogging through parks at dawn", "Dawn runs between trees make me glad"),
        ("雨天在家听爵士乐最放松的", "外面下着雨，放一张唱片，最惬意的"),
    ],
)
def test_completely_different_words_are_left_to_vectors(one: str, other: str) -> None:
    assert may_be_merged(read(one), read(other))
    assert likeness(read(one), read(other)) < 0.85


def test_an_empty_text_is_alike_to_none() -> None:
    assert likeness(read(""), read("")) == 0
    assert not may_be_merged(read("…"), read("!"))
