"""Finds habits: acts that a user mentions again and again in short messages, and the kinds of these acts.

No model is asked: words that say that something begins or is over are removed, and the rest of two messages is compared
by words and by static vectors.
"""

# ruff: noqa: E501, SIM905 - one family of words per line

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache

from shared.cache import of_texts
from shared.classifiers.static_encoder import Vector, load_static_encoder
from shared.extraction.clauses import CJK, language_of, split
from shared.extraction.guards import stances
from shared.extraction.guards_words import KIN_ZH
from shared.extraction.keys import slug
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.language.segment import list_synonyms, stem, terms

_WHEN_EN = (
    r"just|only just|finally|already|now|also|today|tonight|yesterday|this (?:morning|afternoon|evening|lunch(?:time)?)|last night"
    r"|and|so|ok(?:ay)?|alright|well|phew|yay|hey|hi|hello|good (?:morning|evening|afternoon)|morning|fyi|update|quick update"
)
LEAD_EN = to_pattern(rf"^(?:(?:{_WHEN_EN})\b[\s,:!.\-]*)+", re.I)
PART_EN = to_pattern(r"[,.!;:]+(?:\s+|$)|\s+[-–—]\s+|[\U0001F300-\U0001FAFF☀-➿️]+")
"""Separates the parts of a message, and matches signs without words."""
WORKOUT_EN = to_pattern(r"\bwork(?:ed|ing)?[ -]out\b", re.I)
_PAST = (
    "went ate drank ran swam rode fed took made met woke slept drove bought played walked hiked jogged biked cycled cooked baked"
    " cleaned washed vacuumed mopped watered picked dropped practiced practised studied trained lifted stretched meditated journaled"
    " journalled finished completed wrapped visited called phoned brewed watched showered commuted skied surfed rowed climbed danced"
    " boxed weeded gardened mowed folded ironed packed prepped shopped read wrote taught sang drew painted knitted sewed attended"
    " tidied hoovered swept sanded hit started grabbed poured sipped enjoyed worked"
)
_DOING = (
    "walking running jogging making cooking baking having eating drinking watching feeding cleaning practicing practising playing"
    " studying reading driving heading leaving starting watering meditating stretching training lifting swimming cycling biking hiking"
    " going brewing washing folding ironing shopping vacuuming mopping tidying journaling commuting climbing rowing surfing skiing"
    " dancing gardening mowing sipping grabbing finishing picking dropping taking doing working"
)
_HAD = (
    r"(?:had|got|getting|having) (?:(?:my|a|an|some|the|another|our) )?(?:\w+ ){0,2}?(?:breakfast|brunch|lunch|dinner|supper|coffee|tea|espresso|latte"
    r"|flat white|cappuccino|americano|beer|wine|snack|nap|shower|bath|swim|run|walk|massage|lesson|class|session|shot|jab|physio|therapy)\b"
)
_ABOUT = (
    r"back (?:from|in from|home from|after)|home from|in from|done with|finished with|through with|off to|off for|out for|out on"
    r"|out (?:running|walking|jogging|cycling|hiking)|on (?:my|the) way (?:to|back|home)|headed (?:to|out|off|for|home)|about to|up for|time for my|over at|at the|at my"
    r"|(?:got|came|come|been|get|getting|coming) back (?:from|home)|been (?:to|at|out|for|in|\w+ing)\b|did (?:my|some|the|a|an|another|our|\d+)|done my"
)
_ENDS = r"(?:(?:is|are|was|were|'s|all|now)\s+)*(?:done|finished|over|complete|completed)"
ACT_EN = to_pattern(
    rf"^(?:(?:I|we)(?:['’](?:m|ve|re))?\s+(?:have\s+|am\s+|are\s+|had\s+)?|am\s+|im\s+|ive\s+)?(?:(?:{_WHEN_EN})\s+)*"
    rf"(?:(?:{'|'.join(_PAST.split())})\b|(?:{_ABOUT})|{_HAD}|done workout)"
    rf"|^(?:(?:I|we)['’](?:m|re)\s+|(?:I am|we are|am|im)\s+)?(?:(?:{_WHEN_EN})\s+)*(?:{'|'.join(_DOING.split())})\b(?!.*\b(?:is|was|are|were|has|makes?|feels?)\b)"
    rf"|^(?!(?:it|that|this|these|all|well|everything|nothing|what|you|he|she|they|i|we|there)\b)(?:my |the |a )?[\w'’-]+(?: [\w'’-]+){{0,4}}?\s+{_ENDS}$",
    re.I,
)
NOT_EN = to_pattern(
    r"\b(?:not|never|no|none|nothing|without|skip(?:ped|ping)?|missed|miss|forgot|cancel\w*|you|your|yours|u|please|pls|he|she|they|his|their|him|them"
    r"|want|wanted|wanna|like|need|needed|would|could|should|can|may|might|maybe|if|think|thinking|guess|wonder\w*|hope|sorry|thanks|thank|thx"
    r"|idea|question|problem|error|bug|enough|going to (?:be|have|need|try|ask|say|find|get|see)|let|me|it|left with|going out of"
    r"|file|code|test|tests|build|tool|api|server|function|option|reservation|booking)\b|n['’]t\b|[?？]|https?:|@\w|[\[\]{}<>=`|\\]",
    re.I,
)
"""Words of questions, denials, wishes, of other people, and of the work done with the agent."""
TOLD_EN = to_pattern(r"^(?:did|had|have|done|been)\b(?! (?:you|i|we|they|he|she|it|any\w*)\b)", re.I)
"""Begins like a question but is a statement without its `I`."""
_FRAME_EN = (
    "i i'm im i've ive we we've we're am is are was were 's be been just only finally already now also again today tonight yesterday this"
    " morning afternoon evening night last lunchtime a an the my our some another more quick little short long nice good great first second"
    " third daily usual finish finished finishing done did do doing complete completed wrapped wrapping up over all with from back home for to at in on of off out"
    " went going go gone came come coming got get getting had having has have took taking made making heading headed head leaving left start started starting"
    " way about time and so ok okay well phew yay hey hi hello fyi update through hit grabbed grabbing enjoyed enjoying here there session round"
    " it one two three four five six seven eight nine ten min mins minutes minute hour hours km k mile miles cup cups glass"
)
FRAME_EN = frozenset(_FRAME_EN.split())
"""Words that say when, how much, or that an act begins, lasts or is over, but not which act."""
_WHEN_ZH = r"今天|今晚|今早|今儿|早上|上午|中午|下午|晚上|昨晚|昨天|傍晚|凌晨|一早|现在|刚刚才|刚刚|刚才|刚|才|已经|终于|又|也|还|正|先|都|就|总算|自己"
LEAD_ZH = to_pattern(
    r"^(?:(?:嗯+|哦+|啊+|哈+|嘿|呼|唉|嗨|早安?|早上好|大家好|你好|好啦?|ok|okay|汇报)[\s，,。.!！~～:：]+)+", re.I
)
OWN_ZH = to_pattern(r"(?:今天|今日|今早|今晚|每天|每日|我)的")
SIGNED_ZH = to_pattern(r"打卡[\s:：]+")
PART_ZH = to_pattern(r"[\s，,。.!！；;、~～…:：]+|[\U0001F300-\U0001FAFF☀-➿️]+")
TAIL_ZH = to_pattern(r"[哈嘿呀啊哦喔哟呢的]+$")
_DONE = r"[了啦咯喽嘞]"
_DOES = r"跑|喝|吃|做|洗|游|骑|遛|练|读|写|背|弹|煮|泡|冲|买|接(?![近受触着])|送|爬|听|睡|浇|喂|擦|扫|拖|跳|唱|收拾|打扫|锻炼|健身|冥想|拉伸|看(?!来)|打|晒|剪|修|取|溜"
_OF = r"[\u4e00-\u9fffA-Za-z0-9]"
ACT_ZH = to_pattern(
    rf"^(?:我们?|俺|咱们?|本人)?(?:{_WHEN_ZH})*(?:"
    rf"从?{_OF}{{1,14}}?(?:回来|到家|出来|结束|完成|打卡|搞定|收工|完毕){_DONE}?"
    rf"|{_OF}{{1,12}}?完{_DONE}"
    rf"|(?:做|煮|收拾|洗|写|练|画|泡|炒|打扫|整理){_OF}{{0,6}}?好{_DONE}"
    rf"|{_OF}{{1,10}}?去{_DONE}"
    rf"|(?:出门|出发|下楼|准备|正要|要|正在|在|马上|这就|赶着)*去{_OF}{{1,12}}?{_DONE}"
    rf"|(?:出门|出发|下楼|准备|正要|正在|马上|这就|赶着)去?{_OF}{{2,10}}?{_DONE}?"
    rf"|在(?:{_DOES}){_OF}{{1,8}}?"
    rf"|开始(?:{_DOES}){_OF}{{0,6}}?{_DONE}?"
    rf"|[加上下教录排]完{_OF}{{1,8}}?{_DONE}?"
    rf"|(?:{_DOES})[了完过]{_OF}{{1,12}}?{_DONE}?"
    rf"|(?:{_DOES}){_OF}{{1,8}}?{_DONE}"
    rf"|打卡{_OF}{{2,10}}"
    rf"|[上下]班{_DONE}"
    rf")$"
    rf"|^(?:我|俺|本人)?(?:{_WHEN_ZH})*刚刚?(?!好|需|性|强|毅|开始|说|问|才){_OF}{{2,12}}$"
)
OTHERS_ZH = to_pattern(rf"^(?:我|我家|俺)?(?:的)?{KIN_ZH}")
NOT_ZH = to_pattern(
    r"[\[\]{}<>=`|你您他她它谁哪吗么嘛?？不没别请帮这那]|(?<!冥)想|什么|怎么|为啥|多少|几点|有没有|能不能|可以|希望|喜欢|觉得|感觉|认为|知道|明白|懂|谢|好的|如果|要是|应该|可能|也许|一下|一定|吧$|让我|给我"
    r"|错|打扰|够|饱|腻|清楚|忘|看到|看见|听到|听说|算|对了|太|很|问题|推荐|介绍|评分|地址|电话|价格|门票|营业|酒店|景点|餐馆|饭店|多久|远|名字|叫做|所以|但是|不过|因为|文件|代码|报错|接口"
)
FRAME_ZH = to_pattern(
    rf"^(?:我们?|俺|咱们?|本人)|{_WHEN_ZH}|[了过](?:杯|碗|瓶|个|份|点|些|场|节|本|部|次|趟|圈|顿|会儿)|完毕|完(?!全|美|整|善|成)|回来|到家|出来|结束|完成|打卡|搞定|收工"
    r"|开始|出门|出发|下楼|准备|正要|正在|马上|这就|赶着|去|[了啦咯喽嘞过]|好$|^[要从在]|(?<=^我)[要从在]"
    r"|第?[\d一二三两四五六七八九十几半多]+(?:杯|个|公里|千米|米|圈|次|分钟|小时|组|页|碗|瓶|顿|场|节|趟|套|遍|km|KM|k|K)"
)
"""Says when, how much, or that an act begins, lasts or is over, but not which act."""
LIGHT = frozenset(
    "喝 吃 买 卖 做 看 打 洗 读 写 听 接 送 养 修 取 拿 租 play watch read make pick take drop meet call feed walk drink eat buy cook clean wash visit".split()
)
"""Verbs that name no act without their object."""
ACTING = frozenset("跑游爬骑跳唱")
"""Verbs that name an act with or without an object."""


DETECTOR = "habits"
"""The detector of the observation of a habit."""
PREFIX = "pattern:habit:"
MOST_WORDS, MOST_LETTERS, MOST_CHARS = 12, 24, 100
"""The length limits of a message with an act: in words, in Chinese letters, in characters."""
PARTS = 2
"""A message may have so many parts, one of which is the act."""
ONE_OF_OTHER, EACH_OWN = 0.6, 0.85
"""The least cosines of the same act: if one has no words of its own, and if each has some."""
DAYS_LEAST = 3
"""A habit is mentioned on at least so many days: what is mentioned often in two days is an errand."""
COUNTED = (8, 16, 32)
"""After so many sessions a habit is stated again with its count."""
_WORD = re.compile(r"[\w'’-]+")


@dataclass(frozen=True, slots=True)
class Act:
    """A message that mentions an act: its text, the words of the act, and their terms."""

    text: str
    core: str
    terms: tuple[str, ...]

    @property
    def sought(self) -> tuple[str, ...]:
        """Terms for searching other messages with the same act, the likeliest first."""
        letters = CJK.findall(self.core)
        return tuple(dict.fromkeys([*self.terms, *list_synonyms(self.terms), *letters]))


@dataclass(frozen=True, slots=True)
class HabitMention:
    """A mention of an act in a session; `key` and `times` are those of the habit that followed from it."""

    act: Act
    session_id: str
    at: datetime
    key: str | None = None
    times: int = 0


@dataclass(frozen=True, slots=True)
class Habit:
    """A habit: its key, the number of sessions that mention it, and since when."""

    key: str
    times: int
    since: date


@dataclass(frozen=True, slots=True)
class HabitVerdict:
    """The result of a mention: a habit to state, and whether the act is already known as a habit."""

    habit: Habit | None = None
    known: bool = False


@of_texts(4096)
def find_act(text: str) -> Act | None:
    """The act in a short message; None if it asks, orders, greets, denies, or is about somebody else."""
    text = text.strip()
    if not text or len(text) > MOST_CHARS or "\n" in text:
        return None
    core = _cut_chinese_core(text) if language_of(text) == "zh" else _cut_english_core(text)
    terms = tuple(segment.query_terms(core)) if core else ()
    return Act(text, core, terms) if terms and _is_stated(text) else None


def _cut_english_core(text: str) -> str:
    if len(text.split()) > MOST_WORDS or NOT_EN.search(text):
        return ""
    for part in _split_parts(PART_EN, LEAD_EN.sub("", text)):
        bare = WORKOUT_EN.sub("done workout", LEAD_EN.sub("", part))
        said = _WORD.findall(bare) if ACT_EN.search(bare) else ()
        if core := " ".join(word for word in said if word.lower() not in FRAME_EN and not word.isdigit()):
            return core
    return ""


def _cut_chinese_core(text: str) -> str:
    if len(CJK.findall(text)) > MOST_LETTERS or NOT_ZH.search(text):
        return ""
    text = SIGNED_ZH.sub("打卡", LEAD_ZH.sub("", text))
    for part in _split_parts(PART_ZH, text):
        bare = TAIL_ZH.sub("", OWN_ZH.sub("", part))
        if "的" in bare or OTHERS_ZH.match(bare) or not ACT_ZH.search(bare):
            continue
        if core := FRAME_ZH.sub("", bare):
            return core
    return ""


def _split_parts(between: re.Pattern[str], text: str) -> list[str]:
    """The parts of a message; none if there are too many."""
    parts = [part.strip() for part in between.split(text) if part and part.strip()]
    return parts if len(parts) <= PARTS else []


def _is_stated(text: str) -> bool:
    """Whether the speaker states the text about themselves, without asking or supposing."""
    bare = LEAD_EN.sub("", text)
    clauses = split(f"I {bare}" if TOLD_EN.match(bare) else text)
    return all(stance.stands and stance.subject not in ("other", "agent") for stance in stances(clauses))


def is_same_act(one: Act, other: Act) -> bool:
    """Whether both are the same act: they share a word of the act and have nearly the same meaning."""
    if one.core.lower() == other.core.lower():
        return True
    shared = set(one.terms) & set(other.terms)
    alike_one = shared | set(one.terms) & set(list_synonyms(other.terms))
    alike_other = shared | set(other.terms) & set(list_synonyms(one.terms))
    if not alike_one and not alike_other:
        return False
    own, own_other = list_unmatched(one.terms, alike_one, shared), list_unmatched(other.terms, alike_other, shared)
    if (own or own_other) and not (alike_one | alike_other) - LIGHT:
        return False
    if len(own) > max(len(alike_one), 1) or len(own_other) > max(len(alike_other), 1):
        return False
    least = EACH_OWN if own and own_other and shared else ONE_OF_OTHER
    return float(_embed(one.core) @ _embed(other.core)) >= least


def tell_same(one: str, other: str) -> bool:
    """Whether both texts are short messages about the same act."""
    first, second = find_act(one), find_act(other)
    return first is not None and second is not None and is_same_act(first, second)


def list_unmatched(terms: Sequence[str], alike: set[str], shared: set[str]) -> list[str]:
    """The terms that neither a synonym nor a shared verb of the other text covers: 跑步 covers 晨跑."""
    acting = shared & ACTING
    return [each for each in terms if each not in alike and not any(verb in each for verb in acting)]


@of_texts(4096)
def _embed(core: str) -> Vector:
    return load_static_encoder().encode(core)


def judge_habit(now: HabitMention, earlier: Sequence[HabitMention], sessions_least: int) -> HabitVerdict:
    """The verdict on the mention and the earlier ones: a new habit, a known one with a new count, or nothing.

    The key of a habit has words that all its versions say: with what is erased of the earlier ones goes nothing that a
    later one does not say itself. A telling in other words makes no version; the next one may.
    """
    same = [each for each in earlier if is_same_act(each.act, now.act)]
    habits = [each for each in earlier if each.key and _belongs(each, now, same)]
    sessions = {now.session_id, *(each.session_id for each in same)}
    days = {now.at.date(), *(each.at.date() for each in same)}
    if not habits:
        if len(sessions) < sessions_least or len(days) < DAYS_LEAST:
            return HabitVerdict()
        return HabitVerdict(Habit(_make_key(now.act, same), len(sessions), min(days)), known=True)
    latest = max(habits, key=lambda each: (each.times, each.at))
    due = next((count for count in COUNTED if count > latest.times), None)
    if due is None or len(sessions) < due or latest.key is None or not _has_words_of(now.act, latest.key):
        return HabitVerdict(known=True)
    return HabitVerdict(Habit(latest.key, len(sessions), min(days)), known=True)


def _belongs(habit: HabitMention, now: HabitMention, same: Sequence[HabitMention]) -> bool:
    return is_same_act(habit.act, now.act) or any(is_same_act(habit.act, each.act) for each in same)


def _make_key(act: Act, same: Sequence[HabitMention]) -> str:
    """The key of the words of the act that at least half of the mentions have."""
    said = segment.keywords(act.core) or [act.core]
    common = [word for word in said if 2 * sum(segment.stem(word) in each.act.terms for each in same) >= len(same)]
    return PREFIX + slug(" ".join(common or said))


def _has_words_of(act: Act, key: str) -> bool:
    """Whether the act has every word of the key."""
    return {segment.stem(word) for word in key.removeprefix(PREFIX).split("-")} <= set(act.terms)


_KINDS = {
    ("exercise workout sport fitness", "锻炼 运动 健身"): (
        "run jog gym workout swim yoga pilates bike cycle cycling spin hike climb bouldering row ski skate surf boxing crossfit treadmill lift"
        " weights stretch marathon tennis badminton basketball football soccer golf squash dance zumba lap trail"
        " 跑步 跑 晨跑 夜跑 慢跑 健身 健身房 游泳 游 瑜伽 普拉提 骑车 骑行 爬山 登山 徒步 跳绳 跳操 打球 篮球 足球 羽毛球 乒乓球 网球 撸铁 举铁 拉伸 太极 广场舞 散步 快走"
    ),
    ("drink beverage", "喝 饮料"): (
        "coffee latte espresso cappuccino americano white mocha tea matcha juice smoothie beer wine milk"
        " 咖啡 茶 奶茶 喝茶 喝咖啡 果汁 啤酒 红酒 牛奶 豆浆 拿铁 美式"
    ),
    ("eat meal food", "吃 饭"): "breakfast lunch dinner supper brunch snack 早饭 早餐 午饭 午餐 晚饭 晚餐 夜宵 吃饭",
    ("pet", "宠物"): "dog cat puppy kitten litter hamster 狗 遛狗 猫 喂猫 铲屎",
    ("family child children", "家人 孩子"): (
        "kid child son daughter school nursery daycare baby 娃 接娃 送娃 孩子 放学 上学 儿子 女儿 宝宝"
    ),
    ("housework chores home", "家务"): (
        "laundry dish vacuum mop clean iron tidy cook garden lawn plant trash 洗碗 洗衣服 扫地 拖地 做饭 打扫 收拾 浇花 倒垃圾 买菜"
    ),
    ("hobby practice leisure", "爱好 兴趣"): (
        "piano guitar violin cello drum sing paint draw knit sew chess read novel game movie film series podcast journal"
        " 钢琴 吉他 练琴 弹琴 画画 书法 看书 读书 电影 看电影 追剧 游戏 写日记 唱歌 下棋"
    ),
    ("work commute office", "工作 上班 通勤"): "work office commute shift standup 上班 下班 通勤 加班 打卡 开会",
    ("rest sleep health", "休息 健康"): (
        "nap sleep meditate meditation massage physio therapy medicine pill vitamin 午睡 睡觉 冥想 按摩 吃药 泡脚"
    ),
}


@cache
def _kinds_by_term() -> dict[str, tuple[str, str]]:
    """The kind of each term, computed once."""
    return {stem(word): kind for kind, words in _KINDS.items() for word in words.split()}


def list_kinds(text: str) -> str:
    """The words of questions about such habits, in both languages; empty if no term has a kind."""
    act = find_act(text)
    said = [*terms(text), *(act.terms if act else ())]
    found = dict.fromkeys(kind for term in said if (kind := _kinds_by_term().get(term)))
    return " ".join(f"{english} {chinese}" for english, chinese in found)
