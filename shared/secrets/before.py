"""A value in front of the word for it: `4471 is the gate code`, `hunter22 是我的密码`."""

import re
from collections.abc import Iterator

from shared.language.patterns import to_pattern
from shared.secrets.gap import Gap
from shared.secrets.values import look, look_alike
from shared.secrets.weigh import admits

BACK = 90
"""The distance in front of its name within which a value is searched."""
_WHOSE = r"(?:my|our|your|his|her|their|the|its|it's|a|[A-Za-z]{2,14}['’]s)"
_LATIN = to_pattern(
    rf"(?:['’]?s?\s+(?:(?:in(?:to)?|for|on) (?:the |my |our )?\w{{2,15}}\s+)?(?:is|was|as|=|are)\s+|\s*(?:<-+|←|⬅|👈|"
    rf"=|—|(?:–|-{{1,2}})(?=\s)|\(|（)\s*(?:(?:that|this|"
    rf"it)(?:['’]?s| is| was| being)\s+)?"
    rf"|\s+still\s+|[\s,，.。;\n]+(?:that|this|it)(?:['’]?s| is| was| being)\s+|\s+(?:opens|unlocks|disarms|works "
    rf"(?:on|for)|gets? (?:you|her|him|them) (?:into|through)|to (?:open|unlock|disarm)|will (?:open|unlock))\s+)"
    rf"(?:(?:still|now|currently|also|just|actually|again|already)\s+)?(?:(?:what|which) (?:i|we) (?:set|used?) "
    rf"(?:as|for)\s+)?(?:{_WHOSE}\s+)?(?:(?!(?:not|no|what|a|an)\b)[A-Za-z][\w'’-]{{0,15}}\s+){{0,4}}$",
    re.I,
)
_HAN = to_pattern(
    r"\s*[\"'”’」]?\s*[，,。\n—-]*\s*(?:[（(]|(?:这个|这串|这|那个|那串|上面(?:那个|这个|那串|那行|的)?|前面(?:那个|"
    r"的)?|以上)?(?:就|也|还|都|才)?(?:是|当成?|作为|做|作|用作|用来当|设成|设为|为|属于|这个|这串)了?)"
    r"\s*[\u3400-\u9fffA-Za-z0-9 ]{0,14}?\s?$"
)
_ASKED = to_pattern(
    r"什么|啥|哪|吗|最|弱|常见|不是|没|错|谁的?|多少|太|a (?:weak|bad|good|strong|common)|weakest|worst|most", re.I
)
_USED = to_pattern(
    r"(?:\b(?:use|enter|type|punch(?: in)?|key in|press|dial|input|tap(?: in)?|hit)\s+|[按输摁敲](?:入|一下|个)?\s?)"
    r"(?P<value>[#*]?\d(?:[ -]?\d){3,7}[#*]?)(?![\w.])[^\d\n.;。]{0,30}$",
    re.I,
)
_CANDIDATE = to_pattern(r"\d|[A-Za-z][@#$%^&*_+!~]")
_SENT = to_pattern(
    r"(?:sent|texted|got|gave|received|收到了?|来了|发来了?|是|^|[】\]:：])\s*(?:me |us )?(?P<value>\d{4,8}|\d{3} "
    r"\d{3})\s*"
    r"(?:to\s+|[，,（(]\s*(?:登录|登陆|短信|支付)?)$",
    re.I,
)
_LAST = to_pattern(
    r"(?:\d{2,8}(?:[ -]\d{2,8}){1,5}|[^\s\"'“”‘’「」『』【】，。；：、（）()\u3400-\u9fff]{3,64})[\"'”’」』]?$"
)


def find_before(text: str, name: re.Match[str], sort: str) -> Iterator[tuple[int, int, bool]]:
    """The value in front of the name, if the words between connect them, and whether it is weak."""
    if sort == "lock" and (used := _USED.search(text, max(0, name.start() - 60), name.start())):
        yield used.start("value"), used.end("value"), True
        return
    if sort in ("login", "code") and (sent := _SENT.search(text, max(0, name.start() - 40), name.start())):
        if not _ASKED.search(sent.group()) and not re.fullmatch(r"(?:19|20)\d\d", sent["value"]):
            yield sent.start("value"), sent.end("value"), True
        return
    floor = max(0, name.start() - BACK)
    before = text[floor : name.start()]
    if not _CANDIDATE.search(before):
        return
    link = _tail(before)
    if link is None or _ASKED.search(link.group()):
        return
    if link.group().lstrip()[:1] in ("(", "（") and not re.match(r"\s?[)）]", text[name.end() : name.end() + 2]):
        return
    value = _LAST.search(before, 0, link.start())
    if value is None:
        return
    start, end = value.span()
    while end > start and before[end - 1] in "\"'”’」』.,;:?":
        end -= 1
    while start < end and before[start] in "*`([{<":
        start += 1
    start, end = _inner(before, start, end)
    value_text = before[start:end]
    seen = look(value_text)
    if seen == "signed" and not re.search(r"[A-Za-z][@#$%^&*_+!~]+[A-Za-z]", value_text):
        return
    if seen is None or seen == "word" or (look_alike(value_text) and seen != "digits"):
        return
    if (
        sort == "lock"
        and not (seen == "digits" and link.re is _HAN)
        and not re.search(r"\b(?:open|unlock|disarm|get|works)", link.group(), re.I)
    ):
        return
    gap = Gap(linked=True, direct=True)
    if seen == "digits" and (
        re.fullmatch(r"(?:19|20)\d\d", value_text)
        or sum(c.isdigit() for c in value_text) < 4
        or is_owned(before[:start])
    ):
        return
    if admits("code" if sort == "lock" else sort, value_text, gap, before + " ", end):
        yield floor + start, floor + end, seen != "mixed" or len(value_text) < 8


def _tail(before: str) -> re.Match[str] | None:
    """The shortest connection that ends where the name begins."""
    best: re.Match[str] | None = None
    for pattern in (_LATIN, _HAN):
        if (match := pattern.search(before)) and (best is None or match.start() > best.start()):
            best = match
    return best


def _inner(before: str, start: int, end: int) -> tuple[int, int]:
    """Without the prefix letter and dash of some codes."""
    shown = re.fullmatch(r"[A-Z]-(\d{4,8})", before[start:end])
    return (start + 2, end) if shown else (start, end)


def is_owned(before: str) -> bool:
    return bool(
        re.search(
            r"(?:第|room|flight|page|order|error|port|号|#|version|section|in|since|chapter|line)\s*$", before, re.I
        )
    )


_CAME = to_pattern(
    r"(?:发来|收到|来了|发我|texted|sent|came|got)[^\n\d]{0,24}?(?<![\d.,$¥])"
    r"(?P<value>\d{4,8}|\d{2,4} \d{2,4}(?: \d{2,4})?)(?![\d.%]|,\d)"
    r"(?=\s*[,，.。!！;；—-][^\n\d]{0,24}?(?:填|输|快|赶紧|马上|type|enter|put it|punch|hurry|quick|before it))",
    re.I,
)


def find_unnamed_codes(text: str) -> Iterator[tuple[int, int]]:
    """A code that has just arrived and is to be entered, without a name."""
    for match in _CAME.finditer(text):
        if not re.fullmatch(r"(?:19|20)\d\d", match["value"]):
            yield match.span("value")
