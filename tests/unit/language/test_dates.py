"""Stretches of time that words name, seen from Wednesday 18 November 2026."""

from datetime import UTC, date, datetime

import pytest

from shared.language.dates import time_range, without_times
from shared.language.festivals import LUNAR

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("昨天我说了什么", "2026-11-17", "2026-11-18"),
        ("what did we discuss yesterday", "2026-11-17", "2026-11-18"),
        ("前天", "2026-11-16", "2026-11-17"),
        ("上周我们讨论的方案", "2026-11-09", "2026-11-16"),
        ("last week", "2026-11-09", "2026-11-16"),
        ("上周三", "2026-11-11", "2026-11-12"),
        ("last Friday", "2026-11-13", "2026-11-14"),
        ("上个月", "2026-10-01", "2026-11-01"),
        ("两个月前", "2026-09-01", "2026-10-01"),
        ("十天前", "2026-11-08", "2026-11-09"),
        ("3 days ago", "2026-11-15", "2026-11-16"),
        ("去年", "2025-01-01", "2026-01-01"),
        ("去年夏天我去了哪", "2025-06-01", "2025-09-01"),
        ("last summer", "2026-06-01", "2026-09-01"),
        ("in May 2023", "2023-05-01", "2023-06-01"),
        ("2023年5月", "2023-05-01", "2023-06-01"),
        ("2023年5月7日", "2023-05-07", "2023-05-08"),
        ("7 May 2023", "2023-05-07", "2023-05-08"),
        ("on December 5th", "2025-12-05", "2025-12-06"),
        ("2023-05-07", "2023-05-07", "2023-05-08"),
        ("最近三个月", "2026-08-17", "2026-11-19"),
        ("recently", "2026-10-19", "2026-11-19"),
        ("上周我们聊了啥", "2026-11-09", "2026-11-16"),
        ("三月份我去哪了", "2026-03-01", "2026-04-01"),
        ("三月份", "2026-03-01", "2026-04-01"),
        ("昨儿个干嘛了", "2026-11-17", "2026-11-18"),
        ("前几天", "2026-11-08", "2026-11-19"),
        ("前两天说的那家店", "2026-11-08", "2026-11-19"),
        ("前段时间", "2026-07-21", "2026-11-12"),
        ("前阵子在忙什么", "2026-07-21", "2026-11-12"),
        ("周一我说了什么", "2026-11-16", "2026-11-17"),
        ("星期三那天", "2026-11-18", "2026-11-19"),
        ("上上周五", "2026-11-06", "2026-11-07"),
        ("大前天", "2026-11-15", "2026-11-16"),
        ("上个月底", "2026-10-21", "2026-11-01"),
        ("月初", "2026-11-01", "2026-11-11"),
        ("年初我定了什么目标", "2026-01-01", "2026-03-01"),
        ("去年年底", "2025-11-01", "2026-01-01"),
        ("今年上半年", "2026-01-01", "2026-07-01"),
        ("去年下半年", "2025-07-01", "2026-01-01"),
        ("第一季度", "2026-01-01", "2026-04-01"),
        ("上个季度", "2026-07-01", "2026-10-01"),
        ("国庆节去哪玩了", "2026-10-01", "2026-10-08"),
        ("春节", "2026-02-16", "2026-02-24"),
        ("过年的时候我干了啥", "2026-02-16", "2026-02-24"),
        ("中秋节", "2026-09-25", "2026-09-28"),
        ("端午", "2026-06-19", "2026-06-22"),
        ("清明节", "2026-04-04", "2026-04-07"),
        ("暑假", "2026-07-01", "2026-09-01"),
        ("寒假", "2026-01-15", "2026-02-24"),
        ("五一", "2026-05-01", "2026-05-06"),
        ("元旦那天", "2026-01-01", "2026-01-04"),
        ("双十一买了什么", "2026-11-11", "2026-11-12"),
        ("去年圣诞节", "2025-12-24", "2025-12-27"),
        ("今年春天", "2026-03-01", "2026-06-01"),
        ("夏天的时候", "2026-06-01", "2026-09-01"),
        ("九月中旬", "2026-09-11", "2026-09-21"),
        ("10月初", "2026-10-01", "2026-10-11"),
        ("大年三十", "2026-02-16", "2026-02-17"),
        ("半年前", "2026-04-01", "2026-07-01"),
        ("一个多月前", "2026-10-01", "2026-11-01"),
        ("几天前", "2026-11-12", "2026-11-17"),
        ("去年今天", "2025-11-11", "2025-11-26"),
        ("这两天", "2026-11-16", "2026-11-19"),
        ("5号我买了什么", "2026-11-05", "2026-11-06"),
        ("What did we talk about last week?", "2026-11-09", "2026-11-16"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("the other day", "2026-11-08", "2026-11-19"),
        ("a few days ago", "2026-11-12", "2026-11-17"),
        ("several weeks ago", "2026-10-04", "2026-11-08"),
        ("the week before last", "2026-11-02", "2026-11-09"),
        ("the day before yesterday", "2026-11-16", "2026-11-17"),
        ("yesterday morning", "2026-11-17", "2026-11-18"),
        ("earlier today", "2026-11-18", "2026-11-19"),
        ("What did I do on Monday?", "2026-11-16", "2026-11-17"),
        ("over the weekend", "2026-11-14", "2026-11-16"),
        ("at the start of the year", "2026-01-01", "2026-03-01"),
        ("early this year", "2026-01-01", "2026-04-01"),
        ("late last year", "2025-10-01", "2026-01-01"),
        ("in the spring", "2026-03-01", "2026-06-01"),
        ("this summer", "2026-06-01", "2026-09-01"),
        ("over the summer", "2026-06-01", "2026-09-01"),
        ("in early March", "2026-03-01", "2026-03-11"),
        ("mid-June", "2026-06-11", "2026-06-21"),
        ("at the end of September", "2026-09-21", "2026-10-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("in Q1", "2026-01-01", "2026-04-01"),
        ("in the second quarter of 2025", "2025-04-01", "2025-07-01"),
        ("in the first half of the year", "2026-01-01", "2026-07-01"),
        ("over Christmas", "2025-12-24", "2025-12-27"),
        ("last Christmas", "2025-12-24", "2025-12-27"),
        ("at Thanksgiving", "2025-11-27", "2025-12-01"),
        ("on Halloween", "2026-10-31", "2026-11-01"),
        ("New Year's Eve", "2025-12-31", "2026-01-01"),
        ("on Valentine's Day", "2026-02-14", "2026-02-15"),
        ("last Easter", "2026-04-03", "2026-04-07"),
        ("during Chinese New Year", "2026-02-16", "2026-02-24"),
        ("back in April", "2026-04-01", "2026-05-01"),
        ("half a year ago", "2026-04-01", "2026-07-01"),
        ("six months ago", "2026-04-01", "2026-07-01"),
        ("the past few days", "2026-11-15", "2026-11-19"),
        ("these past weeks", "2026-10-21", "2026-11-19"),
        ("on the 5th", "2026-11-05", "2026-11-06"),
        ("a while back", "2026-07-21", "2026-11-12"),
        ("during the holidays", "2025-12-20", "2026-01-03"),
        ("this time last year", "2025-11-11", "2025-11-26"),
        ("at the end of last month", "2026-10-21", "2026-11-01"),
        ("the first half of October", "2026-10-01", "2026-10-16"),
        ("the year before last", "2024-01-01", "2025-01-01"),
    ],
)
def test_a_time_is_resolved(text: str, first: str, after: str) -> None:
    found = time_range(text, NOW)
    assert found is not None
    assert (found[0].date().isoformat(), found[1].date().isoformat()) == (first, after)
    assert found[0].tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        *("", "你好", "you may go", "march on", "明天", "next week", "version 2.0", "2 月亮", "99/99"),
        *(
            "周五的会议几点",
            "下周一",
            "我住3号楼",
            "地铁5号线",
            "五一路",
            "on Friday",
            "the holidays are fun",
            "在过年货",
        ),
        *("the early bird", "a new year plan", "第二天", "the end of the story", "新年快乐"),
    ],
)
def test_no_time_is_made_up(text: str) -> None:
    assert time_range(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("What did I eat last week?", "what did i eat  ?"),
        ("上周三我去了哪", " 我去了哪"),
        ("in March and in early April", "  and in  "),
        ("明天见", "明天见"),
    ],
)
def test_words_that_name_a_time_are_taken_out(text: str, left: str) -> None:
    assert without_times(text, NOW) == left


def test_festivals_of_the_moon_are_where_the_calendar_has_them() -> None:
    from holidays import country_holidays

    china = country_holidays("CN", years=range(2015, 2036), language="en_US")
    names = ("Chinese New Year (Spring Festival)", "Dragon Boat Festival", "Mid-Autumn Festival")
    for year, days in LUNAR.items():
        for name, (month, day) in zip(names, days, strict=True):
            assert name in china.get(date(year, month, day), ""), (year, name)
