"""Past and present through HTTP: chains of changes, repetitions, time expressions, retractions, relatives."""

# ruff: noqa: E501 - a conversation is easier to read on few lines

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from schemas.context_package import ContextPackage
from tests.system.person import Person
from tests.system.running import System


@dataclass(frozen=True)
class Talk:
    """Messages and answers by their age in days, each day a session; what a question must and must not show."""

    turns: Sequence[tuple[str, str, int]]
    asked: str
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    dated: bool = field(default=False)
    """Whether the package must say until when a value held."""


CHAINS = (
    Talk(
        (
            ("I work at Deloitte as an auditor.", "Auditing at Deloitte must be busy.", 400),
            ("I left Deloitte, I work at Stripe now.", "Congrats on joining Stripe!", 200),
            ("Update: I quit Stripe and now I work at Canva.", "Canva sounds fun.", 5),
        ),
        "Where do I work?",
        ("Canva",),
        ("auditor", "Auditing at Deloitte", "joining Stripe"),
    ),
    Talk(
        (
            ("My phone is a Pixel 6.", "Nice, the Pixel 6 has a good camera.", 300),
            ("Traded my Pixel 6 for an iPhone 14.", "The iPhone 14 is solid.", 120),
            (
                "I switched from the iPhone 14 to a Galaxy S24.",
                "Good choice, the Galaxy S24 has great battery life.",
                10,
            ),
        ),
        "What phone do I use?",
        ("Galaxy S24",),
        ("is a Pixel 6", "Pixel 6 has a good", "for an iPhone 14", "iPhone 14 is solid"),
    ),
    Talk(
        (
            ("我在华为做测试。", "华为压力大吗？", 300),
            ("我从华为跳槽到字节了。", "字节节奏快。", 150),
            ("我从字节离职了，现在在小米上班。", "小米挺好。", 5),
        ),
        "我在哪儿上班？",
        ("小米",),
        ("我在华为做测试", "华为压力", "跳槽到字节", "字节节奏"),
    ),
    Talk(
        (
            ("发布会定在5月3号。", "好，5月3号。", 40),
            ("发布会改到5月17号了。", "收到，5月17号。", 20),
            ("发布会又推迟到6月2号了。", "好的，6月2号。", 3),
        ),
        "发布会是哪天？",
        ("6月2号",),
        ("5月3号", "5月17号"),
    ),
)
THREE = {
    "en": (
        ("I'm on the 8:15 train to work.", "The 8:15, got it.", 90),
        ("Timetable changed, I'm on the 7:50 to work now.", "7:50 then.", 50),
        ("Gave up on the 7:50, I drive to work now.", "Driving, okay.", 5),
    ),
    "zh": (
        ("我坐8点15的地铁上班。", "8点15，记下了。", 90),
        ("时刻表变了，现在改坐7点50那班上班。", "那就7点50。", 50),
        ("地铁太挤，我现在开车上班。", "开车，好的。", 5),
    ),
}
"""Chains whose links share few words."""
LOOSE = (
    Talk(THREE["en"], "How do I get to work?", ("drive to work",), ("8:15", "on the 7:50 to work", "7:50 then")),
    Talk(THREE["zh"], "我现在怎么上班？", ("开车上班",), ("8点15", "改坐7点50", "那就7点50")),
    Talk(THREE["en"], "How did I use to get to work, from the start?", ("8:15 train", "7:50", "drive to work"), dated=True),
    Talk(THREE["zh"], "我以前怎么上班，从头说起？", ("8点15的地铁", "7点50", "开车上班"), dated=True),
    Talk(
        (("I play tennis on Sundays.", "Nice.", 60), ("I started playing squash on Thursdays.", "Fun.", 5)),
        "What do I play?",
        ("tennis on Sundays", "squash on Thursdays"),
    ),
    Talk(
        (("我周日打网球。", "不错。", 60), ("我又开始周四打壁球了。", "好玩。", 5)),
        "我打什么球？",
        ("周日打网球", "周四打壁球"),
    ),
)  # fmt: skip
ECHOES = (
    Talk(
        (
            ("I live in Lyon.", "Lyon has wonderful food.", 100),
            ("Any ideas for the weekend?", "Since you live in Lyon, you could visit the traboules.", 80),
            ("I moved to Nice in spring.", "Nice has a lovely coast.", 10),
        ),
        "Where do I live?",
        ("Nice",),
        ("live in Lyon", "Lyon has"),
    ),
    Talk(
        (
            ("我住在长沙。", "长沙美食多。", 100),
            ("周末去哪儿玩？", "您住在长沙，可以去橘子洲逛逛。", 80),
            ("我上个月搬到珠海了。", "珠海气候宜人。", 10),
        ),
        "我现在住在哪里？",
        ("珠海",),
        ("住在长沙", "长沙美食"),
    ),
    Talk(
        (
            ("周会在每周一上午十点。", "记住了，周一上午十点。", 60),
            ("周会什么时候来着？", "您的周会在周一上午十点。", 40),
            ("周会改到周三下午两点了。", "好的，周三下午两点。", 3),
        ),
        "周会是什么时候？",
        ("周三下午两点",),
        ("周一上午十点",),
    ),
    # the answer is removed too, although it repeats no word of it
    Talk(
        (
            ("I'm going to open a bakery in June.", "What a brave step!", 30),
            ("The bakery fell through.", "Oh no, sorry.", 5),
        ),
        "Am I going to open a bakery in June?",
        (),
        ("brave step", "I'm going to open"),
    ),
    Talk(
        (("我打算六月开一家面包店。", "很大的决定！", 30), ("面包店黄了。", "真遗憾。", 5)),
        "我六月打算开什么店？",
        (),
        ("很大的决定", "我打算六月开"),
    ),
)
PAST = (
    Talk(
        (("I work at Deloitte.", "", 300), ("I left Deloitte, I work at Stripe now.", "", 20)),
        "Where did I use to work?",
        ("I work at Deloitte.",),
        dated=True,
    ),
    Talk(
        (("I live in Denver.", "", 300), ("I moved to Portland.", "", 20)),
        "List all the cities I've lived in over the years.",
        ("Denver", "Portland"),
        dated=True,
    ),
    Talk(
        (("我住在成都。", "", 300), ("我搬到武汉了。", "", 150)),
        "我从头到尾都住过哪些城市？",
        ("成都", "武汉"),
        dated=True,
    ),
    Talk(
        (("我每天早上喝两杯咖啡。", "", 200), ("我戒咖啡了，现在早上喝牛奶。", "", 20)),
        "我以前早上喝什么？",
        ("两杯咖啡",),
    ),
)
TIMES = (
    Talk(
        (("Visited the aquarium with the kids.", "", 252), ("Bought a tent.", "", 120)),
        "What did I do {month}?",
        ("aquarium",),
        ("tent",),
    ),
    Talk((("带孩子去了水族馆。", "", 252), ("买了一顶帐篷。", "", 120)), "{month}份我去哪了？", ("水族馆",), ("帐篷",)),
    Talk(
        (("Tried the ramen place on Mill Road.", "", 200), ("Fixed the bike chain.", "", 191)),
        "What did I do on {day}?",
        ("ramen",),
        ("bike chain",),
    ),
    Talk(
        (("面试了一家做机器人的公司。", "", 200), ("把阳台的花换了土。", "", 191)),
        "{day_zh}我做了什么？",
        ("机器人",),
        ("换了土",),
    ),
    Talk((("和小李吃了拉面。", "", 30), ("邻居借给我一把电钻。", "", 2)), "前几天", ("电钻",), ("拉面",)),
)
TAKEN_BACK = (
    Talk((("I'm moving to Mars next week. Just kidding!", "Haha.", 5),), "Where am I moving?", (), ("Mars",)),
    Talk(
        (("I adopted a tiger yesterday.", "A tiger, really?", 5), ("just kidding", "Ha!", 5)),
        "What pet did I adopt?",
        (),
        ("tiger",),
    ),
    Talk(
        (("My locker code word is pineapple.", "Pineapple, okay.", 5), ("Delete that.", "Done.", 5)),
        "What did I use to say was my locker code word?",
        (),
        ("ineapple",),
    ),
    Talk(
        (
            ("I'm getting married in September!", "Congratulations!", 5),
            ("Just kidding, nobody would have me. I'm still single.", "Ha, you got me.", 5),
        ),
        "Am I getting married?",
        ("still single",),
        ("getting married in September", "Congratulations"),
    ),
    Talk(
        (("我十月要结婚了！", "真为你高兴！", 5), ("骗你的，我还单着呢。", "哈哈。", 5)),
        "我十月要结婚吗？",
        ("我还单着呢",),
        ("我十月要结婚了", "真为你高兴"),
    ),
    Talk(
        (
            ("We're flying to Lisbon in June.", "Lisbon is lovely in June.", 30),
            ("The Lisbon trip fell through.", "Sorry to hear that.", 5),
        ),
        "Where are we flying in June?",
        (),
        ("We're flying to Lisbon", "lovely in June"),
    ),
    Talk(
        (("我昨天养了一只老虎。", "老虎？真的吗？", 5), ("开玩笑的啦", "哈哈", 5)), "我养了什么宠物？", (), ("老虎",)
    ),
    Talk((("周六我打算去爬泰山。", "注意安全。", 5), ("算了，不去了。", "好的。", 5)), "周六我打算去干什么？", (), ("泰山",)),
    Talk((("我想学架子鼓。", "很酷！", 5), ("当我没说。", "好。", 5)), "我想学什么乐器？", (), ("架子鼓",)),
    Talk((("六月我们要去里斯本旅行。", "里斯本很美。", 30), ("里斯本旅行黄了。", "真可惜。", 5)), "六月我们去哪儿旅行？", (), ("要去里斯本", "里斯本很美")),
)  # fmt: skip
INNOCENT = (
    Talk(
        (
            ("I live in Boston.", "", 300),
            ("Went to a Celtics game in Boston with Tom, he spilled beer on me.", "", 200),
            ("I moved to Seattle.", "", 50),
        ),
        "Who came with me to the Celtics game?",
        ("Tom",),
    ),
    Talk(
        (
            ("I live in Boston.", "", 300),
            ("My sister lives in Boston too, with her two kids.", "", 280),
            ("I moved to Seattle.", "", 50),
        ),
        "Where does my sister live?",
        ("My sister lives in Boston",),
        ("I live in Boston",),
    ),
    Talk(
        (
            ("我住在北京。", "", 300),
            ("周末和老王去北京动物园，看到了小熊猫。", "", 200),
            ("我搬到苏州了。", "", 50),
        ),
        "我和老王看到了什么动物？",
        ("小熊猫",),
    ),
    Talk(
        (
            ("我在腾讯上班。", "", 300),
            ("在腾讯的时候有次停电，大家打了一晚上牌。", "", 200),
            ("我从腾讯离职了，现在在网易上班。", "", 50),
        ),
        "停电那次大家干了什么？",
        ("打了一晚上牌",),
    ),
    Talk((("I like jazz.", "", 60), ("I also like blues.", "", 20)), "What music do I like?", ("jazz", "blues")),
    Talk((("My brother is always kidding around at dinner.", "", 20),), "Who is always kidding around?", ("brother",)),
)
ENDERS = (
    Talk(
        (
            ("I'm going to open a hostel in Porto next spring.", "A hostel, exciting!", 60),
            ("What rhymes with orange?", "Hardly anything.", 40),
            ("Any good soup recipes?", "Try leek and potato.", 30),
            ("The Porto thing fell through, the bank said no.", "Sorry.", 5),
        ),
        "When does my hostel open?",
        ("bank said no",),
        ("open a hostel", "A hostel, exciting"),
    ),
    Talk(
        (
            ("我打算明年春天在厦门开咖啡馆。", "咖啡馆不错。", 60),
            ("晚饭吃什么好呢", "煮碗面吧。", 40),
            ("推荐一首歌", "听听老歌。", 30),
            ("厦门那事黄了，房东反悔了。", "可惜了。", 5),
        ),
        "我的咖啡馆什么时候开业？",
        ("房东反悔",),
        ("开咖啡馆", "咖啡馆不错"),
    ),
)
RELATIVES = (
    Talk(
        (("My dad was diagnosed with diabetes last week.", "I'm sorry to hear that.", 10), ("I have a peanut allergy.", "Noted.", 9)),
        "What health conditions do I have?",
        ("peanut",),
        ("diabetes",),
    ),
    Talk((("My dad was diagnosed with diabetes last week.", "I'm sorry.", 10),), "What was my dad diagnosed with?", ("My dad was diagnosed",)),
    Talk((("我爸上周查出糖尿病了。", "祝叔叔早日康复。", 10), ("我周末喜欢做饭。", "不错。", 9)), "你好呀，今天心情怎么样？", (), ("糖尿病",)),
    Talk((("我妈有高血压，每天吃氨氯地平。", "祝阿姨健康。", 10),), "我平时吃什么药？", (), ("氨氯地平",)),
)  # fmt: skip


async def told(person: Person, talk: Talk) -> ContextPackage:
    """The package for the question, asked in a separate session after everything is learnt."""
    now = datetime.now(UTC)
    for n, (said, answered, days) in enumerate(talk.turns):
        at = now - timedelta(days=days) + timedelta(minutes=n)
        messages = [
            {"role": "user", "content": said},
            *([{"role": "assistant", "content": answered}] if answered else []),
        ]
        body = {**person.whose, "session_id": f"d{days}", "messages": messages, "created_at": at.isoformat()}
        answer = await person.post("/v1/turns", body)
        assert answer.status_code == 201, answer.text
        await person.outcome(answer.json()["turn_id"])
    first = now - timedelta(days=talk.turns[0][2])
    month = f"{first.month}月" if "份" in talk.asked else f"in {first:%B}"
    day, day_zh = f"{first:%B} {first.day}, {first.year}", f"{first.year}年{first.month}月{first.day}日"
    return await person.compose(talk.asked.format(month=month, day=day, day_zh=day_zh), session="now")


def told_of_user(package: ContextPackage) -> str:
    """The package's text about the user: core memory, summary and evidence."""
    parts = [block.text for block in package.system_blocks if block.type != "policies"]
    return "\n".join([*parts, package.working_summary, *(each.snippet for each in package.evidence)])


@pytest.mark.parametrize(
    "talks",
    [CHAINS, LOOSE, ECHOES, PAST, TIMES, TAKEN_BACK, ENDERS, INNOCENT, RELATIVES],
    ids=["chains", "loose", "echoes", "past", "times", "taken_back", "enders", "innocent", "relatives"],
)
async def test_past_and_present_values_are_distinguished(system: System, talks: Sequence[Talk]) -> None:
    packages = await asyncio.gather(*(told(Person(system), talk) for talk in talks))
    for talk, package in zip(talks, packages, strict=True):
        text = told_of_user(package)
        for word in talk.shows:
            assert word in text, (talk.asked, word, text)
        for word in talk.hides:
            assert word not in text, (talk.asked, word, text)
        assert not talk.dated or "valid_until=" in text, (talk.asked, text)


@pytest.mark.parametrize(
    ("said", "taken_back", "asked", "gone"),
    [
        ("I'm going to sign up for the Berlin marathon.", "Never mind, I'm not going.", "Which marathon?", "Berlin"),
        ("我打算买那辆红色的自行车。", "我改主意了。", "我打算买哪辆自行车？", "红色的自行车"),
    ],
)
async def test_a_retracted_value_is_gone_before_the_workers_know(
    system: System, said: str, taken_back: str, asked: str, gone: str
) -> None:
    person = Person(system)
    await person.say(said, session="s1")
    await system.stop("observer")
    try:
        await person.commit(taken_back, session="s1")
        package = await person.compose(asked, session="s1")
        assert gone not in told_of_user(package)
    finally:
        await system.start("observer")


async def test_a_plan_marks_ended_memories_as_ended(system: System) -> None:
    person = Person(system)
    await person.say("I live in Lyon.", session="s1")
    await person.say("I moved to Porto.", session="s2")
    plan = {"version": "0.1", "queries": [{"text": "live in Lyon", "mode": "exact"}]}
    now = (await person.post("/v1/retrieve", {**person.whose, **plan})).json()["evidences"]
    assert "Lyon" not in " ".join(each["snippet"] for each in now)
    plan["queries"][0]["hints"] = {"past": True}  # type: ignore[index]
    then = (await person.post("/v1/retrieve", {**person.whose, **plan})).json()["evidences"]
    (lyon,) = [each for each in then if "Lyon" in each["snippet"]]
    assert lyon["metadata"]["valid_until"]


BYGONE = {
    "en": ("We used to run our deploys on Jenkins.", "We run our deploys on GitHub Actions.", "What do we run our deploys on?", "Jenkins", "GitHub Actions"),
    "zh": ("我们以前用Jenkins做部署。", "我们用GitHub Actions做部署。", "我们用什么做部署？", "Jenkins", "GitHub Actions"),
}  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_statement_about_the_past_is_shown_as_outdated_after_the_current_value(
    person: Person, language: str
) -> None:
    was, now, asked, old, new = BYGONE[language]
    for text in (was, now):
        await person.say(text, session="first")
    package = await person.compose(asked)
    found = [each.snippet for each in package.evidence]
    assert new in found[0]
    assert all('epistemic_type="outdated"' in each for each in found if old in each)
    assert not any('epistemic_type="outdated"' in each for each in found if new in each)
    past = await person.compose(
        {"en": "What did we use to run our deploys on?", "zh": "我们以前用什么做部署？"}[language]
    )
    assert any(old in each.snippet for each in past.evidence)
