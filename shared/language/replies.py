"""Texts that state nothing: bare replies, thanks and greetings, and questions without a statement.

Words of assent, refusal and courtesy, and function words have no content; one other word makes them a statement. Both
languages.
"""

import re
from collections.abc import Iterator
from itertools import islice

from shared.cache import BoundedMemo, of_texts
from shared.language.patterns import to_pattern
from shared.language.segment import CHINESE_STOPWORDS, ENGLISH_STOPWORDS, cut_words, query_terms

LONGEST = 160
"""A longer text is no bare reply."""
IN_PHRASES = 4
"""The number of other words that phrases of courtesy may contain."""
_ASSENT = """
absolutely acknowledge acknowledged agree agreed aha ahh alright amazing aok apologies apologize appreciate
appreciated awesome aww brilliant bye certainly cheers clear confirm confirmed congrats congratulations cool copy
correct course definitely
exactly excellent excuse fair fantastic fine glad good goodbye gotcha grand great haha hah hahaha hehe hm hmm hmmm
hooray huh hurray indeed k kk kay keep lol lovely mhm mind mm mmm nah naw nice nope note noted np oh ohh okey okie
oki oops ooh perfect pleasure problem problems pardon remember remembered right roger rofl sense sorry sounds
splendid super superb thankful thx totally true ty u understand understood ugh uh uhhuh um welcome wonderful worries
worry wow yay yea yeah yep yikes yup yw anytime happily gladly surely willdo
"""
_LETTERS = frozenset("adikmnrstuy")
"""Single letters in such replies: I, a, k, y, n and what an apostrophe leaves of a word."""
_PHRASES = to_pattern(
    r"\bgood (?:morning|afternoon|evening|night|day)\b|\b(?:a|one) (?:moment|second|sec|minute|min)\b"
    r"|\b(?:happy|glad|delighted) to (?:help|hear(?: (?:it|that))?)\b|\bsounds? like a plan\b|\bno (?:big )?deal\b"
    r"|\b(?:have|enjoy) (?:a|your) (?:good|nice|great|lovely|wonderful)? ?(?:day|one|evening|night|weekend|trip|rest)\b"
    r"|\btake care\b|\bsee you(?: (?:soon|later|then|around))?\b|\btalk (?:soon|later)\b|\bfeel free\b|\bright away\b"
    r"|\bnot? (?:a )?problem\b|\bas you wish\b|\b(?:it|that) works(?: for me)?\b|\bon it\b"
    r"|[听看](?:起来|上去)"
)
_REPLIES = """
收到 明白 了解 清楚 懂 懂了 晓得 记住 记住了 记下 记下了 记好 记录 没问题 客气 不客气 别客气 不用谢 不谢 多谢 感谢
谢 谢啦 谢了 没事 没关系 不要紧 没错 当然 一定 肯定 必须 必须的 马上 立刻 立即 这就 随时 乐意 效劳 乐意效劳 为您效劳
为您服务 服务 荣幸 辛苦 辛苦了 抱歉 不好意思 对不起 稍等 稍候 等等 等一下 早上好 早安 早 晚安 下午好 晚上好 中午好
再见 拜拜 回见 回头见 明白了 哎呀 哇塞 真的 真 原来如此 原来 如此 好嘞 好滴 好哒 好呀 好啊 好吧 好了 嗯呐 不行 不用
不要 不可以 太好了 真好 很好 不错 挺好 棒 太棒了 厉害 赞 加油 同意 赞成 确认 完成 搞定 处理 安排 照办 遵命 执行 放心
恭喜 恭喜你 恭喜您 恭喜恭喜 祝贺 祝贺你 安心 办 有空 吩咐 乐于 高兴 为您 帮您 帮你 帮到 希望 能帮到你 能帮到您
可以的 行的 行吧 行呀 是啊 是呀 是吧 对的
对啊 对呀 对吧 没有了 没了 知道了 收到了 谢谢你 谢谢您 谢谢啦 好好 嘿 嗨 哈喽 欢迎 有需要 联系 没事儿 已 已经记录
会记住 我会 会
"""
_SINGLE = frozenset("嗯嘞对好是哈呵嘿嘻哦噢喔啊呀嘛呢啦吧吗的了行额呃诶欸咦哟唔哇")
"""Characters that are often repeated."""
_LATIN_WORDS = ENGLISH_STOPWORDS | frozenset(_ASSENT.split())
_HAN_WORDS = CHINESE_STOPWORDS | frozenset(_REPLIES.split())
_HAN_LETTERS = frozenset("".join(_HAN_WORDS)) | _SINGLE
FEW = 2
"""An answer that begins with assent and has at most this many content words introduces something, or repeats."""
MANY = 7
"""A question with this many content words states its subject."""
MANY_OF_SELF = 5
"""The same if the question is about something of the speaker's own."""
_ANY = to_pattern(r"[^\W_]")
_WORD = to_pattern(r"(?P<han>[\u3400-\u9fff]+)|(?P<latin>[a-z]+(?:['’][a-z]+)*)|(?P<other>[^\W_])")

_SENTENCE = to_pattern(r"[^.!?。！？\n]*[.!?。！？\n]+|[^.!?。！？\n]+$")
_CLAUSE = to_pattern(r"[^,，;；]*[,，;；]|[^,，;；]+$")
_OPENING = to_pattern(r"[,.!?，。！？~～;；\n]")
_ENDS_ASKING = to_pattern(r"[?？][\W_]{0,3}$|(?:吗|(?:什么|啥|哪|谁|怎么|多少|几)[^。！？!?]{0,20}呢)[\s。！!~～]*$")
_MAY_ASK = to_pattern(r"[?？吗呢]")
_MAY_WISH = to_pattern(r"hope|希望|但愿|祝", re.IGNORECASE)
_ONLY_AGREES = to_pattern(
    r"\b(?:isn't it|aren't (?:you|they|we)|don't (?:you|they)|right|huh|eh)\s*\?|(?:是吧|对吧|不是吗|对不对)\s*[?？]",
    re.IGNORECASE,
)
"""At the end of a statement: asks only for assent."""
_ASKS = to_pattern(
    r"^\W*(?:(?:so|and|but|or|ok|okay|well|yes|no|oh|hi|hey|hello|um|uh|also|then)\W+)*"
    r"(?:who|whom|whose|what|when|where|why|how|which|is|are|am|was|were|do|does|did|can|could|would|will|should|shall"
    r"|may|have|has|had|isn't|aren't|don't|doesn't|didn't|won't|can't)\b"
    r"|(?:吗|么|呢|吧)[\s，,]*$|什么|哪|谁|怎么|怎样|咋|啥|多少|几[个点号月岁位时天家]|多[久大长高远]"
    r"|是不是|有没有|能不能|可不可以|要不要|会不会|能否|是否|如何|为何",
    re.IGNORECASE,
)
"""A clause that is part of the question."""
_OF_SELF = to_pattern(r"(?<![们自])[我咱]|\b(?:i|my|mine|me|we|our|us)\b", re.IGNORECASE)
_WISHES = to_pattern(r"^\W*(?:\w+[,，!！]\s*)?(?:(?:i )?hope\b|hopefully\b|希望|但愿|祝)", re.IGNORECASE)
"""A wish of the assistant, which states nothing."""
_PARTICULAR = to_pattern(r"\d|(?<=[a-z,;:] )(?!I\b)[A-Z][a-z]")
"""A number or a name."""
_asserting: BoundedMemo[bool] = BoundedMemo()


@of_texts(8192)
def says_something(text: str) -> bool:
    """Whether a text has any content: False for blanks, punctuation, and bare replies."""
    bare = text.strip()
    if len(bare) > LONGEST:
        return bool(_ANY.search(bare))
    bare = bare.casefold()
    found = len(list(islice(_contents(bare), IN_PHRASES + 1)))
    # such words are no content in a phrase of courtesy; only short texts are read twice
    return found > IN_PHRASES or (found > 0 and next(_contents(_PHRASES.sub(" ", bare)), None) is not None)


def asserts_something(text: str, role: str | None = None) -> bool:
    """Whether a message states anything that an answer could use.

    False for bare replies, for questions without facts, and, of the assistant, for a line that agrees and introduces
    something ("Sure, here's a draft."). Text of tools and systems is data, and states it.
    """
    if role not in ("user", "assistant", None):
        return bool(_ANY.search(text))
    known = _asserting.get((text, role))
    return _asserting.put((text, role), _asserts(text, role)) if known is None else known


def _asserts(text: str, role: str | None) -> bool:
    stated, questions = _parts(text, role == "assistant")
    if says_something(stated) and not (role == "assistant" and _agrees(text) and _is_thin(stated)):
        return True
    terms = len(query_terms(questions, MANY))
    return terms >= MANY or (terms >= MANY_OF_SELF and role != "assistant" and bool(_OF_SELF.search(questions)))


def _parts(text: str, answers: bool) -> tuple[str, str]:
    """The statements of the text without bare replies, and its questions; of a question also the clauses that ask
    nothing.

    Wishes in `answers` state nothing.
    """
    if not (_MAY_ASK.search(text) or (answers and _MAY_WISH.search(text))):
        return text, ""
    stated: list[str] = []
    questions: list[str] = []
    for sentence in _SENTENCE.findall(text):
        if answers and _WISHES.search(sentence):
            continue
        if not _ENDS_ASKING.search(sentence) or _ONLY_AGREES.search(sentence):
            stated.append(sentence)
            continue
        *before, last = _CLAUSE.findall(sentence)
        for clause in before:
            (questions if _ASKS.search(clause) else stated).append(clause)
        questions.append(last)
    return " ".join(filter(says_something, stated)), " ".join(questions)


def _agrees(text: str) -> bool:
    """Whether the text begins with a bare reply and continues."""
    first, *rest = _OPENING.split(text, maxsplit=1)
    return bool(rest and _ANY.search(rest[0])) and not says_something(first)


def _is_thin(stated: str) -> bool:
    return len(query_terms(stated, FEW + 1)) <= FEW and not _PARTICULAR.search(stated)


def _contents(text: str) -> Iterator[str]:
    """The content words of the text, in order."""
    return (match.group() for match in _WORD.finditer(text) if _is_content(match.group(), match.lastgroup))


def _is_content(word: str, script: str | None) -> bool:
    match script:
        case "latin":
            plain = word.replace("'", "").replace("’", "")
            return plain not in _LETTERS if len(plain) == 1 else plain not in _LATIN_WORDS
        case "han":
            if not _HAN_LETTERS.issuperset(word):
                return True
            return any(each not in _HAN_WORDS and not _SINGLE.issuperset(each) for each in cut_words(word))
        case _:
            return True
