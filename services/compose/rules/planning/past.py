"""Whether a question asks how things were: only then is what is marked outdated an answer (seed 004 section 2.3)."""

# ruff: noqa: E501 - one family of cues per line

import re

from shared.language.patterns import to_pattern

_PAST = to_pattern(
    r"以前|从前|曾经|过去(?!的?(?:[一二两三四五六七八九十几\d]|这))|(?<!日)原来(?!如此|是这|你|这)|原先|起初|最初|最早|当初|当年|当时|那时候?|那会儿?|早先|先前|旧的|老的|上一(?:份|任|个(?:工作|住处|公司|手机))|之前(?!先)|改(?:之|以)?前|换(?:之|以)?前|历史(?:记录|版本)?"
    # how it has changed, and all that it has been
    r"|怎么变|变过|(?:有|发生|经历)(?:了|过)?(?:什么|哪些|多少|些什么)?[^，。]{0,3}变(?:化|更|动)|的?变(?:化|更|动|迁)(?:过程|历程|历史|记录|情况)?(?:是|有|如何|怎样)?[?？。]?$|(?:换|改|搬|调整?|变|跳槽?|升级?)了?过?(?:几|多少)[次回个家趟]|(?:换|改|搬|调整|更换|修改|跳槽|搬家|改名)过|从头(?:到尾|至今|到现在|开始|说起|讲起)|一路(?:走来|以来|下来|上|都)|前后(?:都|一共|总共|换|改|用|住|有)|前前后后|先后|历任|历届|历次|历年|这些年来?|(?:这|近|过去)[几一二三两四五六七八九十\d]+年(?:来|里|间|都|以来|[^，。？?]{1,12}过)|来龙去脉|演变|沿革|(?:住|待|用|去|养|开|学|干|做|试|任|玩|吃|喝|追|谈|听|读|报|参加|上)过(?:的?哪|的?什么|的?几|的?多少|的?所有|的?全部|的?.{0,6}都有)|都(?:住|待|用|养|开|学|干|做|试|玩)过"
    r"|\b(?:used to|use to|previously|formerly|back then|back in the day|in the past|at (?:that|the) time|at first|originally|initially|once (?:was|had|lived|liked|worked)|before (?:that|then|i|we|this|it)|earlier on|no longer|any ?more|not anymore|former|previous|prior|old (?:job|address|phone|number|name|preference|favou?rite|plan|version)|history of|history\?|what (?:did|was|were) (?:i|we|my|our)\b.{1,60}\b(?:first|old|before|initial(?:ly)?|back))\b"
    r"|\bhow (?:has|have|had|did) .{1,60}\b(?:changed?|evolved?|developed?|shifted)\b|\b(?:over|through(?:out)?|across) (?:the|these|all (?:the|these|those)) (?:years|months|weeks|time)\b|\bover time\b|\b(?:so far|up to now|until now|to date)\b.{0,40}\b(?:all|every|each|been|had|lived|worked|used|owned)\b"
    r"|\b(?:all|every|each|which|what|list|how many)\b.{0,60}\b(?:i|we)(?:'ve| have)(?: ever| all)? (?:had|lived|worked|used|owned|been|tried|driven|kept|played|studied|moved|switched|changed)\b|\b(?:what|which|how many|where|who)\b.{0,40}\b(?:have|had) (?:i|we)(?: ever| all)? (?:had|lived|worked|used|owned|been|tried|driven|kept|played|studied|moved|switched|changed)\b|\bhow (?:many times|often) (?:have|did) (?:i|we) (?:chang|mov|switch|replac|updat)\w*|\bhave i ever\b|\bfrom (?:the )?(?:start|beginning) (?:to|till|until) (?:the )?(?:end|now|today|finish)\b|\b(?:timeline|chronolog\w*|progression|track record)\b|\bevery (?:change|version|stage|step) (?:of|in|to)\b|\bever changed\b|\bchanges? (?:in|to|of) my\b"
    r"|\bbefore[?.!]*$",
    re.IGNORECASE,
)
_FRAME = to_pattern(
    r"从头(?:到尾|至今|到现在|开始|说起|讲起)?|一路(?:走来|以来|下来|上)?|前前后后|前后|先后|历任|历届|历次|历年|这些年来?|(?:这|近|过去)[几一二三两四五六七八九十\d]+年(?:来|里|间|以来)?|一直以来|来龙去脉|到现在为止|到目前为止|迄今|至今"
    r"|怎么变(?:化|过)?的?|有(?:什么|哪些|过什么)变(?:化|更|动)|的变(?:化|更|动)|(?:换|改|搬|变|调整)了?过?(?:几|多少)[次回]|一共|总共|所有的?|全部的?|都有哪些|哪些|哪几"
    r"|\b(?:over|through(?:out)?|across) (?:the|these|all (?:the|these|those)) (?:years|months|weeks|time)\b|\bover time\b|\b(?:so far|up to now|until now|to date|in order|one by one)\b|\bfrom (?:the )?(?:start|beginning) (?:to|till|until) (?:the )?(?:end|now|today|finish)\b"
    r"|\b(?:history|timeline|list|evolution|progression) of\b|\b(?:history|timeline)\b(?=\?|$)|\b(?:used to|use to|previously|formerly|originally|in the past|back then|back in the day|ever)\b|\bhow (?:has|have|had) (?=.{1,60}\b(?:changed?|evolved?))|\b(?:changed|evolved)\b(?=\W*$)|\b(?:list|name|tell me|give me|show me) (?:all|every|each)(?: of)?\b|\ball the\b",
    re.IGNORECASE,
)
"""Words that say only that it is asked how things were."""
_ORDERED = to_pattern(
    r"在.{1,16}之前(?:完成|交|做|去|到|提醒|要|必须|先)|\bbefore (?:i|we) (?:go|leave|start|forget)\b|\bfor the (?:previous|past)\b",
    re.IGNORECASE,
)


def asks_past(text: str) -> bool:
    """True for 我以前喜欢什么, what did I use to drink; false where `before` only puts things in order."""
    return _PAST.search(_ORDERED.sub(" ", text[:1000])) is not None


def without_frame(text: str) -> str:
    """A question about the past without the words that say only that; as it was where nothing else is left."""
    if not asks_past(text):
        return text
    left = _FRAME.sub(" ", text)
    return left if left.strip(" ?？。.!！,，") else text
