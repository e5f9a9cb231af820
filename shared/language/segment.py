"""The words of a text in both languages: its search terms, those that carry no topic, and whether it has a word.

Words without a topic, question words included, are left out of queries, never of documents. A word is there where it
stands by itself: `ham` is not in `hamburger`, 米 is not in 米粉. Chinese is cut by the dictionary of rjieba: 0.2 s and
33 MB, which are paid when the first of it is read.
"""

import re
from collections.abc import Iterator, Sequence

from shared.cache import of_texts
from shared.language.normalise import fold, normalise
from shared.language.patterns import to_pattern

_ENGLISH_STOPWORDS = """
a about above after again against ago all almost along already also although always am among an and another any anybody
anyone anything are aren arent around as ask asked at away back be because been before being below between both but by
came can cannot cant come comes coming could couldn couldnt d did didn didnt do does doesn doesnt doing don done dont
down during each either else enough etc even ever every everyone everything few for from further get gets getting give
given go goes going gone got had hadn hadnt has hasn hasnt have haven havent having he hed hell help her here heres hers
herself hes hey hi hello him himself his how hows however i id if ill im in into is isn isnt it itd itll its itself ive
just know known last least let lets like ll lot made make makes many may maybe me might mine more most much must my
myself need needs neither never next no nor not now of off ok okay on once one only onto or other others our ours
ourselves out over own per perhaps please quite rather re really s said same say says see seem seems shall shan she shed
shell shes should shouldn shouldnt since so some somebody someone something still such sure t take tell than thank
thanks that thatll thats the their theirs them themselves then there theres these they theyd theyll theyre theyve thing
things think this those though through thus to too toward towards try u under until up upon us use used ve very via want
wants was wasn wasnt way we wed well went were weren werent weve what whatever whats when whens where wheres whether
which while who whoever whom whos whose why whys will with within without wont would wouldn wouldnt y yes yet you
youd youll your youre yours yourself yourselves youve kind type sort ones did whats
"""

_CHINESE_STOPWORDS = """
的 地 得 了 着 过 吗 呢 吧 啊 呀 哦 噢 嗯 哈 嘛 啦 哇 唉 哎 喔 喂 么 之 其 其中 而 而且 与 和 跟 同 及 以及 或
或者 还是 还 也 都 就 就是 才 又 再 很 太 更 最 挺 非常 特别 十分 比较 有点 有些 一些 一点 一下 一个 一种 一样
这 那 这个 那个 这些 那些 这里 那里 这儿 那儿 这样 那样 这么 那么 这次 那次 此 该 各 每 某 另 另外 其他 其它
别的 是 不是 是不是 有 有没有 没有 没 不 别 无 非 在 于 从 自 到 向 往 对 对于 关于 把 被 让 给 为 为了 因为
所以 因此 但 但是 可是 不过 然而 如果 要是 假如 虽然 即使 只要 只有 只是 只 除了 以 按 按照 根据 通过 当 当时
时 时候 的时候 之前 之后 以前 以后 然后 接着 后来 现在 已经 正在 曾经 曾 刚 刚才 刚刚 一直 总是 经常 常常 可以
可 能 能够 能不能 可不可以 会 会不会 要 要不要 想 想要 应该 应 该不该 必须 需要 愿意 得到 我 你 您 他 她 它
我们 你们 他们 她们 它们 咱 咱们 自己 大家 人家 别人 谁 谁的 我的 你的 您的 他的 她的 它的 什么 什么样 什么时候
什么地方 啥 怎么 怎么样 怎样 怎么办 如何 为什么 为何 为啥 干嘛 哪 哪个 哪些 哪里 哪儿 哪家 哪种 哪位 哪天 几
几个 多少 多久 多大 多长 是否 有什么 请 请问 麻烦 帮 帮我 帮忙 告诉 告诉我 说 说说 说过 讲 讲讲 问 问问 问题
知道 觉得 认为 看 看看 来 去 去过 做 弄 搞 用 叫 叫做 称 记得 还记得 提到 提过 上 下 里 中 内 外 前 后 间 边 面
来着 而已 罢了 等 等等 例如 比如 个 位 种 些 件 次 回 点 份 条
这是 那是 都是 也是 还有 我是 你是 好 好的 行 嗯嗯 谢谢 您好 你好 几点 几号 几月
哪年 哪月 哪次 哪一个 哪一 有谁 是谁 吗啊 呗 咋 咋样 能否 可否 究竟 到底 一共 总共 大概 大约
"""

ENGLISH_STOPWORDS: frozenset[str] = frozenset(_ENGLISH_STOPWORDS.split())
CHINESE_STOPWORDS: frozenset[str] = frozenset(_CHINESE_STOPWORDS.split())
STOPWORDS: frozenset[str] = ENGLISH_STOPWORDS | CHINESE_STOPWORDS


def cut_words(text: str) -> list[str]:
    """The words of the text, in order and without a gap."""
    import rjieba

    return rjieba.cut(text)


def cut_for_search(text: str) -> list[str]:
    """The same, and the words inside long words."""
    import rjieba

    return rjieba.cut_for_search(text)


def tag_words(text: str) -> Sequence[tuple[str, str]]:
    """Each word with its part of speech as jieba names them: "nr" is a person, "ns" a place."""
    import rjieba

    return rjieba.tag(text)


SEGMENTER_VERSION = "4"
"""Stored with every indexed row, so that rows of another version can be told apart; nothing indexes them again yet."""

MAX_TERM_CHARS = 96

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_UNSPACED = "\u3040-\u30ff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTER = rf"[^\W{HAN}{_UNSPACED}]"
_RUN = to_pattern(
    rf"(?P<han>[{HAN}]+)|(?P<unspaced>[{_UNSPACED}]+)|(?P<word>{_LETTER}+(?:[.'’/@:&\-]+{_LETTER}+)*(?:\+\+|\#)?)"
)
_PERSONS = frozenset("我你您他她它咱")
_PART = to_pattern(r"[^\W_]+")
_CAMEL = to_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_JOINT = to_pattern(r"[_./@:&\-]")
_APOSTROPHE = to_pattern(r"['’](?:s\b)?")


_IRREGULAR = """
ate eat|eaten eat|bought buy|brought bring|built build|broke break|broken break|caught catch|chose choose|chosen choose
drank drink|drunk drink|drew draw|drawn draw|drove drive|driven drive|fallen fall|fell fall|felt feel|fed feed
flew fly|flown fly|forgot forget|forgotten forget|fought fight|found find|froze freeze|frozen freeze|grew grow
grown grow|heard hear|held hold|hid hide|hidden hide|kept keep|knew know|laid lay|led lead|left leave|lent lend
lost lose|meant mean|met meet|paid pay|ran run|rode ride|ridden ride|rang ring|rose rise|risen rise|sang sing|sung sing
sat sit|saw see|seen see|sold sell|sent send|shook shake|shaken shake|shot shoot|shown show|slept sleep|spoke speak
spoken speak|spent spend|stole steal|stolen steal|stood stand|struck strike|stuck stick|swam swim|swum swim|swept sweep
taught teach|threw throw|thrown throw|told tell|took take|taken take|understood understand|woke wake|wore wear|worn wear
won win|written write|wrote write|began begin|begun begin|became become|bitten bite|blew blow|blown blow|bent bend
dealt deal|dug dig|hung hang|sought seek|sank sink|slid slide|spun spin|swore swear|tore tear|torn tear
children child|people person|men man|women woman|feet foot|teeth tooth|mice mouse|geese goose|wives wife
knives knife|wolves wolf|shelves shelf|halves half|favourite favorite|colour color|neighbour neighbor
"""
LONE = frozenset(
    "茶酒饭菜肉鱼虾蟹鸡鸭鹅蛋奶糖盐醋汤粥饼药猫狗鸟马牛羊猪兔鼠虫花树草书画歌舞琴棋球车船房床灯伞鞋袜衣裤裙帽包钱卡票信笔刀窗楼店"
    "山河湖海岛雪雨爸妈哥姐弟妹爷舅姨姑叔娃腿脚腰眼牙胃肝肺脸喝吃跑游爬买卖读唱跳骑租修养疼痛烟墙锅碗杯鼓笛枪梦税债婚孕猴蛇龙"
)
"""What is a word by itself is also a term where it stands in a longer one: 茶 finds 喝茶 and 绿茶."""

_FORMS = [pair.split() for pair in re.split(r"[|\n]", _IRREGULAR) if pair]
IRREGULAR: dict[str, str] = {form: base for form, base in _FORMS}  # noqa: C416 # dict() of lists is not typed


def words(text: str) -> list[str]:
    """The words of a text in their order, Chinese cut apart."""
    return cut_words(text)


@of_texts(65_536)
def stem(word: str) -> str:
    """The English stem of a lower-case word, irregular forms included; anything else as it is."""
    word = IRREGULAR.get(word, word)
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    from snowballstemmer.english_stemmer import EnglishStemmer  # it loads the stemmers of all languages

    return str(EnglishStemmer().stemWord(word))  # pyright: ignore[reportUnknownMemberType,reportUnknownArgumentType] # untyped; stateful, so one per call


def terms(text: str) -> list[str]:
    """The search terms in document order, stop words included; the same for documents and queries."""
    return [word if word in ENGLISH_STOPWORDS else stem(word) for word in _words(text)]


def query_terms(text: str, limit: int = 24) -> list[str]:
    """The distinct terms that carry the question, in order; none where it is all stop words."""
    seen: dict[str, None] = {}
    for word in _words(text):
        if word not in STOPWORDS and (len(word) > 1 or not word.isascii() or word.isdigit()):
            seen.setdefault(stem(word))
            if len(seen) >= limit:
                break
    return list(seen)


def keywords(text: str, limit: int = 16) -> list[str]:
    """The distinct words that carry the text, as they are written but for case; whole words, not their parts."""
    seen: dict[str, str] = {}
    for run in _RUN.finditer(normalise(text)):
        words = cut_words(run.group()) if run.lastgroup == "han" else [run.group()]
        for word in words:
            plain = _APOSTROPHE.sub("", word).casefold()
            if plain not in STOPWORDS and (len(plain) > 1 or not plain.isascii()):
                seen.setdefault(plain, word)
    return list(seen.values())[:limit]


def _words(text: str) -> Iterator[str]:
    for run in _RUN.finditer(normalise(text)):
        match run.lastgroup:
            case "han":
                yield from _han(run.group())
            case "unspaced":
                yield from _pairs(run.group())
            case _:
                yield from _latin(run.group())


def _han(run: str) -> Iterator[str]:
    """Words in search mode, and the characters in them that are words; pairs where the dictionary has none."""
    previous = ""
    for word in cut_for_search(run):
        lone = word if len(word) == 1 and word not in CHINESE_STOPWORDS else ""
        if previous and lone:
            yield previous + lone
        yield word
        if 1 < len(word) < 4:
            yield from _inside(word)
        previous = lone


@of_texts(16_384)
def _inside(word: str) -> tuple[str, ...]:
    """The terms inside a word of two or three characters that the dictionary does not cut further."""
    if len(word) == 3 and len(cut_for_search(word)) > 1:
        return ()
    pairs = (word[:2], word[1:]) if len(word) == 3 else ()
    joined = len(word) == 2 and word[0] in _PERSONS and word not in CHINESE_STOPWORDS  # no word: 我住, 他演
    return (*pairs, *dict.fromkeys(each for each in word if each in LONE or (joined and each not in _PERSONS)))


def _pairs(run: str) -> Iterator[str]:
    if len(run) <= 2:
        yield run
        return
    for at in range(len(run) - 1):
        yield run[at : at + 2]


def _latin(run: str) -> Iterator[str]:
    plain = _APOSTROPHE.sub("", run)
    yield fold(plain)[:MAX_TERM_CHARS]
    if _JOINT.search(plain):
        for part in _PART.findall(run):
            yield from _latin(part)
    elif plain == run and run.isascii() and not (run.islower() or run.isupper() or run.istitle()):
        parts = _CAMEL.findall(run)
        yield from (part.lower() for part in parts if len(parts) > 1 and len(part) > 1)


_HAN_LETTER = re.compile(r"[\u3400-\u9fff]")
_WORD_LETTER = "[0-9a-z\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]"
"""A Latin letter or digit, folded."""
_ALONE = re.compile(r"(?<![A-Za-z0-9'’])[B-HJ-Zb-hj-z](?![A-Za-z0-9'’])")
_NAMED_A = re.compile(r"(?<=[a-z] )A(?![A-Za-z0-9'’])|(?<=[\u3400-\u9fff])[Aa](?![A-Za-z0-9])")


def has_word(text: str, word: str) -> bool:
    """Whether the word stands in the text, in the singular or the plural.

    One Chinese character stands there as a word of its own, or at the end of one: 绿茶 is a kind of 茶.
    """
    word = fold(word.strip())
    if len(word) == 1 and _HAN_LETTER.match(word):
        return any(each == word or (word in LONE and each.endswith(word)) for each in words(text))
    return bool(word) and _pattern(word).search(fold(text)) is not None


@of_texts(512)
def _pattern(word: str) -> re.Pattern[str]:
    before = rf"(?<!{_WORD_LETTER})" if re.match(_WORD_LETTER, word) else ""
    after = rf"(?:e?s)?(?!{_WORD_LETTER})" if re.search(rf"{_WORD_LETTER}$", word) else ""
    return re.compile(before + re.escape(word) + after)


def letters(text: str) -> frozenset[str]:
    """The letters that stand alone and name something: vitamin C, unit b; not the English words a and I."""
    return frozenset(found.lower() for found in _ALONE.findall(text)) | frozenset("a" for _ in _NAMED_A.findall(text))
