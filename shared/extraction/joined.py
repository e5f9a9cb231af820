"""Two names of one person or thing where the text says so: 李明（Li Ming）, `Robert, everyone calls him Bob`."""

# ruff: noqa: E501 - one family of forms per line

import re
from collections.abc import Iterable
from dataclasses import replace

from shared.extraction import entities_words as words
from shared.extraction.keys import fold
from shared.extraction.model import Mention, MessageText
from shared.language.patterns import to_pattern

MAY = to_pattern(r"[叫喊名号称][^。]|[（(]|\bcalls?\b|known as|\bgoes by\b|\ba\.?k\.?a\b|nicknamed|\bshort for\b")
"""Without one of these nothing is said of a second name."""
_NAME = r"(?-i:[A-Z][\w'’-]*[a-z](?: [A-Z][\w'’-]*[a-z]){0,2})"
_END = r"(?=[\s，。,.;；:：！!?？）)”\"的]|$)"
_ZH_NAME = r"[\u4e00-\u9fff]{2,3}?"
_BESIDE_ZH = to_pattern(
    rf"[，,、\s]*(?:不过|但|其实)?(?:大家|我们|别人|同事们?|朋友们?|同学们?|家里人?|人家|所有人)?(?:都|一般|平时|通常|习惯|私下)*(?:叫|喊|称呼?|管)(?:他|她|它|ta)(?:作|做|叫)?\s*(?P<b>{_ZH_NAME}|{_NAME}){_END}"
    rf"|[，,、\s]*(?:他|她)?的?(?:又叫做?|也叫|小名|外号|绰号|昵称|花名|英文名字?|中文名字?)(?:是|叫|：|:)?\s*(?P<b2>{_ZH_NAME}|{_NAME}){_END}",
    re.I,
)
_BESIDE_EN = to_pattern(
    rf",? (?:but |and |though |who |whom )?(?:(?:everyone|everybody|we|people|folks|(?:my |our |his |her )?(?:friends|colleagues|family)|they|most people|the (?:whole )?team)(?: all| just| usually| always)? calls? (?:him |her |them )?|(?:is |was )?(?:also |better |usually )?(?:known as |nicknamed |a\.?k\.?a\.? )|goes by )(?P<b>{_NAME}){_END}",
    re.I,
)
_IN_BRACKETS = to_pattern(
    rf"\s?[（(](?:英文名|也叫|又叫|又名|中文名|aka |a\.k\.a\. |also |or )?\s*(?P<b>{_NAME}|[\u4e00-\u9fff]{{2,4}})[）)]",
    re.I,
)
_LAST_NAME = to_pattern(rf"{_NAME}$")
_LAST_HAN = to_pattern(r"[\u4e00-\u9fff]$")


def join(message: MessageText, found: Iterable[Mention]) -> list[Mention]:
    """The mentions, those that the message gives another name with it, and these names among them."""
    mentions = list(found)
    if not MAY.search(message.text):
        return mentions
    for form in (_BESIDE_ZH, _BESIDE_EN, _IN_BRACKETS):
        for match in form.finditer(message.text):
            name = "b" if match["b"] else "b2"
            first = _ending_at(message, mentions, match.start())
            if first and _may_join(first.name, match[name], bracketed=form is _IN_BRACKETS):
                mentions = join_names(mentions, first, _at(message, match[name], match.span(name)))
    return sorted(mentions, key=lambda one: one.span)


def _ending_at(message: MessageText, mentions: Iterable[Mention], end: int) -> Mention | None:
    """The name that stands right before this place: one that was found, else one by its capital letters."""
    named = [each for each in mentions if each.span[1] == end]
    if named:
        return max(named, key=lambda each: each.span[1] - each.span[0])
    match = _LAST_NAME.search(message.text[max(0, end - 60) : end])
    if match is None:
        return None
    parts = match.group().split()
    while parts and parts[0].lower() in words.COMMON:
        parts = parts[1:]
    name = " ".join(parts)
    return _at(message, name, (end - len(name), end)) if name else None


def _at(message: MessageText, name: str, span: tuple[int, int]) -> Mention:
    return Mention(name, "person", fold(name), span, message.ordinal)


def _may_join(one: str, other: str, *, bracketed: bool) -> bool:
    """Whether both may name one: in brackets one in each script, and no firm, place or product beside a person."""
    if (
        fold(one) == fold(other)
        or other.lower() in words.COMMON
        or words.PRODUCTS.match(other)
        or words.ORG.search(other)
    ):
        return False
    return not bracketed or bool(_LAST_HAN.search(one)) != bool(_LAST_HAN.search(other))


def join_names(mentions: list[Mention], first: Mention, other: Mention) -> list[Mention]:
    kept = [each for each in mentions if each.span not in (first.span, other.span)]
    known = next((each for each in mentions if each.span == other.span), other)
    return [*kept, replace(first, same_as=other.name), known]
