"""Which parts of a message somebody else wrote: what its form says was pasted, quoted or forwarded. Both languages."""

import re
from collections.abc import Iterator

from shared.language.patterns import to_pattern

_MAY_BE_PASTED = to_pattern(r"[\n“「『]|\"[^\"\n]{60}")
"""A cheap look: most messages are one line without a long quotation."""
_PASTED = to_pattern(
    r"```[\s\S]*?(?:```|\Z)"
    r"|(?m:^[>＞][^\n]*(?:\n[>＞][^\n]*)*)"
    r"|(?m:^(?:[-_=]{2,} ?(?:original message|forwarded message|转发邮件|原始邮件)|(?:from|发件人|寄件人) ?[:：] ?\S"
    r"|on [^\n]{5,100} wrote:|[^\n]{4,80}写道[:：]))[\s\S]*"
    r"|(?m:(?<=[:：])[ \t]*\n)[\s\S]{40,}"
    r"|“[^“”]{60,4000}”|「[^「」]{30,4000}」|『[^『』]{30,4000}』|\"[^\"]{80,4000}\"",
    re.IGNORECASE,
)
_FROM_ELSEWHERE = to_pattern(
    r"\b(?:e?mail|letter|message|article|page|site|post|text|review|comment|reply|answer|note|transcript|document|memo"
    r"|wrote|writes|says|said|sent|got|received|forwarded|copied|pasted|quote|he|she|they|boss|colleague)\b"
    r"|邮件|信|消息|短信|微信|文章|网页|网站|帖|评论|评价|回复|原文|通知|文档|公告|转发|复制|粘贴|发来|收到|写道|说|他|她",
    re.IGNORECASE,
)
"""In the line before it: what follows a colon and a new line is not of the user's own making."""
_LEAD = 200


def split(text: str) -> Iterator[tuple[bool, str]]:
    """The text in its parts, each with whether it was pasted; joined they are the text."""
    at = 0
    for match in _PASTED.finditer(text) if _MAY_BE_PASTED.search(text) else ():
        if text[match.start()] in " \t\n" and not _is_introduced(text, match.start()):
            continue
        if at < match.start():
            yield False, text[at : match.start()]
        yield True, match.group()
        at = match.end()
    if at < len(text) or not text:
        yield False, text[at:]


def _is_introduced(text: str, at: int) -> bool:
    line = text[max(0, at - _LEAD) : at].rsplit("\n", 1)[-1]
    return _FROM_ELSEWHERE.search(line) is not None
