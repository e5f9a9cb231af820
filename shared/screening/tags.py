"""Removes or escapes active parts of a text and keeps its words; and finds the parts that somebody else wrote.

Tags, fences and headers of prompts could close or open a block for a model. Images, links and tags that load external
addresses are removed, because a model could put data into them. Pasted, quoted and forwarded text is recognised by its
form.
"""

# ruff: noqa: E501, SIM905 - lists of words as one text

import re
from collections import Counter
from collections.abc import Iterator

from shared.language.patterns import to_pattern

_MAY_BE_PASTED = to_pattern(r"[\n“「『]|\"[^\"\n]{60}")
"""A fast check: most messages are one line without a long quotation."""
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
"""In the line before: text after a colon and a line break is not the user's own."""
_LEAD = 200


def split_pasted(text: str) -> Iterator[tuple[bool, str]]:
    """The parts of the text, each with whether it was pasted; joined they are the text."""
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


_FENCES = """user_memory knowledge memory_usage_guide agent_hints system assistant developer user tool instruction
    instructions evidence prompt media summary context data""".split()
_BLIND = "[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]*"
"""Invisible characters: a tag with them in it is one."""
_WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def _letter(letter: str) -> str:
    return f"[{re.escape(letter)}{chr(_WIDE[ord(letter)])}]"


def _name(name: str) -> str:
    return _BLIND.join("[_＿\\-\\s]" if letter == "_" else _letter(letter) for letter in name)


_OPEN = "[<＜﹤‹〈]|\\\\u003c|\\\\x3c|\\\\<|&(?:amp;)*(?:lt|#0*60|#x0*3c);?|%3c"
_SLASH = "[/／⁄∕\\\\]|&#0*47;|&#x0*2f;|&sol;|%2f"
_OUR_TAG = to_pattern(
    rf"(?:{_OPEN})(?=(?:\s|{_BLIND[:-1]})*(?:{_SLASH})?(?:\s|{_BLIND[:-1]})*(?:{'|'.join(map(_name, _FENCES))})"
    r"(?![a-zａ-ｚ0-9_]))",
    re.IGNORECASE,
)
_PASSED = to_pattern(rf"&lt;(?=\s*/?\s*(?:{'|'.join(_FENCES)})\b)")
"""The output of `escape`, which is idempotent."""
_WHOLE = to_pattern(rf"{_OUR_TAG.pattern}[^<>\n]{{0,60}}?(?:>|＞|&gt;|\\\\u003e)", re.IGNORECASE)
_SIGN = to_pattern(r"[<＜﹤‹〈&]|\\|%3c", re.IGNORECASE)
_PLAIN_NAMES = frozenset(
    """a abbr address article aside audio b base blockquote body br button canvas caption center cite code col dd
        del details div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr
        html i iframe img input ins kbd label legend li link main map mark math menu meta nav noscript object ol
        optgroup option p param picture pre q rp rt ruby s samp script section select small source span strike
        strong style sub sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var
        video wbr g path circle rect polygon line defs""".split()
)
"""Names of HTML tags: part of a page may close tags that it does not open."""
_TAG = to_pattern(r"<\s*(/?)\s*([a-z\u4e00-\u9fff][\w\-:.]{0,30})(?:\s[^<>]{0,300})?\s*/?\s*>", re.IGNORECASE)
_OF = (
    "document|data|memor(?:y|ies)|text|input|file|page|context|user|source|note|transcript|thread|record|content|quote|log"
    "|results?|section|material|untrusted|retrieved|article|summary|evidence|tool"
)
_OF_ZH = "资料|資料|正文|文档|文檔|文件|记忆|記憶|数据|上下文|输入|内容|引用|记录|本文|全文|摘要|转写|检索结果?|用户输入|原文|日志|工具结果|页面"
_ENDS = to_pattern(
    rf"(?:[-=#*~_<\[({{【（—>|/]{{2,40}}|[\[<(（【]|^|\n)\s{{0,40}}/?\s{{0,40}}(?:end(?:[_ -](?:of[_ -])?(?:the[_ -])?(?:{_OF})\w*)+"
    rf"|(?:{_OF_ZH})\s*(?:结束|結束|完毕?|终|到此为止|到此结束))\s*(?:[-=#*~_>\])}}】）—|/]+|[.。:：]|\n)\s*(?=\S)",
    re.IGNORECASE,
)
_HEADERS = to_pattern(
    r"<\|(?:im_start|im_end|system|user|assistant|developer|endoftext|begin_of_text|eot_id|start_header_id|end_header_id)"
    r"\|?>?|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|(?m:^#{2,}[ \t]*(?:instruction|system|response|指令|系统)"
    r"[ \t]*(?=[:：\n]|$)[:：]?)",
    re.IGNORECASE,
)
_CLOSES_DATA = to_pattern(
    r"\]\]>\s*\S|(?:^|\n)\s*(?:\"\"\"|'''|```)\s*(?:end\b|new\b|now\b|system\b|新|接下来|系统|以上|下面|文件到此)"
    r"|[\]}]\s*[\]}]\s*[\]}]?\s*\n\s*\S",
    re.IGNORECASE,
)
_ENDING = ("end", "结束", "結束", "完", "终", "到此")
_CLOSING = ("]]>", '"""', "'''", "```", "]", "}")
"""Characters without which no pattern can match."""


def escape(text: str) -> str:
    """The text without anything that could open or close a tag of the package, in any spelling."""
    if not _SIGN.search(text):
        return text
    return _OUR_TAG.sub(lambda match: match.group() if _PASSED.match(text, match.start()) else "&lt;", text)


def without_ours(text: str) -> str:
    """The text to judge, without our escaped tags."""
    return _WHOLE.sub(" ", text) if _SIGN.search(text) else text


def breaks_out(form: str) -> bool:
    """Whether the text closes what it never opened, or declares the end of the data, and then continues.

    Our own tags do not count, because they are escaped.
    """
    if any(sign in form for sign in _ENDING) and _ENDS.search(form):
        return True
    if any(sign in form for sign in _CLOSING) and _CLOSES_DATA.search(form):
        return True
    if "<" not in form or "</" not in form.replace(" ", ""):
        return False
    opened = Counter[str]()
    for tag in _TAG.finditer(form):
        name = tag[2].lower()
        if not tag[1]:
            opened[name] += 1
        elif opened[name]:
            opened[name] -= 1
        elif name not in _PLAIN_NAMES and name not in _FENCES and form[tag.end() :].strip(" \t\n\r\"'`)]}"):
            return True
    return False


def without_headers(text: str) -> tuple[str, int]:
    """The text without the role markers of prompt formats, and their number."""
    return _HEADERS.subn("", text) if "<" in text or "[" in text or "##" in text else (text, 0)


REMOVED = "[removed]"
_DATA = (
    r"(?:[{<\[(（【$%][^\s{}<>]{0,60}|%7b|[\u4e00-\u9fff]{2,}|memor|history|convers|transcript|secret|passw|prompt|notes?\b"
    r"|user_?(?:data|email|name|id)?=|chat|token|context|profile|\.\.\.|…)"
)
_FILLED = rf"https?://[^\s)\"'<>]{{3,200}}?[?&=/][^\s)\"'<>]{{0,60}}?(?:{_DATA})[^\s)\"']{{0,200}}"
_IMAGE = to_pattern(rf"!\[(?P<words>[^\]\n]{{0,200}})\]\(\s*(?:{_FILLED})[^)\n]{{0,100}}\)?", re.IGNORECASE)
_LINK = to_pattern(
    r"(?<!!)\[(?P<words>[^\]\n]{0,200})\]\(\s*(?:(?:javascript|data|vbscript):[^)\n]{0,300}"
    r"|https?://[^\s)]{3,200}?[?&=/][^\s)]{0,60}?(?:[{<$][^\s{}<>]{1,60}[}>]?|%7b)[^)\n]{0,200})\)?",
    re.IGNORECASE,
)
_LINKED_TAG = to_pattern(
    r"<\s*(?:(?:object|embed|form|meta|base|link)\b[^>]{0,400}(?:>|$)"
    r"|(?:img|input|video|audio|source|svg|body)\b(?=[^>]{0,400}(?:\bon\w+\s*=|[?&][\w-]+=|[{$]|width\s*=\s*[\"']?[01]\b"
    r"|display\s*:\s*none))[^>]{0,400}(?:>|$))",
    re.IGNORECASE | re.DOTALL,
)
_STYLED = to_pattern(r"@import\s+url\([^)]{3,200}\)|background(?:-image)?\s*:\s*url\([^)]{3,200}\)", re.IGNORECASE)


def without(text: str) -> tuple[str, bool]:
    """The text without external addresses, their labels kept; whether there were any."""
    clean = text
    if "](" in clean:
        clean = _LINK.sub(r"\g<words>", _IMAGE.sub(r"\g<words>", clean))
    if "<" in clean:
        clean = _LINKED_TAG.sub(REMOVED, clean)
    if "url(" in clean:
        clean = _STYLED.sub(REMOVED, clean)
    return clean, clean != text
