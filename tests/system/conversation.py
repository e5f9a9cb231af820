"""Random conversations from a seed, in both languages, and the memories that must exist at their end.

They contain statements of many kinds, repetitions, corrections that name the old value or its key, denials, and
chatter, in words that the extraction rules read. The tests check what becomes of the extracted statements. Pure.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from schemas.vocabulary import MemoryType

Language = Literal["zh", "en"]
Part = Literal["new", "again", "corrects", "denies", "chatter"]
SHARES: tuple[tuple[Part, float], ...] = (
    ("new", 0.38),
    ("again", 0.12),
    ("corrects", 0.05),
    ("denies", 0.02),
    ("chatter", 0.43),
)


@dataclass(frozen=True)
class Fact:
    """A true fact: its type and words."""

    type: MemoryType
    words: tuple[str, ...]

    def said_in(self, type: str, text: str) -> bool:  # the name of the column
        """Whether a memory of this type and text states it."""
        return type == self.type and all(word.lower() in text.lower() for word in self.words)


@dataclass(frozen=True)
class Said:
    """One turn: the user's message, its kind, and the facts that become true or false."""

    text: str
    language: Language
    part: Part
    holds: tuple[Fact, ...] = ()
    ends: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of statement: how it is made, changed and denied. {a} is its subject, {v} its value, {w} the new value."""

    type: MemoryType
    language: Language
    says: str
    of: str = ""
    values: str = ""
    corrects: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()
    moves: bool = False
    """Whether a correction replaces the subject, not its value."""
    slot: str = ""
    """The attributes of which a person has one value, in any language."""

    def fact(self, of: str, value: str) -> Fact:
        """The fact that holds once it is stated."""
        return Fact(self.type, tuple(word for word in (of, value) if word))


KINDS = (
    Kind(
        "profile",
        "en",
        "I live in {v}.",
        slot="city",
        values="Lisbon,Oslo,Kyoto,Austin,Tallinn,Porto,Leeds,Ghent,Malmo,Turin",
        corrects=("No, I live in {w}, not {v}.", "I don't live in {v} any more, I live in {w}."),
    ),
    Kind(
        "profile",
        "zh",
        "我住在{v}。",
        slot="city",
        values="杭州,成都,苏州,厦门,青岛,昆明,西安,大连,南京,珠海",
        corrects=("我不住在{v}了，现在住在{w}。",),
    ),
    Kind(
        "profile",
        "en",
        "I work at {v}.",
        values="Contoso,Fabrikam,Northwind,Initech,Globex,Umbrella",
        corrects=("I no longer work at {v}, I work at {w} now.",),
    ),
    Kind(
        "profile",
        "en",
        "My name is {v}.",
        values="Priya,Bruno,Dmitri,Farid,Grace,Kenji",
        corrects=("Actually my name is {w}, not {v}.",),
    ),
    Kind(
        "profile",
        "en",
        "My birthday is {v}.",
        slot="birthday",
        values="May 3,June 14,May 27,June 2",
        corrects=("My birthday is {w}, not {v}.",),
    ),
    Kind(
        "profile",
        "zh",
        "我的生日是{v}。",
        slot="birthday",
        values="5月3日,6月14日,5月27日,6月2日",
        corrects=("我的生日是{w}，不是{v}。",),
    ),
    Kind("profile", "zh", "我今年{v}。", values="31岁,33岁,35岁,37岁", corrects=("不对，我今年{w}，不是{v}。",)),
    Kind(
        "preference",
        "en",
        "I prefer {v} in every editor.",
        slot="theme",
        values="dark mode,light mode",
        corrects=("I prefer {w} in every editor now, not {v}.",),
    ),
    Kind(
        "preference",
        "zh",
        "我更喜欢{v}。",
        slot="theme",
        values="深色主题,浅色主题",
        corrects=("不是{v}，我现在更喜欢{w}。",),
    ),
    Kind(
        "event",
        "en",
        "The {a} is on {v}.",
        of="budget review,hiring sync,design meeting,release meeting,sales review,supplier meeting",
        values="Monday,Tuesday,Wednesday,Thursday,Friday",
        corrects=("The {a} is on {w}, not {v}.", "The {a} moved from {v} to {w}."),
    ),
    Kind(
        "event",
        "zh",
        "{a}是{v}。",
        of="产品周会,设计评审会,销售例会,董事会",
        values="周一上午十点,周二上午十点,周三下午三点,周四下午三点,周五下午四点",
        corrects=("{a}改到{w}。", "{a}不是{v}，是{w}。"),
    ),
    Kind(
        "preference",
        "en",
        "I like {a}.",
        of="jazz|blues|salsa|techno|folk >music,concerts,festivals,records",
        moves=True,
        corrects=("I no longer like {v}, now I like {w}.",),
        denies=("I no longer like {v}.", "I don't like {v} any more."),
    ),
    Kind(
        "preference",
        "en",
        "I enjoy {a}.",
        of="mountain|forest|winter|island|desert|river >hiking,photography,cycling,camping",
        moves=True,
        denies=("Forget that I enjoy {v}.",),
    ),
    Kind(
        "preference",
        "zh",
        "我喜欢喝{a}。",
        of="茉莉|桂花|玫瑰|柠檬|蜂蜜|薄荷 >绿茶,红茶,乌龙茶,白茶",
        moves=True,
        corrects=("不是{v}，我现在喜欢喝{w}。", "我不再喜欢喝{v}了，现在喜欢喝{w}。"),
        denies=("我不再喜欢喝{v}了。", "忘掉我喜欢喝{v}。"),
    ),
    Kind(
        "preference",
        "zh",
        "我喜欢看{a}。",
        of="侦探|科幻|历史|武侠|推理|战争 >小说,电影,漫画,纪录片",
        moves=True,
        corrects=("不是{v}，我现在喜欢看{w}。",),
    ),
    Kind(
        "constraint",
        "en",
        "I am allergic to {a}.",
        of="peanuts,shellfish,walnuts,sesame,gluten",
        denies=("I am not allergic to {a} any more.",),
    ),
    Kind("constraint", "zh", "我对{a}过敏。", of="花生,海鲜,核桃,芝麻,牛奶", denies=("我对{a}不过敏了。",)),
    Kind("goal", "en", "My goal is to learn {a}.", of="Spanish,Danish,Polish,Korean,Greek"),
    Kind("goal", "zh", "我的目标是今年学会{a}。", of="法语,德语,粤语,游泳,书法"),
    Kind(
        "task",
        "en",
        "Remind me to {a} by 2026-11-14.",
        of="call the landlord,renew the passport,order the laptop,update the runbook",
    ),
    Kind("task", "zh", "提醒我11月14日之前{a}。", of="联系房东,更新护照,订购电脑,预约牙医"),
    Kind(
        "note",
        "en",
        "Remember that the locker of {a} is number {v}.",
        of="Anna,Ivan,Julia,Hana",
        values="117,238,356,479",
    ),
    Kind("note", "zh", "记住，{a}的门禁卡放在{v}。", of="李梅,王强,张伟,陈静", values="二楼,前台,抽屉,车里"),
)
CHATTER: dict[Language, tuple[str, ...]] = {
    "en": (
        "Could you explain how a consumer group rebalances?",
        "It rained all day and the build took ages.",
        "Thanks, that makes sense.",
        "What would you try first if a query is slow only at night?",
    ),
    "zh": (
        "今天的构建又失败了，帮我看看日志。",
        "谢谢，明白了。",
        "能不能解释一下消费组是怎么再均衡的？",
        "如果只在晚上变慢，你会先查哪里？",
    ),
}


@dataclass
class _Known:
    """A true statement about one subject."""

    kind: Kind
    of: str
    value: str

    @property
    def fact(self) -> Fact:
        return self.kind.fact(self.of, self.value)

    def put(self, template: str, new: str = "") -> str:
        of, value = (self.of, self.of) if self.kind.moves else (self.of, self.value)
        return template.format(a=of, v=value, w=new)


@dataclass
class Story:
    """A growing conversation; `expected` says of each fact that was ever stated whether it holds now."""

    dice: random.Random
    known: list[_Known] = field(default_factory=list[_Known])
    expected: dict[Fact, bool] = field(default_factory=dict[Fact, bool])
    _used: set[tuple[Kind, str]] = field(default_factory=set[tuple[Kind, str]])

    def turn(self, part: Part) -> Said:
        """The next turn; chatter if this kind has no statement left."""
        said = getattr(self, f"_{part}")() or self._chatter()
        self.expected |= dict.fromkeys(said.ends, False) | dict.fromkeys(said.holds, True)
        return said

    def _chatter(self) -> Said:
        language: Language = self.dice.choice(("zh", "en"))
        return Said(self.dice.choice(CHATTER[language]), language, "chatter")

    def _new(self) -> Said | None:
        kind = self.dice.choice(KINDS)
        places = [of for of in _things(kind.of) if (kind, of) not in self._used]
        if not places:
            return None
        of = self.dice.choice(places)
        self._used.add((kind, of))
        if any(k.kind.slot == kind.slot != "" for k in self.known):
            return None
        fresh = _Known(kind, of, self.dice.choice(_things(kind.values)))
        self.known.append(fresh)
        return Said(fresh.put(kind.says), kind.language, "new", (fresh.fact,))

    def _again(self) -> Said | None:
        if not self.known:
            return None
        old = self.dice.choice(self.known)
        return Said(old.put(old.kind.says), old.kind.language, "again", (old.fact,))

    def _corrects(self) -> Said | None:
        wrong = [k for k in self.known if k.kind.corrects]
        if not wrong:
            return None
        old = self.dice.choice(wrong)
        kind, before = old.kind, old.fact
        if kind.moves:
            fresh = [of for of in _things(kind.of) if (kind, of) not in self._used]
            if not fresh:
                return None
            new = self.dice.choice(fresh)
            self._used.add((kind, new))
            text = old.put(self.dice.choice(kind.corrects), new)
            old.of = new
        else:
            new = self.dice.choice([value for value in _things(kind.values) if value != old.value])
            text = old.put(self.dice.choice(kind.corrects), new)
            old.value = new
        return Said(text, kind.language, "corrects", (old.fact,), (before,))

    def _denies(self) -> Said | None:
        wrong = [k for k in self.known if k.kind.denies]
        if not wrong:
            return None
        old = self.dice.choice(wrong)
        self.known.remove(old)
        return Said(old.put(self.dice.choice(old.kind.denies)), old.kind.language, "denies", (), (old.fact,))


def _things(words: str) -> list[str]:
    """The subjects that a word list names: `a,b`, or `x|y >a,b` for each combination."""
    first, found, second = words.partition(" >")
    if not found:
        return words.split(",")
    space = " " if second.isascii() else ""
    return [f"{x}{space}{y}" for x in first.split("|") for y in second.split(",")]


def turns(seed: str, shares: tuple[tuple[Part, float], ...] = SHARES) -> Iterator[tuple[Said, Story]]:
    """Endless turns, each with the conversation so far; the same seed gives the same conversation."""
    story = Story(random.Random(seed))
    parts, weights = [part for part, _ in shares], [weight for _, weight in shares]
    while True:
        yield story.turn(story.dice.choices(parts, weights)[0]), story
