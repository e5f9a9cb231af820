"""Finds what the user retracts (`just kidding`, 当我没说), plans that failed, and requests to forget something.

Each form of a retraction matches a whole clause or sentence, so speaking of a joke or of cancelling retracts nothing.
`tests/training/forgetting.py` fits the weights for requests to forget; `shared.resolution.forgetting` finds what they
mean among the memories.
"""

# ruff: noqa: E501, SIM905 - one family of words per line

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from shared.cache import BoundedMemo, of_texts
from shared.classifiers.judges import load_text_sum
from shared.extraction.clauses import blank
from shared.language.patterns import to_pattern

Why = Literal["joke", "deleted", "withdrawn", "fell_through"]
FORGOTTEN: frozenset[Why] = frozenset({"joke", "deleted"})
"""Retractions of what was never true or shall be gone: answers about the past leave it out."""
DETECTOR = "retraction"
PLAN = "plan"
"""Marks the retraction of a plan, which ends no memory of another type."""
READ = 2000
LONGEST = 80
"""A longer sentence is not only a retraction."""

_SIGNS = (
    *"kidding joking jk j/k messing joke scratch strike delete erase ignore disregard forget mind pretend cancel".split(),
    *("your leg", "take that", "take it", "take back", "second thought", "actually", " through", "called off"),
    *("work out", "worked out", "the table", "not happening"),
    *"玩笑 逗你 逗您 骗你 骗您 瞎说 胡说 瞎编 没说 没讲 不算 作废 收回 撤回 删 算了 主意 别当真 黄了 泡汤".split(),
    *"吹了 取消 没成 没戏 作罢 不成了 忽略 别记".split(),
)
"""A text without any of these retracts nothing."""
_LEAD = (
    r"(?:(?:oh|ha(?:ha)*|lol|ok(?:ay)?|sorry|wait|no|nah|actually|hmm+|well|and|but|hey|oops|whoops|ugh|please|just|so|btw"
    r"|哈+|嘿嘿|呵呵|好吧|哎呀?|唉|哦|啊|嗯|额|呃|行吧|对不起|抱歉|不好意思|那个|那|嗨)[,，.。!！~\s]*)*"
)
_TAIL = r"[\s~～啦哈呀哦噢嘛呢吧了的]*(?:,? (?:sorry|lol|haha|please|ok(?:ay)?|thanks?))*[\s\W]*"
_JOKE = (
    r"(?:(?:i(?:'m| am| was|’m)|we(?:'re| are| were)) )?(?:just |only |totally )*(?:kidding|joking)(?: around| about that)?|j/?k"
    r"|(?:(?:i(?:'m| am| was|’m)) )?(?:just |only )*(?:messing with you|pulling your leg|teasing(?: you)?)|that (?:was|is|'s) (?:just )?a joke"
    r"|(?:我)?(?:就是|只是|是)?(?:跟|和|在)?(?:你|您|大家)?开(?:个|了个)?玩笑(?:而已|罢了)?|(?:我)?(?:是)?(?:逗|骗)(?:你|您)(?:玩儿?)?|(?:我)?(?:瞎|胡)(?:说|编)|别当真"
)
_DELETED = (
    r"(?:please |can you |could you )?(?:scratch|strike|delete|erase|disregard) (?:that|this|what i(?:'ve| have)? (?:just )?said|my last (?:message|sentence|line)|that last (?:bit|part|message|line))"
    r"|(?:ignore|forget) (?:what i(?:'ve| have)? (?:just )?said|that i said (?:that|anything)|my last message|i said (?:that|anything)|i (?:ever )?mentioned (?:it|that))"
    r"|i take (?:that|it) back|i take back what i(?:'ve| have)? (?:just )?said|pretend i (?:didn'?t|never) (?:say|said) (?:that|anything)"
    r"|(?:就)?当我(?:什么都)?没(?:说|讲)过?|(?:我)?收回(?:刚才|刚刚|上面)?(?:的|那|这)?(?:句)?话|(?:刚才|刚刚|上面|前面)(?:那|这|说的那)(?:句|条)(?:话)?(?:不算|作废|收回|撤回|删(?:掉|了)|别记|忽略)"
    r"|(?:请|帮我)?(?:把)?(?:刚才|刚刚|上面|前面)?(?:那|这)(?:句|条)(?:话)?(?:删(?:掉|了)|撤回|忽略)|(?:请|帮我)?删掉(?:刚才|刚刚|上面)?(?:那|这)(?:句|条)(?:话)?"
)
_WITHDRAWN = (
    r"(?:never ?mind|on second thoughts?|actually|scratch that|forget it)[,. ]+(?:i|we)(?:'m|'re|’m|’re| am| are|'ve| have)? (?:not (?:going|doing|coming|buying|getting|signing up|joining|moving|taking)\b.{0,30}|(?:won'?t|no longer)\b.{0,30}|changed (?:my|our) minds?)"
    r"|(?:i|we)(?:'ve| have)? (?:just )?changed (?:my|our) minds?(?: about (?:that|it))?"
    r"|算了[，, ]*(?:我|我们)?(?:还是)?(?:都|就)?(?:不|别)(?:想)?(?:去|买|做|学|养|换|搬|报|吃|喝|用|要|玩|看|来|参加|考|定|订|养|租)\w{0,6}|(?:我)?(?:又)?改(?:变)?主意"
)
_GONE_EN = r"(?:(?:has |have |had |just |all |sadly |unfortunately )*(?:fell|fallen) through|(?:(?:was|were|is|are|got|has been|have been|'s|'re)(?: just| all)? )(?:called off|cancell?ed|off the table|not happening(?: any ?more| after all)?)|(?:did|has|have)n'?t work(?:ed)? out)"
_GONE_ZH = (
    r"(?:最后|最终|又|都|全|还是|突然|已经|估计)*(?:黄了|泡汤了|告吹了?|吹了|取消了|没成|没戏了|作罢了?|去不成了)"
)
_FELL = to_pattern(
    rf"{_LEAD}(?:(?P<en>(?:(?:the|my|our|that|this) )?[\w' -]{{1,40}}?) {_GONE_EN}|(?P<zh>[^\s，,。我]{{0,2}}[^，,。]{{1,16}}?){_GONE_ZH}){_TAIL}",
    re.IGNORECASE,
)
_PRONOUN = to_pattern(r"(?:it|that|this|everything|all|things?|那(?:个|事)?|这(?:个|事)?|事情?|它)", re.IGNORECASE)
_ARTICLE = to_pattern(r"^(?:the|my|our|that|this|我的?|我们的?|那个?|这个?)\s*", re.IGNORECASE)
_CLAUSES: tuple[tuple[Why, re.Pattern[str]], ...] = (
    ("joke", to_pattern(rf"{_LEAD}(?:{_JOKE}){_TAIL}", re.IGNORECASE)),
    ("deleted", to_pattern(rf"{_LEAD}(?:{_DELETED}){_TAIL}", re.IGNORECASE)),
    ("withdrawn", to_pattern(rf"{_LEAD}(?:{_WITHDRAWN}){_TAIL}", re.IGNORECASE)),
)
_SENTENCES: tuple[tuple[Why, re.Pattern[str]], ...] = (
    ("withdrawn", to_pattern(rf"{_LEAD}(?:{_WITHDRAWN}){_TAIL}", re.IGNORECASE)),
)
_OPENS = to_pattern(
    rf"{_LEAD}(?:(?:跟|和|在)?[你您大家]*开(?:个|了个)玩笑[,，]|(?:瞎|胡)(?:说|编)|别当真)", re.IGNORECASE
)
"""Forms that announce a joke or answer one if something follows: 跟你开个玩笑, 胡说."""
SENTENCE = to_pattern(r"[^。！？!?\n；;.]+(?:\.(?!\s|$)[^。！？!?\n；;.]*)*[。！？!?\n；;.]*")
_PART = to_pattern(r"[^,，—]+[,，—]*")


@dataclass(frozen=True, slots=True)
class Retraction:
    """The place of a retraction, and what it retracts: words of the same message, or the message before (`taken` None).

    `thing` names the plan that failed, wherever it was stated.
    """

    why: Why
    start: int
    end: int
    taken: tuple[int, int] | None = None
    thing: str | None = None

    @property
    def takes_before(self) -> bool:
        """Whether it retracts what the user said in the message before."""
        return self.taken is None and self.thing is None


def find_retractions(text: str) -> tuple[Retraction, ...]:
    """The retractions of the message in their order."""
    if len(text) > READ:
        return ()
    low = text.lower()
    if not any(sign in low for sign in _SIGNS):
        return ()
    return tuple(_list_retractions(text))


def _list_retractions(text: str) -> Iterator[Retraction]:
    before: tuple[int, int] | None = None
    for sentence in SENTENCE.finditer(text):
        span = sentence.span()
        found = None if sentence[0].rstrip().endswith(("?", "？")) else _read_sentence(sentence[0], span, before)
        if found:
            yield found
        elif sentence[0].strip():
            before = span


def _read_sentence(sentence: str, span: tuple[int, int], before: tuple[int, int] | None) -> Retraction | None:
    if len(sentence) <= LONGEST:
        for why, form in _SENTENCES:
            if form.fullmatch(sentence.strip()):
                return Retraction(why, *span, before)
        fell = _FELL.fullmatch(sentence.strip())
        if not fell and (why_so := _FELL.fullmatch(_cut_first_clause(sentence))) and _names_thing(why_so):
            fell = why_so  # the reason follows: of what it names only
        if fell:
            thing, known = _name_thing(fell), _names_thing(fell)
            return Retraction("fell_through", *span, None if known else before, thing if known else None)
    parts = [each.span() for each in _PART.finditer(sentence) if each[0].strip()]
    for at, (start, end) in enumerate(parts):
        if at not in (0, len(parts) - 1):
            continue
        for why, form in _CLAUSES:
            if form.fullmatch(sentence[start:end].strip()):
                if why == "joke" and not at and not before and len(parts) > 1 and _OPENS.match(sentence):
                    continue  # what comes after it is the joke, or of somebody else
                own = (span[0], span[0] + start) if at else before
                return Retraction(why, span[0] + start, span[0] + end, own)
    return None


def _cut_first_clause(sentence: str) -> str:
    part = _PART.match(sentence.strip())
    return part[0].rstrip(" ,，—") if part else ""


def _name_thing(fell: re.Match[str]) -> str:
    return _ARTICLE.sub("", (fell["en"] or fell["zh"]).strip())


def _names_thing(fell: re.Match[str]) -> bool:
    thing = _name_thing(fell)
    return bool(thing) and not _PRONOUN.fullmatch(thing)


_taken: BoundedMemo[tuple[tuple[int, int], ...]] = BoundedMemo()


def find_taken_back(text: str) -> tuple[tuple[int, int], ...]:
    """The spans of the message that it retracts itself; the whole message if it only retracts."""
    known = _taken.get(text)
    return _taken.put(text, _find_taken(text)) if known is None else known


def _find_taken(text: str) -> tuple[tuple[int, int], ...]:
    found = find_retractions(text)
    spans = tuple(each.taken for each in found if each.taken)
    alone = tuple((each.start, each.end) for each in found if each.takes_before and not text[each.end :].strip())
    return spans or (alone if len(found) == 1 else ())


def find_last_sentence(text: str) -> tuple[int, int]:
    """The span of the last sentence of a message, which the next message may retract."""
    return next((each.span() for each in reversed(list(SENTENCE.finditer(text))) if each[0].strip()), (0, len(text)))


ASKS = 0.5
"""The least likelihood of a request to forget."""
ASKING = ("removes", "not_kept", "gone")
"""Every request has one of these forms."""
SHORTEST_REQUEST, LONGEST_REQUEST = 2, 300
"""A sentence with fewer or more characters is no request to forget."""
REMOVING = (
    r"forget|unlearn|delete|erase|expunge|wipe|remove|redact|purge|scrub|strike|scrap|discard|drop|dump|bin|ditch|lose|clear|flush|shred|trash|toss|chuck|burn|zap|nuke|void|blank|destroy|scratch|ignore|disregard|retract"
    r"|un-?(?:learn|say|save|remember|know|hear|see)|get (?:rid|shot)|let go|rub out"
)
"""English verbs of requests to forget."""
_REMOVE = rf"(?:{REMOVING}|throw (?:\w+ )?(?:away|out)|take .{{1,40}}\b(?:out|off))"
_REMOVE_ZH = r"(?:[删刪抹擦清忘毁毀撤扔剔弃棄]|[划劃去拿掐拔洗丢丟抠消掼]掉|[掐烧燒扬揚]了|移除|消除|作废|作廢|收回|勾[销銷]|抠出|丢喽|销毁|銷毀)"
_FORMS = {
    name: to_pattern(form, re.I)
    for name, form in {
        "removes": rf"\b{_REMOVE}\b|{_REMOVE_ZH}",
        "begins_so": rf"^[\W\d_]*(?:(?:please|pls|plz|ok|okay|oh|so|and|but|now|can you|could you|would you|will you|kindly|just|actually|hey|um|omg|sorry|请|請|[麻劳勞][烦煩]你?|那|你|帮我|幫我|给我|給我|求你|快)[\s,，]*)*(?:{_REMOVE}|let|leave|don'?t|do not|never|{_REMOVE_ZH}|[别別勿莫把])",
        "not_kept": r"\b(?:don'?t|do not|(?<!'m )(?<!not )not|never|needn'?t|shouldn'?t|rather)\b.{0,30}\b(?:keep|kept|retain|remain|stor|sav|remember|hold|hang|record|not(?:e|ed)|writ|memor|trace)|\b(?:not have|no longer ha|not know|no trace|no record)"
        r"|(?:[别別不莫勿甭]|唔好)\S{0,6}(?:[记記存留写寫提知晓]|持有)|[当當]\S{0,3}[没沒]\S{0,2}[听聽说說讲講有]|(?:别|別|不[能想要])\S{0,4}(?:再有|[放搁]|有印象)",
        "of_memory": r"\b(?:your|you)\b.{0,20}\b(?:memory|notes?|records?|head|mind|brain|know|hold|heard|have|got|side|store)\b|\b(?:memory|on file|stored|on record|trace|kept nowhere|from you|you (?:no longer )?(?:have|had))\b|记忆|記憶|记录|記錄|脑|腦|你那|你这边|你那边|存档|入档|入檔",
        "of_what_was_said": r"\b(?:what|that|everything|anything|whatever|the (?:bit|part|thing|stuff)|bit) (?:i|we)?\b.{0,20}\b(?:told|said|mentioned|typed|wrote|shared|about|gave|moaned|blurted)\b|[说說讲講提]过?的|[说說][漏错錯]|那[句条條段个個事茬档些点]|这[条條句事段]|的事|刚才|剛才|昨[天晚]",
        "forgot_itself": r"\b(?:i|she|he|they|we)(?:'ve|'d|'ll)?(?: \w+)? (?:forg[eo]t|delet|remov|eras|wip|lost|dropp|keep|kept|remember|take|took)|[我他她]\S{0,3}(?:忘|删|清|丢)|忘了[说說跟告]|老忘|忘记了|别忘|別忘|don'?t forget|never forget",
        "of_somebody": r"^\W*(?:\w+, )?(?:i|we|it|they|he|she)\b(?! (?:want|wish|need|would rather|ask|withdraw|told|said|gave))|^(?:我|我们|他|她)(?!(?:想要?|要|希望|求|不想|刚))",
        "forget_that_i": r"^\W*(?:(?:please|ok|okay|just|can you|could you)[\s,]+)*(?:forget|unlearn|stop remembering)\b(?:(?: about)?(?: the fact)?(?: that)?(?: i said)? (?:i|we)| (?:about|that) (?:my|our))\b(?!.*[?]$)|^(?:你就|[请請就那好的吧，, ])*(?:忘掉|忘记|忘了|忘記|[别別]再?[记記]得?)我",
        "gone": r"\b(?:gone|vanish|evaporate|go away|no longer|never was|never (?:heard|said|existed))\b|(?:蒸[发發]|咽|烂|爛).{0,4}|一个字都没有|耳旁风|右耳",
        "asks": r"[?？]\s*$|吗|嗎|怎么|怎麼|\bhow\b",
        "of_a_work": r"\b(?:paragraph|sentence|line|column|row|import|function|file|code|word|intro|image|photo|app|email|list|branch|comma|section|slide|chapter|commit|table)\b|[段行列页頁]|文件|代码|函数|照片|邮件|清单|合同|标题|单词|图",
        "keeps": r"\b(?:keep|retain|remember|store|save|note|hold on to)\b|[记記存留][着著住下得]|[要得可]留",
    }.items()
}
_FORGETTING_SIGNS = (
    *"forget unlearn delet eras expung wipe remov redact purg scrub strik scrap discard drop dump bin ditch lose".split(),
    *"clear flush shred trash toss chuck burn zap nuke void blank destroy scratch ignor disregard retract".split(),
    *(
        "unsay",
        "unsave",
        "unrem",
        "unkn",
        "unhear",
        "unsee",
        "un-",
        "get rid",
        "get shot",
        "let go",
        "rub out",
        "throw",
        "take ",
    ),
    *"keep kept retain remain stor sav rememb hold hang record note writ memor trace".split(),
    *("not have", "no longer", "not know", "gone", "vanish", "evaporate", "go away", "never "),
    *"删刪抹擦清忘毁毀撤扔剔弃棄掉掐烧燒扬揚消作收勾抠丢移销銷记記存留写寫提知晓持没沒放搁印蒸咽烂爛耳",
)
"""A sentence without any of these is no request to forget."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The place of a sentence that asks to forget something."""

    start: int
    end: int


@of_texts(1024)
def find_requests_to_forget(text: str) -> tuple[Forgotten, ...]:
    """The sentences of the text that ask to forget something, in their order.

    Quoted text asks for nothing. A sentence that only retracts what was said just before is no request.
    """
    low = text.lower()
    if not any(sign in low for sign in _FORGETTING_SIGNS):
        return ()
    spans = [(found.start(), found.end()) for found in SENTENCE.finditer(blank(text))]
    asking = [Forgotten(start, end) for start, end in spans if _asks(text[start:end].strip())]
    taken_back = find_retractions(text) if asking else ()
    return tuple(each for each in asking if not any(_is_taken_back(each, other) for other in taken_back))


def _is_taken_back(sentence: Forgotten, other: Retraction) -> bool:
    """Whether the sentence only retracts something, or says that a plan failed."""
    shared = min(sentence.end, other.end) - max(sentence.start, other.start)
    return shared > 0 and (other.why != "deleted" or 2 * shared > sentence.end - sentence.start)


def _asks(sentence: str) -> bool:
    return may_ask(sentence) and load_text_sum("forgetting").estimate(sentence, count_signs(sentence)) >= ASKS


def split_sentences(text: str) -> list[str]:
    """The sentences of the text that are classified."""
    return [sentence for found in SENTENCE.finditer(text) if (sentence := found[0].strip())]


def may_ask(sentence: str) -> bool:
    """Whether the sentence has the length of a request and one of its forms."""
    return SHORTEST_REQUEST <= len(sentence) <= LONGEST_REQUEST and any(
        _FORMS[name].search(sentence) for name in ASKING
    )


def count_signs(sentence: str) -> list[float]:
    """The features of the sentence: which forms it has, and its length."""
    return [*(float(form.search(sentence) is not None) for form in _FORMS.values()), math.log1p(len(sentence)) / 4]
