"""Finds tags, links that send data away, and orders to a model; escapes or removes them.

The likelihood of orders is learned from labelled texts (`tests/training`).
"""

# ruff: noqa: E501, SIM905 - lists of words as one text

import base64
import binascii
import html
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from shared.classifiers.judges import judge_meaning
from shared.classifiers.network import grams, load
from shared.language.normalise import visible
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
_LEAD_CHARS = 200


def split_pasted(text: str) -> Iterator[tuple[bool, str]]:
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
    line = text[max(0, at - _LEAD_CHARS) : at].rsplit("\n", 1)[-1]
    return _FROM_ELSEWHERE.search(line) is not None


_FENCES = """user_memory knowledge memory_usage_guide agent_hints system assistant developer user tool instruction
    instructions evidence prompt media summary context data""".split()
_BLIND = "[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]*"
"""Characters that no reader sees: a tag with them in it is one."""


def _tag_name(name: str) -> str:
    wide = (chr(ord(letter) + 0xFEE0) for letter in name)
    pairs = zip(name, wide, strict=True)
    return _BLIND.join("[_＿\\-\\s]" if letter == "_" else f"[{re.escape(letter)}{other}]" for letter, other in pairs)


_OPEN = "[<＜﹤‹〈]|\\\\u003c|\\\\x3c|\\\\<|&(?:amp;)*(?:lt|#0*60|#x0*3c);?|%3c"
_SLASH = "[/／⁄∕\\\\]|&#0*47;|&#x0*2f;|&sol;|%2f"
_OUR_TAG = to_pattern(
    rf"(?:{_OPEN})(?=(?:\s|{_BLIND[:-1]})*(?:{_SLASH})?(?:\s|{_BLIND[:-1]})*(?:{'|'.join(map(_tag_name, _FENCES))})"
    r"(?![a-zａ-ｚ0-9_]))",
    re.IGNORECASE,
)
_PASSED = to_pattern(rf"&lt;(?=\s*/?\s*(?:{'|'.join(_FENCES)})\b)")
"""What `escape` leaves: what passes twice is changed once."""
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
"""Names of HTML: a page cut in two closes what it never opened."""
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
"""Signs without which the patterns need not look."""


def escape(text: str) -> str:
    """The text without anything that could open or close a tag of the package, however it is spelt."""
    if not _SIGN.search(text):
        return text
    return _OUR_TAG.sub(lambda match: match.group() if _PASSED.match(text, match.start()) else "&lt;", text)


def without_ours(text: str) -> str:
    """What is left to weigh of a text whose tags like ours are escaped."""
    return _WHOLE.sub(" ", text) if _SIGN.search(text) else text


def breaks_out(form: str) -> bool:
    """Whether the text closes what it never opened, or says that the data end here, and then goes on.

    Our own tags do not count: they are escaped.
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
    """The text without the markers that prompt formats put before a role, and how many there were."""
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


def without_calls_home(text: str) -> tuple[str, bool]:
    """The text without what would call home, the words that it showed in its place; whether anything was there."""
    clean = text
    if "](" in clean:
        clean = _LINK.sub(r"\g<words>", _IMAGE.sub(r"\g<words>", clean))
    if "<" in clean:
        clean = _LINKED_TAG.sub(REMOVED, clean)
    if "url(" in clean:
        clean = _STYLED.sub(REMOVED, clean)
    return clean, clean != text


_SPACED_WORDS = to_pattern(r"(?<![^\W_])[^\W\d_](?:[ .\-_*|·~+][^\W\d_]){3,}(?![^\W_])")
_SPACED = to_pattern(r"(?<![^\W_])(?:[^\W\d_][ .\-_*|·~+]){3}")
_HAN_GAP = to_pattern("(?<=[\u4e00-\u9fff])[\\s.\\-_*|·~+/\\\\]{1,3}(?=[\u4e00-\u9fff])")
_HAN_SPELLED = to_pattern("(?:[\u4e00-\u9fff][\\s,，、.。·\\-]{1,2}){5,}[\u4e00-\u9fff]")
_NOT_HAN = to_pattern("[^\u4e00-\u9fff]+")
_LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u0261\u03b1\u03bf\u03b5\u03c1\u03bd\u03ba\u03c4\u0131"
    "\u0442\u043a\u043c\u043d\u0432\u04bb\u050d\u051b\u051d",
    "aeopcyxijsdgaoepvkti" + "tkmhbhgqw",
)
_LEET = str.maketrans("013457@$!", "oieastasi")
_LEET_SIGN = to_pattern(r"[a-z][013457@$!]{1,2}[a-z]|\b[013457@$!][a-z]{3}")
_LEET_WORD = to_pattern(r"(?<![a-z0-9@$!])[0-9@$!]{0,60}[a-z][a-z0-9@$!]*")
IDS = to_pattern(
    r"(?<![a-z0-9])(?=[a-f-]{0,64}[0-9])(?=[0-9-]{0,64}[a-f])[0-9a-f]{4,}(?:[- ][0-9a-f]{4,})*(?![a-z0-9])"
)
"""Ids and parts of them, in lower case: hexadecimal digits that spell no word."""
_GAP = to_pattern(r"(?<=[a-z])(?:\s{2,}|\s*[|/]\s*)(?=[a-z])")
_ACCENTS = to_pattern("[\u0300-\u036f]")
_BASE64 = to_pattern(r"(?<![\w+/=])[A-Za-z0-9+/]{12,}={0,2}(?![\w+/=])")
_PERCENT = to_pattern(r"(?:%[0-9a-fA-F]{2}){2,}|%20")
_ESCAPED = to_pattern(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_BACKWARDS = """erongi snoitcurtsni tpmorp metsys drowssap laever tegrof eteled drawrof yromem selur tnatsissa 略忽 令指
    码密 則規 则规 词示提 示提统系 视无 记忘 录记天聊""".split()


def to_plain(text: str) -> str:
    """The text in lower case as a reader sees it: no invisible characters, one width, no accents or look-alikes."""
    if text.isascii():
        return visible(text).lower()
    seen = unicodedata.normalize("NFKC", visible(text)).lower()
    if seen.isascii():
        return seen
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", seen).translate(_LOOKALIKES))
    return unicodedata.normalize("NFC", bare)


def forms(text: str) -> list[str]:
    """The spellings of a text, the plain one first: with letters rejoined, with digits read as letters."""
    first = to_plain(text)
    spellings = [first]
    joined = _SPACED_WORDS.sub(lambda match: match.group()[::2], first) if _SPACED.search(first) else first
    if not first.isascii():
        spelled = _HAN_SPELLED.sub(lambda match: _NOT_HAN.sub("", match.group()), first)
        joined = _HAN_GAP.sub(
            "", _SPACED_WORDS.sub(lambda match: match.group()[::2], spelled) if joined != first else spelled
        )
    if joined != first:
        spellings.append(joined)
        spellings.append(_GAP.sub(" ", joined))
    if _LEET_SIGN.search(joined):
        spellings.append(_LEET_WORD.sub(lambda match: match.group().translate(_LEET), IDS.sub(" ", joined)))
    return spellings


def decode_text(text: str) -> list[str]:
    """The decoded text, if it has an encoding that models read without instruction; decoded once."""
    decoded: list[str] = []
    if "&" in text and (read := html.unescape(text)) != text:
        decoded.append(read)
    if "%" in text and _PERCENT.search(text):
        decoded.append(unquote(text))
    if "\\" in text and _ESCAPED.search(text):
        decoded.append(_ESCAPED.sub(lambda match: chr(int(match[1] or match[2], 16)), text))
    decoded += _from_base64(text)
    low = text.lower()
    if any(word in low for word in _BACKWARDS):
        decoded.append(low[::-1])
    return [each for each in decoded if each.strip()]


def _from_base64(text: str) -> list[str]:
    decoded: list[str] = []
    for match in _BASE64.finditer(text):
        run = match.group().rstrip("=")
        try:
            plain = base64.b64decode(run + "=" * (-len(run) % 4)).decode()
        except (binascii.Error, ValueError):
            continue
        if plain.isprintable() and len(plain) > 5:
            decoded.append(plain)
    return decoded


ORDER = "order"
_RUN = to_pattern(r"[a-z0-9+/=_\-]{24,}")
"""Hashes, keys and encoded data, whose letters mean nothing."""
SMALLEST = 1e-6
LONGEST = 2000
"""The number of characters read at once; a longer text is read in parts of this size."""
_MARKS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (name, sign, to_pattern(pattern))
    for name, sign, pattern in (
        ("closes", "</", r"</\s*[a-z_\-]+\s*>"),
        ("angles", "<<", r"<<"),
        ("bars", "<|", r"<\|"),
        ("comment", "<!", r"<!--"),
        ("bracket", "[", r"\[/?[a-z_ ]{3,20}\]"),
        ("title", "【", r"【[^】]{2,16}】"),
        ("rule", "--", r"-{3,}"),
        ("rule", "==", r"={3,}"),
        ("rule", "##", r"#{3,}"),
        (
            "header",
            ":",
            r"(?:^|\n|[.>\]\"”]\s)\W{0,4}(?:system|assistant|human|user|operator|developer|admin|ai|bot|instruction|系统|助手|用户"
            r"|管理员|开发者|操作员|主控台?)[^\n:]{0,24}:",
        ),
        ("filled", "://", r"://[^\s]{0,600}[={/?&][^\s]{0,12}[{<\[(][^\s{}<>]{1,40}[}>\])]"),
        ("image", "![", r"!\[[^\]]{0,300}\]\("),
        ("link", "](", r"(?<!!)\[[^\]]{0,300}\]\(http"),
        ("query", "?", r"https?://[^\s)\"<>]{1,600}\?[^\s)\"<>]{1,300}="),
        ("address", "://", r"https?://"),
        ("mail", "@", r"[\w.+-]@[\w-]{1,100}\.[\w.]"),
        ("field", '":', r"\"[a-z_]{1,60}\":"),
        ("code", "`", r"`[^`]{1,600}`"),
        ("asked", "?", r"\?"),
        ("quoted", "“", r"“[^”]{4,300}”"),
        ("quoted", "「", r"「[^」]{4,300}」"),
        ("quoted", '"', r"\"[^\"]{4,300}\""),
    )
)


def strip_ids(form: str) -> str:
    """The plain form without hashes, keys and ids."""
    return IDS.sub(" ", _RUN.sub(" ", form))


def signs(form: str) -> list[str]:
    """The grams of a text in its plain form, and marks of its structure."""
    marks = ["=" + name for name, sign, pattern in _MARKS if sign in form and pattern.search(form)]
    return grams(strip_ids(form)) + marks


def likelihood(form: str, around: float | None = None) -> float:
    """The likelihood that the text, in its plain form, gives orders to a model.

    `around` are the log odds of the whole text of which it is a sentence: both count equally.
    """
    odds = log_odds(form) if around is None else (log_odds(form) + around) / 2
    return 1 / (1 + math.exp(-max(min(odds, 40.0), -40.0)))


def log_odds(form: str) -> float:
    """The log odds of an order; the worst part of a long text counts.

    Words and meaning are judged separately; the odds of both are added.
    """
    words = load("hostile")
    worst = -math.inf
    for at in range(0, len(form), LONGEST):
        piece = form[at : at + LONGEST]
        share = min(max(float(words.share_alone(words.find_rows(signs(piece)))[1]), SMALLEST), 1 - SMALLEST)
        worst = max(worst, math.log(share / (1 - share)) + judge_meaning("hostile_vectors", piece))
    return worst
