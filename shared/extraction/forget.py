"""Sentences that ask for something said before to be forgotten, in whatever words; pure.

`tests/training/forgetting.py` fits the weights. What is meant, the memories tell: `shared.resolution.forgetting`.
"""

# ruff: noqa: E501, SIM905 - one family of words per line, a list of words reads best as one

import math
import re
from dataclasses import dataclass

from shared.cache import of_texts
from shared.classifiers.judges import load_text_sum
from shared.extraction import retractions
from shared.extraction.clauses import blank
from shared.language.patterns import to_pattern

ASKS = 0.5
"""How likely it must be that a sentence asks for something to be forgotten."""
ASKING = ("removes", "not_kept", "gone")
"""Of the forms those of which a request has one."""
SHORTEST, LONGEST = 2, 300
"""A sentence of fewer or of more characters is no request to forget."""
REMOVING = (
    r"forget|unlearn|delete|erase|expunge|wipe|remove|redact|purge|scrub|strike|scrap|discard|drop|dump|bin|ditch|lose|clear|flush|shred|trash|toss|chuck|burn|zap|nuke|void|blank|destroy|scratch|ignore|disregard|retract"
    r"|un-?(?:learn|say|save|remember|know|hear|see)|get (?:rid|shot)|let go|rub out"
)
"""What English requests ask to be done with what was said."""
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
_SIGNS = (
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
"""Without one of these no sentence asks for something to be forgotten."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Where a sentence stands that asks for something to be forgotten."""

    start: int
    end: int


@of_texts(1024)
def find(text: str) -> tuple[Forgotten, ...]:
    """Every sentence of the text that asks for something to be forgotten, in order.

    What is quoted asks for nothing. What only takes back what was said just before is `retractions`.
    """
    low = text.lower()
    if not any(sign in low for sign in _SIGNS):
        return ()
    spans = [(found.start(), found.end()) for found in retractions.SENTENCE.finditer(blank(text))]
    asking = [Forgotten(start, end) for start, end in spans if _asks(text[start:end].strip())]
    taken_back = retractions.find(text) if asking else ()
    return tuple(each for each in asking if not any(_is_taken_back(each, other) for other in taken_back))


def _is_taken_back(sentence: Forgotten, other: retractions.Retraction) -> bool:
    """Whether the sentence does no more than take back, or says that a plan came to nothing."""
    shared = min(sentence.end, other.end) - max(sentence.start, other.start)
    return shared > 0 and (other.why != "deleted" or 2 * shared > sentence.end - sentence.start)


def _asks(sentence: str) -> bool:
    return may_ask(sentence) and load_text_sum("forgetting").estimate(sentence, count_signs(sentence)) >= ASKS


def split_sentences(text: str) -> list[str]:
    """The sentences of the text as they are judged."""
    return [sentence for found in retractions.SENTENCE.finditer(text) if (sentence := found[0].strip())]


def may_ask(sentence: str) -> bool:
    """Whether the sentence is worth being judged: of a request's length, with a word that requests have."""
    return SHORTEST <= len(sentence) <= LONGEST and any(_FORMS[name].search(sentence) for name in ASKING)


def count_signs(sentence: str) -> list[float]:
    """Which of the forms the sentence has, and how long it is."""
    return [*(float(form.search(sentence) is not None) for form in _FORMS.values()), math.log1p(len(sentence)) / 4]
