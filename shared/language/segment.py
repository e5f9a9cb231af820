"""Search terms of a text in both languages."""

import re
from collections.abc import Iterator

from shared.cache import of_texts
from shared.language import chinese, stopwords
from shared.language.normalise import fold, normalise
from shared.language.patterns import to_pattern

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
    return chinese.cut(text)


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
    return [word if word in stopwords.ENGLISH else stem(word) for word in _words(text)]


def query_terms(text: str, limit: int = 24) -> list[str]:
    """The distinct terms that carry the question, in order; none where it is all stop words."""
    seen: dict[str, None] = {}
    for word in _words(text):
        if word not in stopwords.ALL and (len(word) > 1 or not word.isascii() or word.isdigit()):
            seen.setdefault(stem(word))
            if len(seen) >= limit:
                break
    return list(seen)


def keywords(text: str, limit: int = 16) -> list[str]:
    """The distinct words that carry the text, as they are written but for case; whole words, not their parts."""
    seen: dict[str, str] = {}
    for run in _RUN.finditer(normalise(text)):
        words = chinese.cut(run.group()) if run.lastgroup == "han" else [run.group()]
        for word in words:
            plain = _APOSTROPHE.sub("", word).casefold()
            if plain not in stopwords.ALL and (len(plain) > 1 or not plain.isascii()):
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
    for word in chinese.cut_for_search(run):
        lone = word if len(word) == 1 and word not in stopwords.CHINESE else ""
        if previous and lone:
            yield previous + lone
        yield word
        if 1 < len(word) < 4:
            yield from _inside(word)
        previous = lone


@of_texts(16_384)
def _inside(word: str) -> tuple[str, ...]:
    """The terms inside a word of two or three characters that the dictionary does not cut further."""
    if len(word) == 3 and len(chinese.cut_for_search(word)) > 1:
        return ()
    pairs = (word[:2], word[1:]) if len(word) == 3 else ()
    joined = len(word) == 2 and word[0] in _PERSONS and word not in stopwords.CHINESE  # no word: 我住, 他演
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
