"""Determines whom a clause is about and whether it states something; questions, moods, hearsay and irony do not.

Orders to the agent are recognised here too: how to answer from now on, and of what to remind the user.
"""

# ruff: noqa: E501 - one family of words per line

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from shared.cache import of_texts
from shared.extraction import guards_words as words
from shared.extraction.clauses import Clause
from shared.extraction.gates import gate
from shared.language.patterns import to_pattern

Order = Literal["standing", "reminder"]
_STANDING = to_pattern(
    r"(?:from now on|going forward|in (?:the )?future|henceforth|every time you|whenever you|as a rule)\b.*"
    r"|^(?:please |pls |also |and |hey,? |ok,? |so )*(?:always|never)\s+(?:use|write|answer|reply|give|include|add|put|start|end|call"
    r"|address|send|show|tell me|ask|keep|make|mention|suggest|recommend|book|format|explain|speak|respond|quote|cite|check|offer|assume|say|order|plan)\b.*"
    r"|^(?:please |pls )+(?:do not|don'?t|stop|keep|avoid|use|answer|reply|write|call|address|be|make sure)\b(?!.*\b(?:this|it|that|below)\b).*\b(?:answers?|repl(?:y|ies)|me|responses?|code|emails?|english|chinese|units?|emojis?|bullet points?|jargon)\b.*"
    r"|(?:please |pls |ok,? |and )*(?:stop|don'?t|do not|no more)\s+(?:\w+\s+){0,4}(?:emojis?|bullet points?|tables?|headings?|markdown|jargon|apologi[sz]ing|apologies|small talk|answers?|repl(?:y|ies)|responses?|with me)\b(?! (?:for|in|to|of|at|from)\b).*"
    r"|^(?:please |pls |also |and |ok,? |so )*(?:answer|reply|respond|write|use|speak|call|keep|give|send|format|explain|put|start|end|leave|stop|avoid|don'?t|do not|add|include|skip|make)\b.*\b(?:from now on|going forward|in (?:the )?future|henceforth|every time|each time)\b.*"
    r"|^(?:please |pls |also |and |ok,? |so )*keep (?:your|all) (?:answers?|repl(?:y|ies)|responses?|messages?|explanations?)\b.*"
    r"|^(?:请|麻烦|你)*(?:别|不要|少)(?:再|老是?|总是?)?(?:给我)?(?:用|说|加|发|带|列|写)?(?:那么多|这么多)?(?:表格|列表|表情|emoji|英文|术语|markdown|标题(?!党)|敬语|客套话?|废话|套话|道歉|感叹号).*"
    r"|.*(?:以后|今后|往后|从现在起|从今[天往]?[起后]?|从今往后|每次|一律|永远|始终|凡是).{0,16}(?:请|都|要|就|别|不要|不用|必须|只|用|按|先|加|给|叫|回|写)"
    r"|(?:请|麻烦)?(?:始终|一直|永远|一律|都)(?:用|按|以|叫|别|不要).*"
)
_REMINDER = to_pattern(
    r"^(?:please |pls |can you |could you |hey,? |also |and )*remind me\b|^(?:todo|to-do|to do)\b|(?:^|[，,。；;]|请|记得|记着|帮我|麻烦|到时候?)提醒(?:我|一下)|^(?:待办|任务)[:：]"
)
_NOT_NOW = to_pattern(r"[?？]\s*$|^(?:what|how|why|when|who|which|is|are|do|does|did)\b|吗[?？。]?$|\bif\b.*\bwould\b")
_POLITELY = to_pattern(
    r"^(?:hey,? |so |and |also |ok(?:ay)?,? |please |btw,? )*(?:can|could|would|will) (?:you|we) (?:please )?(?:always|never|from now on|in (?:the )?future|going forward|every time|each time|whenever)\b"
    r"|^(?:那|对了|麻烦|另外|还有)?[，,]?(?:你|您)?(?:能不能|可不可以|能否|可以|能)(?:请)?(?:以后|今后|往后|每次|一直|始终|从现在起)(?!.{0,4}还)"
)
_OF_ANSWERS = to_pattern(
    r"^when(?:ever)? you (?:give|send|write|make|answer|reply|list|suggest|recommend|show|explain)\b.{2,60}\b(?:can|could|would|will) you\b"
    r"|^(?:hey,? |so |and |also |ok(?:ay)?,? |please |btw,? )*(?:can|could|would|will) you (?:please |just |maybe |also |try to )*"
    r"(?:(?:keep|make|give|write|cut|put|leave)\b.{0,20}\b(?:your (?:answers?|repl(?:y|ies)|responses?|messages?)|(?:answers|replies|responses)(?! (?:to|for|from|in|of|below|above)\b))"
    r"|use (?:the )?(?:metric|imperial|24.hour|celsius|fahrenheit|british|american|plain english)\b|(?:stop|avoid) (?:using |adding |with )?(?:the |so many )?(?:emojis?|bullet points?|jargon|lists)\b)"
    r"|^(?:那|对了|麻烦|另外|还有)?[，,]?(?:你|您)?的?(?:能不能|可不可以|能否|可以|能)?(?:请)?把?(?:你的?)?(?:回答|回复|答复|说话|讲话)(?:的时候)?(?:能不能|可不可以|可以|能)?(?:尽量|稍微)?再?"
    r"(?:短|简短|简洁|精简|简单|口语|直接|直白)(?:一?点|些)(?:儿)?(?:吗|么|吧|不|行吗|好吗|可以吗|行不行)?[?？]?$"
    r"|^(?:你|您)?(?:能不能|可不可以|能否|可以|能)(?:请)?(?:别|不要|少)(?:总是?|老是?)?(?:用|发|加|带|列)(?:那么多|这么多)?(?:表情|emoji|英文|列表|清单|点)"
    r"|^(?:你|您)?(?:能不能|可不可以|能否|可以|能)(?:请)?(?:以后|今后|往后|从现在起)(?:都|一律|全部?)?(?:只)?用.{1,12}(?:回答|回复|答复|说|写)"
)
"""Asks for a style of answers in the form of a question."""


def asks_politely(text: str) -> bool:
    """Whether the words are an order in the form of a question: they ask to do something from now on."""
    return _POLITELY.match(text.strip().lower()) is not None or asks_how_to_answer(text)


def asks_how_to_answer(text: str) -> bool:
    """Whether the words ask for a style of answers: `could you keep your answers shorter?`"""
    return _OF_ANSWERS.match(text.strip().lower()) is not None


def find_order(text: str) -> Order | None:
    """The kind of order that the sentence is; None if it is no order."""
    low = text.strip().lower()
    if asks_politely(low):
        return "standing"
    if _NOT_NOW.search(low):
        return None
    if _REMINDER.search(low):
        return "reminder"
    return "standing" if _STANDING.match(low) else None


Subject = Literal["self", "group", "other", "agent", "none"]

_FICTION = to_pattern(
    r"\bwrite (?:me )?(?:a|an|the|another|some)\b.{0,40}\b(?:story|poem|email|essay|letter|song"
    r"|dialogue|script|post|tweet|speech|bio"
    r"|review|novel|scene)\b|\b(?:translate|proofread|rephrase|paraphrase|rewrite)\b"
    r"|写一?[个篇首封段份].{0,12}(?:故事|诗|小说|作文|邮件|文章|对话|台词|剧本|歌词|文案|信|演讲|介绍|日记)|翻译|润色|改写",
    re.I,
)


_SUPPOSES, _SUPPOSES_EN, _INVENTS = gate(words.IF_ZH), gate(words.IF_EN), gate(_FICTION)
_REPORTS, _REPORTS_EN = gate(words.REPORT_ZH), gate(words.REPORT_EN)
_ADVISES = gate(words.DOCTOR)
_PASSES, _PASSES_EN = gate(words.NOW_ZH), gate(words.NOW_EN)
_TRIES, _TRIES_EN = gate(words.TRIAL_ZH), gate(words.TRIAL_EN)
_MOCKS = gate(words.IRONY, words.SCORN)
_JESTS = gate(words.JEST)
_ASKS_ZH = gate(words.ASK_WORD_ZH)
_ASKS_EN = gate(words.ASK_EN)
_LEADS_ZH = gate(words.LEAD_ZH)
_LEADS_EN = gate(words.LEAD_EN)
_NAMES_ZH = gate(words.GROUP_ZH, words.SELF_ZH, words.OTHER_ZH, words.AGENT_ZH)
_OTHERS_ZH = gate(words.OTHER_ZH)
_NAMES_EN = gate(words.OTHER_EN, words.NAME_EN, words.SELF_EN, words.GROUP_EN, words.AGENT_EN)


_OPENS_ORDER = to_pattern(
    r"(?!(?:do|does|did|have|has|had) (?:i|you|we|they|he|she)\b)"
    r"(?:don't|do not|do|have|may|might|any|when|which|who|whose)\b",
    re.I,
)
_LEAVES_SUBJECT_OUT = to_pattern(
    r"(?:(?:can|won|didn|haven|hasn|couldn|wouldn|doesn)['’]?t|was|were|had|am)\b"
    r"(?! (?:i|you|we|they|he|she|it|this|that|those|these|there|the|my|your|our|his|her|their|an?|any\w*|some\w*"
    r"|every\w*|people|(?-i:[A-Z]))\b)",
    re.I,
)
_TELLS_WHAT = to_pattern(r"(?:what|who|where) (?:i|we|he|she|they)(?:['’]\w+)?\b.{2,60}\b(?:is|was|are)\b", re.I)


@dataclass(frozen=True, slots=True)
class Stance:
    """Whom a clause is about, and what keeps it from being a lasting statement."""

    subject: Subject
    explicit: bool
    asked: bool
    supposed: bool
    momentary: bool
    trial: bool
    ironic: bool
    reported: bool
    doctor: bool = False

    @property
    def stands(self) -> bool:
        """Whether the speaker claims that something is true."""
        return not (self.asked or self.supposed or self.reported or self.ironic)


_stance = lru_cache(maxsize=1024)(Stance)


def cut_lead(clause: Clause) -> str:
    """The clause without the adverbs and interjections before its subject."""
    if clause.language == "en":
        lead = words.LEAD_EN.match(clause.text) if clause.mask & _LEADS_EN else None
    else:
        lead = words.LEAD_ZH.match(clause.text) if clause.mask & _LEADS_ZH else None
    return (clause.text[lead.end() :] if lead else "") or clause.text


def find_subject(clause: Clause) -> Subject:
    """Whom the clause names first; `none` if it names nobody."""
    if not clause.mask & (_NAMES_ZH | _NAMES_EN):
        return "none"
    text = cut_lead(clause)
    if clause.language == "en":
        return _find_english_subject(text)
    if text[0].isascii():
        return _find_english_subject(text)
    if not clause.mask & _NAMES_ZH:
        return "none"
    if words.GROUP_ZH.match(text):
        return "group"
    if words.SELF_POSSESSION_ZH.match(text):
        return "other"
    if words.SELF_ZH.match(text):
        return "self"
    if clause.mask & _OTHERS_ZH and words.OTHER_ZH.match(text):
        return "other"
    return "agent" if words.AGENT_ZH.match(text) else "none"


def _find_english_subject(text: str) -> Subject:
    if words.OTHER_EN.match(text) or words.NAME_EN.match(text):
        return "other"
    if words.SELF_EN.match(text):
        return "self"
    if words.GROUP_EN.match(text):
        return "group"
    if words.AGENT_EN.match(text):
        return "agent"
    return "none"


def is_question(clause: Clause, following: Clause | None) -> bool:
    """Whether the clause asks, by its question mark, its words, or a tag after it; a polite order does not ask."""
    return _is_put_as_question(clause, following) and not asks_politely(clause.text)


def _is_put_as_question(clause: Clause, following: Clause | None) -> bool:
    if (
        following is not None
        and following.sentence == clause.sentence
        and following.asked
        and words.TAG.match(following.text)
    ):
        return True
    if clause.asked and clause.last:
        return True
    text = clause.text
    if clause.language == "en":
        asks = clause.mask & _ASKS_EN and words.ASK_EN.match(text)
        return bool(asks) and (clause.asked or not _opens_no_question(text))
    return bool(clause.mask & _ASKS_ZH and words.ASK_WORD_ZH.search(text)) or (
        clause.asked and bool(words.ASK_ZH.search(text))
    )


def _opens_no_question(text: str) -> bool:
    """Whether words that often open a question open an order, a statement without its subject, or `what I want is`."""
    return bool(_OPENS_ORDER.match(text) or _LEAVES_SUBJECT_OUT.match(text) or _TELLS_WHAT.match(text))


@of_texts(64)
def stances(clauses: tuple[Clause, ...]) -> tuple[Stance, ...]:
    """The stance of every clause; subject, supposition and hearsay apply to later clauses of the same sentence too."""
    results: list[Stance] = []
    carried: Subject = "none"
    supposed = reported = doctor = fiction = False
    sentence = -1
    jest = {clause.sentence for clause in clauses if clause.mask & _JESTS and words.JEST.search(clause.text)}
    jest |= {number - 1 for number in jest}
    jest |= {clause.sentence for clause in clauses if clause.mask & _MOCKS and words.SCORN.match(clause.text)}
    hearsay = {clause.sentence for clause in clauses if clause.last and words.SAID_LAST.fullmatch(clause.text)}
    for index, clause in enumerate(clauses):
        if clause.sentence != sentence:
            sentence, supposed, reported, doctor = clause.sentence, clause.sentence in hearsay, False, False
            carried = carried if carried in ("self", "other") and clause.language == "zh" else "none"
            carried = "none" if carried == "other" else carried
        text, signs = clause.text, clause.mask
        named = find_subject(clause)
        explicit = named != "none"
        if explicit:
            carried = named
        fiction = fiction or bool(signs & _INVENTS and _FICTION.search(text))
        supposed = supposed or fiction or _says(text, signs, _SUPPOSES, words.IF_ZH, _SUPPOSES_EN, words.IF_EN)
        doctor = doctor or bool(signs & _ADVISES and words.DOCTOR.search(text))
        reported = reported or _says(text, signs, _REPORTS, words.REPORT_ZH, _REPORTS_EN, words.REPORT_EN)
        if named == "self" and reported and sentence != -1 and clause.sentence == sentence and _breaks(clause):
            reported = False
        following = clauses[index + 1] if index + 1 < len(clauses) else None
        results.append(
            _stance(
                named if explicit else carried,
                explicit,
                is_question(clause, following),
                supposed,
                _says(text, signs, _PASSES, words.NOW_ZH, _PASSES_EN, words.NOW_EN),
                _says(text, signs, _TRIES, words.TRIAL_ZH, _TRIES_EN, words.TRIAL_EN),
                clause.sentence in jest or bool(signs & _MOCKS and words.IRONY.search(text)),
                reported,
                doctor,
            )
        )
    return tuple(results)


def _says(text: str, signs: int, zh: int, in_zh: re.Pattern[str], en: int, in_en: re.Pattern[str]) -> bool:
    """Whether the pattern of either language matches; a pattern whose gate is closed is not run."""
    return bool((signs & zh and in_zh.search(text)) or (signs & en and in_en.search(text)))


def _breaks(clause: Clause) -> bool:
    """Whether the speaker speaks for themselves again after hearsay: `but I ...`, `不过我 ...`."""
    return bool(
        re.match(r"(?:但是?|不过|可是?|然而|而|其实|but|however|though|actually)\s*,?\s*(?:我|I\b)", clause.text, re.I)
    )
