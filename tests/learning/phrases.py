"""Plain sentences made of words of the lexicon: the same thing said by the user, of others, asked, supposed, once.

They teach what no list of samples can: that it is the frame, and not the thing named in it, that makes a statement.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

EACH = 14
"""Sentences of each frame."""
ZH = {
    "drink": ["drink"], "food": ["dish", "food_ingredient"], "sport": ["sport"], "city": ["city"], "job": ["job"],
    "work": ["workplace"], "allergen": ["allergen"], "tool": ["software", "programming"], "illness": ["illness"],
    "music": ["music"], "animal": ["animal"], "study": ["study"], "language": ["language"], "device": ["device"],
    "style": ["style_of_answer"],
}  # fmt: skip
"""What a place in a frame may hold, in classes of the lexicon."""
SELF_ZH = ("我", "我", "我", "本人", "咱", "")
OTHER_ZH = ("他", "她", "我妈", "我爸", "我老板", "我同事", "我朋友", "小王", "我室友", "客户", "大家", "我们老师", "隔壁邻居", "你")
FRAMES_ZH: tuple[tuple[str, str], ...] = (
    ("preference", "{s}{喜欢|爱|很喜欢|特别喜欢|最爱|一直爱|超爱|偏爱}喝{drink}"),
    ("preference", "{s}{喜欢|爱|很喜欢|最爱|特别爱|从小就爱}吃{food}"),
    ("preference", "{s}{喜欢|热爱|很喜欢|迷上了|一直喜欢}{sport}"),
    ("preference", "{s}{不|从来不|从不|向来不|不怎么|不爱|不喜欢}喝{drink}"),
    ("preference", "{s}{不|从来不|不爱|不喜欢|讨厌|受不了|不怎么}吃{food}"),
    ("preference", "{s}{喜欢|更喜欢|习惯|一直|平时都|一般都}用{tool}"),
    ("preference", "{s}{喜欢|爱|常|最爱|平时爱}听{music}"),
    ("profile", "{s}{住在|现在住在|家住|家在|定居在|搬到了|老家是|来自}{city}"),
    ("profile", "{s}{是|是一名|是个|的职业是|做了十年的|目前是}{job}"),
    ("profile", "{s}在{work}{上班|工作|任职|当{job}|做{job}}"),
    ("profile", "{s}{养了|家里养着|家有}{一只|两只|一条}{animal}"),
    ("profile", "{s}{会说|母语是|会讲|说得最好的是}{language}"),
    ("profile", "{s}{学的是|的专业是|在读|毕业于}{study}"),
    ("profile", "{s}{有|得了|患有|确诊了|有多年的}{illness}"),
    ("profile", "{s}{用的是|的手机是|的电脑是|一直用的是}{device}"),
    ("constraint", "{s}对{allergen}{过敏|严重过敏|有点过敏|不耐受}"),
    ("constraint", "{s}{不能吃|不能碰|忌口|一点都不能沾|医生不让吃}{food}"),
    ("preference", "{以后|今后|从现在起|往后|以后都|以后请}{用{language}回答|用{language}回复我|用{language}写|回答{style}|回复要{style}|写东西{style}}"),
    ("preference", "{回答|回复|解释|给我的答案}{请一直|以后都|永远|一律}{用{language}|{style}}"),
    ("goal", "{s}{打算今年学会|的目标是学好|想在明年前学会|计划三个月内学会|立志学好}{language}"),
    ("goal", "{s}{今年的目标是坚持|的目标是每周三次|打算长期坚持}{sport}"),
    ("pattern", "{s}{每天早上|每周三晚上|每个周末|每天下班后|每周日}都{喝{drink}|练{sport}|吃{food}|学{language}}"),
    ("decision", "我们{决定|最后决定|已经定了|敲定了|商量好了}{用{tool}|改用{tool}|采用{tool}}"),
    ("task", "{s}{明天|周五前|下周一|月底前|后天}{要|得|必须}{去买{food}|交{study}作业|更新{tool}|带{animal}去医院}"),
    ("event", "{s}{下周|上周|下个月|昨天|明年三月}{去了|要去|飞往|搬到}{city}"),
    ("correction", "{s}{不再|再也不|早就不|已经不}喝{drink}了"),
    ("correction", "{s}{不吃{food}了|不用{tool}了|不住{city}了|不当{job}了|戒了{drink}}"),
    ("correction", "{s}{现在改喝{drink}了|换成{tool}了|现在更喜欢{food}了|搬到{city}了|改当{job}了|现在用{tool}了}"),
    ("correction", "不是{drink}，是{drink}"),
    ("correction", "不是{city}，是{city}"),
)  # fmt: skip
NOT_ZH = (
    "{o}{喜欢|爱|最爱|讨厌|不}{喝{drink}|吃{food}}", "{o}对{allergen}过敏", "{o}{住在{city}|是{job}|在{work}上班}",
    "{o}不再喝{drink}了", "{o}{换成{tool}了|搬到{city}了|改当{job}了}", "我{喜欢|爱}{喝{drink}|吃{food}}吗？", "你{喜欢|爱|会}{喝{drink}|吃{food}|说{language}}吗",
    "{喜欢|爱}{喝{drink}|吃{food}}的人多吗", "如果我{住在{city}|是{job}|对{allergen}过敏|喜欢{food}}呢", "要是我会{language}就好了", "今天想{喝{drink}|吃{food}}",
    "这次想试试{tool}", "这次换{food}吧", "今天{不想喝{drink}|不吃{food}了}", "{drink}怎么{泡|做|选}", "{food}怎么做", "{city}有什么好玩的", "{illness}要注意什么",
    "{tool}和{tool}哪个好", "帮我{介绍一下{city}|推荐几款{drink}|写一段关于{animal}的话|翻译成{language}}", "对{allergen}过敏怎么办", "{o}说{o}喜欢{food}",
    "{city}今天冷吗", "刚{喝了杯{drink}|吃了{food}}", "{job}一个月赚多少", "学{language}难吗", "给我讲讲{study}", "我想了解一下{illness}", "我该不该学{language}",
    "我要不要换成{tool}", "我们还没决定用不用{tool}", "有人喜欢{sport}吗", "他们决定用{tool}", "听说{city}不错",
)  # fmt: skip
SELF_EN = ("I", "I", "I", "I", "i")
OTHER_EN = (
    "my boss", "my mum", "my sister", "he", "she", "my friend", "Anna", "our client", "my flatmate", "everyone", "the author",
)  # fmt: skip
FRAMES_EN: tuple[tuple[str, str], ...] = (
    ("preference", "{s} {like|love|really like|enjoy|adore|prefer|always drink} {drink}"),
    ("preference", "{s} {like|love|really enjoy|could live on|always go for} {food}"),
    ("preference", "{s} {hate|don't like|can't stand|never eat|avoid|don't eat|dislike} {food}"),
    ("preference", "{s} {never drink|don't drink|can't stand|hate} {drink}"),
    ("preference", "{s} {prefer|like|mostly use|always use|swear by} {tool}"),
    ("preference", "{s} {love|enjoy|am into|am a fan of|like} {sport|music}"),
    ("profile", "{s} {live in|am based in|am from|grew up in|moved to|settled in} {city}"),
    ("profile", "{I'm|I am|i work as|I'm working as|my job: I'm} a {job}"),
    ("profile", "{s} work at a {work}"),
    ("profile", "{s} {speak|am fluent in|grew up speaking} {language}"),
    ("profile", "{s} {have|got|own} a {animal}"),
    ("profile", "{s} {studied|study|have a degree in|am majoring in} {study}"),
    ("profile", "{s} {have|was diagnosed with|suffer from|live with} {illness}"),
    ("constraint", "{I'm|I am|im} {allergic|badly allergic|intolerant} to {allergen}"),
    ("constraint", "{s} can't {eat|have|touch} {food}"),
    ("preference", "{from now on|always|please always|going forward} {answer in {language}|reply in {language}|write in {language}|use {style}|keep it {style}}"),
    ("goal", "{my goal is to learn|I want to be fluent in|I'm planning to learn|I aim to master} {language} {by next year|this year|before summer}"),
    ("pattern", "every {morning|Sunday|Friday evening|day after work} {s} {drink|play|practise|have} {drink|sport|language|food}"),
    ("decision", "we {decided on|settled on|are going with|agreed to use|have chosen} {tool}"),
    ("task", "{s} {need to|have to|must|should} {buy|order|pick up} {food|device} {by Friday|tomorrow|before the weekend}"),
    ("event", "{s} {am flying to|moved to|went to|am travelling to} {city} {last week|next week|in March|on Tuesday}"),
    ("correction", "{s} {no longer|don't} {drink|like} {drink} {any more|anymore}"),
    ("correction", "{s} {stopped eating|quit|gave up|no longer eat} {food}"),
    ("correction", "{s} {switched to|moved on to|use} {tool} {now|instead}"),
    ("correction", "{s} {live in|moved to} {city} now, not {city}"),
    ("correction", "not {drink}, {drink}"),
)  # fmt: skip
NOT_EN = (
    "{o} {likes|loves|hates|prefers} {drink|food}", "{o} is allergic to {allergen}", "{o} lives in {city}", "{o} works as a {job}", "{o} no longer drinks {drink}",
    "{o} switched to {tool}", "do I like {food}?", "do you like {drink|food}", "what if I lived in {city}", "if I were a {job}", "I wish I spoke {language}",
    "I'd like {some {drink}|{food}} today", "just this once, {food}", "how do you make {food}", "what to see in {city}", "is {illness} serious", "{tool} or {tool}, which is better?",
    "tell me about {city}", "recommend me a {drink}", "translate this into {language}", "what does a {job} earn", "is {language} hard to learn", "I want to know more about {study}",
    "should I switch to {tool}?", "we haven't decided on {tool} yet", "they decided on {tool}", "just had {food}", "had some {drink} earlier", "{o} says {o} likes {food}",
    "write a poem about a {animal}", "imagine I am a {job}", "can I use {tool} for this", "how long does {food} keep", "I've never heard of {tool}", "I'm thinking about {food} tonight",
)  # fmt: skip
OBJECTS = frozenset(ZH)
PEOPLE = ("family", "friend_colleague")
KNOWN = 0.6
"""How often others are one of the list, and not a relative or a colleague."""


def words(path: Path) -> dict[str, list[str]]:
    """The words of each class of a lexicon."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#"):
            name = line[1:].split()[0]
        else:
            found.setdefault(name, []).extend(part.strip() for part in line.split("|") if part.strip())
    return found


def lines(folder: Path) -> Iterator[str]:
    """Tagged lines of both languages, the same at every call."""
    random = np.random.default_rng(11)
    for language, frames, nothing, own, others in (
        ("zh", FRAMES_ZH, NOT_ZH, SELF_ZH, OTHER_ZH),
        ("en", FRAMES_EN, NOT_EN, SELF_EN, OTHER_EN),
    ):
        lexicon = words(folder / f"lexicon_{language}.txt")
        for kind, frame in frames:
            for _ in range(EACH):
                yield f"<{kind}>{_filled(frame, lexicon, own, others, random)}</{kind}>"
        for frame in nothing:
            for _ in range(EACH):
                yield _filled(frame, lexicon, own, others, random)


def _filled(
    frame: str, lexicon: dict[str, list[str]], own: tuple[str, ...], others: tuple[str, ...], random: np.random.Generator
) -> str:
    """The frame with every place filled, from the inside out."""
    people = [f"{'我' if own is SELF_ZH else 'my '}{word}" for name in PEOPLE for word in lexicon[name]]
    while "{" in frame:
        end = frame.index("}")
        begin = frame.rindex("{", 0, end)
        name = str(random.choice(frame[begin + 1 : end].split("|")))
        if name in OBJECTS:
            name = str(random.choice([word for each in ZH[name] for word in lexicon[each]]))
        elif name in ("s", "o"):
            name = str(random.choice(own if name == "s" else others if random.random() < KNOWN else people))
        frame = frame[:begin] + name + frame[end + 1 :]
    return frame
