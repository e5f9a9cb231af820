"""Short messages about an activity: which count, which describe the same activity, and when it is a habit."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from shared.extraction.habits import (
    PREFIX,
    Habit,
    HabitMention,
    HabitVerdict,
    find_act,
    is_same_act,
    judge_habit,
    list_kinds,
)

ACTS_EN = {
    "Just finished my flat white": "flat white",
    "flat white done": "flat white",
    "went for a run": "run",
    "Went for a run, felt great!": "run",
    "I'm off for a run": "run",
    "Just got back from my run": "run",
    "gym done": "gym",
    "hit the gym": "gym",
    "at the gym": "gym",
    "on my way to the gym": "gym",
    "walked the dog": "walked dog",
    "I've just fed the cat": "fed cat",
    "Picked up the kids from school": "Picked kids school",
    "I went swimming this morning": "swimming",
    "Did my morning yoga": "yoga",
    "yoga done 🧘": "yoga",
    "worked out": "workout",
    "had breakfast": "breakfast",
    "making coffee": "coffee",
    "laundry is done": "laundry",
    "practiced the cello for half an hour": "practiced cello half",
    "about to water the plants": "water plants",
}
ACTS_ZH = {
    "跑步回来了": "跑步",
    "刚跑完步": "跑步",
    "去跑步了": "跑步",
    "跑步回来了，好累": "跑步",
    "今天的跑步完成了💪": "跑步",
    "晨跑结束": "晨跑",
    "去接娃了": "接娃",
    "接孩子放学去了": "接孩子放学",
    "刚喝完咖啡": "喝咖啡",
    "喝了杯咖啡": "喝咖啡",
    "健身打卡": "健身",
    "打卡：健身": "健身",
    "我去健身房了": "健身房",
    "遛完狗了": "遛狗",
    "洗完碗了": "洗碗",
    "早，刚遛狗回来": "遛狗",
    "看完电影了": "看电影",
    "出门买菜": "买菜",
    "准备去游泳": "游泳",
    "下班了": "下班",
    "冥想结束": "冥想",
    "夜跑完毕": "夜跑",
    "喝完今天第一杯咖啡": "喝咖啡",
    "开始练琴了": "练琴",
    "加完班了": "加班",
    "我去遛狗啦": "遛狗",
    "我上班去了": "上班",
    "刚到家，做饭了": "做饭",
}
NONE_EN = """
thank you|thanks, that helps|ok|okay then|good morning|good night|yes please|no thanks|sure|got it
all done|that's done|it's over|perfect
write me a mail|write me an email please|make it shorter|book a table for two|walk me through it
remind me to run|run the tests|play some jazz
did you go for a run?|should I go to the gym?|have you finished?|what did I do today?|is the gym open
when did I last swim?
my wife went for a run|my son picked up the kids|she went swimming|they are back from the gym
Anna fed the cat|you finished it
I didn't go to the gym|skipped the gym|no run today|I never went|forgot to feed the cat
I want to go for a run|I'd like a flat white
I might go for a run|if I went for a run|I wish I went swimming|I think I ran too far|sorry, wrong file
I've got a question|I ran the tests
Finished reading the code, there is a bug|Back to you|I like running|running is fun|I am tired|I'm hungry
Chicago|42|https://example.org/run done|used [SECRET] at the gym
"""
NONE_ZH = """
谢谢|谢谢你|好的|好了|知道了|明白了|收到|太好了|早上好|晚安|嗯嗯|是的|不用了|算了|没事了|对了|行了|可以了|懂了
帮我写封邮件|写封邮件|去查一下天气|给我推荐一家餐馆|请把它改短|播放爵士乐|提醒我去跑步|你去看看
你跑步了吗|我该去跑步吗？|去哪儿跑步了|跑完步吃什么|几点下班|什么时候去的|跑步回来了吗
我老公去跑步了|孩子放学了|他去健身房了|她跑完步了|妈妈买菜回来了|你吃完饭了
没去跑步|不跑步了|我想去跑步|要是去跑步了|忘了喂猫|可能去跑步了|听说健身房关了|喜欢跑步|我觉得跑完了
这个文件改完了|代码写完了|打错了|吃饱了|走了|我去过了|上海|四十二
"""


def _listed(table: str) -> list[str]:
    return [text for line in table.strip().splitlines() for text in line.split("|")]


@pytest.mark.parametrize(("said", "core"), [*ACTS_EN.items(), *ACTS_ZH.items()])
def test_a_short_message_describes_an_activity(said: str, core: str) -> None:
    act = find_act(said)
    assert act
    assert act.core == core


@pytest.mark.parametrize("said", [*_listed(NONE_EN), *_listed(NONE_ZH)])
def test_other_short_messages_describe_none(said: str) -> None:
    assert find_act(said) is None


@pytest.mark.parametrize(
    "said",
    [
        "Just finished my flat white and then I went on to do all of the other errands",
        "今天早上我先去超市买了菜然后去邮局寄了包裹最后回家做了午饭",
        "went for a run\nthen home",
        "",
        "   ",
    ],
)
def test_long_messages_describe_none(said: str) -> None:
    assert find_act(said) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Just finished my flat white", "flat white done"),
        ("went for a run", "Just got back from my run"),
        ("gym done", "off to the gym"),
        ("gym done", "done with my workout"),
        ("walked the dog", "took the dog for a walk"),
        ("swam 20 laps", "back from swimming"),
        ("跑步回来了", "刚跑完步"),
        ("跑步回来了", "晨跑结束"),
        ("跑步回来了", "今天跑了5公里"),
        ("去接娃了", "接娃回来了"),
        ("刚喝完咖啡", "喝了杯咖啡"),
        ("健身打卡", "我去健身房了"),
        ("刚游完泳", "游泳回来了"),
    ],
)
def test_paraphrases_describe_the_same_activity(one: str, other: str) -> None:
    assert _same(one, other)
    assert _same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("walked the dog", "fed the dog"),
        ("fed the dog", "fed the cat"),
        ("Picked up the kids from school", "picked up my parcel"),
        ("had my coffee", "met Anna for coffee"),
        ("finished my report", "finished my flat white"),
        ("watched a movie", "watched the game"),
        ("back from the gym", "back from the office"),
        ("遛狗回来了", "喂狗了"),
        ("去接娃了", "送娃上学去了"),
        ("吃完早饭了", "吃完晚饭了"),
        ("洗完澡了", "洗完碗了"),
        ("喝完咖啡了", "喝完茶了"),
        ("跑步回来了", "游泳回来了"),
    ],
)
def test_other_activities_are_different(one: str, other: str) -> None:
    assert not _same(one, other)
    assert not _same(other, one)


def _same(one: str, other: str) -> bool:
    first, second = find_act(one), find_act(other)
    assert first
    assert second
    return is_same_act(first, second)


START = datetime(2026, 3, 2, 7, tzinfo=UTC)


def telling(text: str, n: int, *, day: int | None = None, key: str | None = None, times: int = 0) -> HabitMention:
    """The text in the session and on the day with these numbers."""
    act = find_act(text)
    assert act
    return HabitMention(act, f"s{n}", START + timedelta(days=n if day is None else day), key, times)


def verdict(texts: Sequence[str], days: Sequence[int], least: int = 4) -> HabitVerdict:
    """The habit after the last of these messages, each in its own session."""
    told = [telling(text, n, day=day) for n, (text, day) in enumerate(zip(texts, days, strict=True))]
    return judge_habit(told[-1], told[:-1], least)


RUNS = ("went for a run", "run done", "back from my run", "off for a run")


def test_four_sessions_on_three_days_are_a_habit() -> None:
    assert verdict(RUNS, (0, 1, 2, 3)) == HabitVerdict(Habit("pattern:habit:run", 4, START.date()), known=True)
    assert verdict(RUNS, (0, 1, 1, 2)).habit
    assert verdict(("跑步回来了", "刚跑完步", "去跑步了", "跑步打卡"), (0, 1, 2, 3)).habit == Habit(
        f"{PREFIX}跑步", 4, START.date()
    )


def test_fewer_sessions_or_days_are_no_habit() -> None:
    assert verdict(RUNS[:3], (0, 1, 2)) == HabitVerdict()
    assert verdict(RUNS, (0, 1, 1, 0)) == HabitVerdict()
    assert verdict(RUNS, (0, 1, 2, 3), least=5) == HabitVerdict()
    assert verdict((*RUNS[:3], "fed the cat"), (0, 1, 2, 3)) == HabitVerdict()


def test_one_session_counts_once() -> None:
    told = [telling(text, 0, day=n) for n, text in enumerate(RUNS)]
    assert judge_habit(told[-1], told[:-1], 4) == HabitVerdict()


@pytest.mark.parametrize(
    ("sessions", "times", "due"), [(5, 4, 0), (7, 4, 0), (8, 4, 8), (9, 8, 0), (16, 8, 16), (33, 32, 0)]
)
def test_a_known_habit_is_renewed_at_certain_counts(sessions: int, times: int, due: int) -> None:
    told = [telling("went for a run", n) for n in range(sessions - 1)]
    told[3] = telling("went for a run", 3, key="pattern:habit:run", times=times)
    found = judge_habit(telling("run done", sessions), told, 4)
    assert found.known
    assert (found.habit.times if found.habit else 0) == due


def test_a_version_contains_the_words_of_its_key() -> None:
    told = [telling("gym done", n) for n in range(7)]
    told[3] = telling("gym done", 3, key="pattern:habit:gym", times=4)
    assert judge_habit(telling("done with my workout", 8), told, 4) == HabitVerdict(known=True)
    found = judge_habit(telling("back from the gym", 8), told, 4)
    assert found.habit
    assert found.habit.key == "pattern:habit:gym"


@pytest.mark.parametrize(
    ("habit", "asked"),
    [
        ("went for a run", "exercise"),
        ("跑步回来了", "锻炼"),
        ("Just finished my flat white", "drink"),
        ("去接娃了", "孩子"),
        ("walked the dog", "pet"),
        ("洗完碗了", "家务"),
    ],
)
def test_a_habit_is_found_by_its_category(habit: str, asked: str) -> None:
    assert asked in list_kinds(habit)


def test_a_habit_without_a_category_is_found_by_its_words_only() -> None:
    assert not list_kinds("watered the bonsai of the club")
