"""What the user orders: how answers are to be from now on, or what to be reminded of."""

# ruff: noqa: E501 - one family of words per line

from typing import Literal

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
)
"""Asks, in the form of a question, how answers are to be."""


def asks_politely(text: str) -> bool:
    """Whether the words are a question in form alone: they ask that something be done from now on."""
    return _POLITELY.match(text.strip().lower()) is not None or asks_how_to_answer(text)


def asks_how_to_answer(text: str) -> bool:
    """Whether the words ask how answers are to be: `could you keep your answers shorter?`"""
    return _OF_ANSWERS.match(text.strip().lower()) is not None


def order_in(text: str) -> Order | None:
    """What sort of order the sentence is, if it is one."""
    low = text.strip().lower()
    if asks_politely(low):
        return "standing"
    if _NOT_NOW.search(low):
        return None
    if _REMINDER.search(low):
        return "reminder"
    return "standing" if _STANDING.match(low) else None
