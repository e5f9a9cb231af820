"""What the user asks to be forgotten: `forget that I ...`, `忘掉我……这件事`; a question about it asks for nothing."""

# ruff: noqa: E501 - one family of words per line

import re
from dataclasses import dataclass

from shared.extraction.clauses import blank
from shared.extraction.gates import gate, mask
from shared.language.patterns import to_pattern

_PLEASE_ZH = r"(?:(?:好的?|那|请你?|麻烦你?|帮我|你|就|算了|对了)[，, ]?){0,6}"
_ZH = to_pattern(
    rf"(?:(?:^|[。！？!?；;\n])\s*{_PLEASE_ZH}(?P<verb>忘记|忘了|忘)"
    rf"|(?:^|[。！？!?；;\n，,])\s*{_PLEASE_ZH}(?P<verb2>忘掉|(?:别|不要|不用|不必)再?(?:记得|记着|记住|记)))"
    r"(?:吧)?[:： ]*(?P<body>(?:关于)?我[^。！？!?；;\n，,]*)(?P<end>[?？]?)"
)
_EN = to_pattern(
    r"(?:^|[.!?;\n]\s*|,\s*)(?:(?:ok|okay|please|pls|just|actually|so|and|now|no|(?:can|could|would|will) (?:you|u))[, ]{1,3}){0,6}"
    r"(?P<verb>forget|unlearn|stop remembering)\s+(?:about\s+)?(?:the fact\s+)?(?:that\s+)?"
    r"(?P<body>(?:(?:everything|anything|what(?:ever)?)\s+)?(?:I|I'm|I've|my)\b[^.!?;\n]*)(?P<end>\??)",
    re.IGNORECASE,
)
_ABOUT_ZH = to_pattern(
    r"^(?:关于)?我(?:刚才|刚刚|之前|上次|以前)?(?:说|提|讲)(?:过|到)?的?(?:关于)?(?P<what>[^我]{1,18})$"
)
_ABOUT_EN = to_pattern(
    r"^(?:everything|anything|what(?:ever)?) I(?:'ve)? (?:just |ever )?(?:said|told you|mentioned)"
    r" about (?P<what>.{1,40}?)(?: please| pls)?$",
    re.IGNORECASE,
)
_SAYING = to_pattern(
    r"^我(?:刚才|刚刚|之前|上次|以前)?(?:说|提|讲)过?的?(?=我)"
    r"|^I(?:'ve)? (?:just |ever )?(?:said|told you|mentioned)(?: that)? (?=I|my\b)",
    re.IGNORECASE,
)
_TAIL = to_pattern(
    r"(?:这件事情?|这回事|这事|这个|这一?点|的(?:事情?|信息|说法|记录)|了|吧|哦| please| now| ever)+$", re.IGNORECASE
)
_ASKED = to_pattern(r"(?:吗|么|没有|没|呢)$")
_FORGETS = gate(to_pattern(r"忘|[别要用必]再?记"), to_pattern(r"forget|unlearn|stop remembering", re.IGNORECASE))


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What is to be forgotten and where it is said: a statement, or what was said about a thing; `label` says so."""

    text: str
    about: str | None
    label: str
    start: int
    end: int


def find(text: str) -> list[Forgotten]:
    """Every request to forget that the text makes, in order."""
    if not mask(text) & _FORGETS:
        return []
    spoken = blank(text)
    chinese = [each for match in _ZH.finditer(spoken) if (each := _of(match, "忘掉："))]
    english = [each for match in _EN.finditer(spoken) if (each := _of(match, "forget: "))]
    return sorted([*chinese, *english], key=lambda each: each.start)


def _of(match: re.Match[str], label: str) -> Forgotten | None:
    body = match["body"].rstrip()
    if match["end"] or _ASKED.search(body):
        return None
    start = match.start("verb") if match["verb"] else match.start("verb2")
    said = _TAIL.sub("", body).strip()
    about = _ABOUT_ZH.match(said) or _ABOUT_EN.match(said)
    said = _SAYING.sub("", said.removeprefix("关于"))
    return Forgotten(said, about["what"].strip() if about else None, label, start, match.start("body") + len(body))
