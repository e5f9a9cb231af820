"""Of whom or of what a text speaks, by names: a project, an order, a person, a client. What is of one is not of another.

Names are told by how they stand: before a title (王总, Dr. Ngo), before what they own (Li's order, 小李的订单), before or
behind a word for such a thing (project Atlas, 海棠项目), as a number of it (order 311), or by their letters.
"""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from shared.cache import of_texts
from shared.extraction.entities import mentions
from shared.extraction.model import MessageText
from shared.language.names import labels
from shared.language.patterns import to_pattern
from shared.language.segment import stem

MOST_READ = 300
_SURNAME = "张王李刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪任姜范谭廖邹陆郝孔崔邱秦史顾侯邵孟万段钱汤尹黎易常武乔贺赖龚"
_TITLED = to_pattern(
    rf"(?P<zh>[{_SURNAME}](?:总(?!是|会|算|共|体|结|的来)|姐|哥|工(?!作|程|资)|老师|经理|先生|女士|医生|大夫|教授|主任|叔叔?|阿姨|同学|律师|师傅|老板|局|院长|校长|队长|教练))"
    rf"|(?<![\u4e00-\u9fff])(?P<near>[小老][{_SURNAME}])(?![\u4e00-\u9fff]?(?:猫|狗|历))|(?<=[给跟和与对向找问把被让])(?P<to>[小老][{_SURNAME}])"
    r"|\b(?:Mr|Mrs|Ms|Dr|Prof)\.? (?P<en>[A-Z][\w'’-]+)"
)
_THINGS_EN = "project|account|site|order|client|customer|contract|app|job|repo|campaign|deal|tender|novel|book|thesis|kitchen|bathroom"
_OF_THING_EN = to_pattern(
    rf"\b(?P<name>[A-Z][\w&-]*(?: [A-Z][\w&-]*)?) (?P<thing>{_THINGS_EN})s?\b|\b(?P<thing2>[Pp]roject|[Cc]lient|[Aa]ccount|[Cc]ustomer|[Tt]eam|[Cc]ampaign) (?P<name2>[A-Z][\w&-]*)"
)
_OWNER_EN = to_pattern(r"\b(?P<name>[A-Z][a-z][\w-]*)['’]s (?!(?:not|a|an|the|been|going|got|in|on|at)\b)")
_THINGS_ZH = "项目|工程|客户|订单|单子|合同|工地|标书"
_OF_THING_ZH = to_pattern(
    rf"(?:^|[，,。；\s在把给对从跟和的我们])(?P<name>[A-Za-z][\w-]*|[\u4e00-\u9fff]{{2,3}}?)(?:那个|这个|的那个|的)?(?P<thing>{_THINGS_ZH})(?!经理|管理|进度|组|负责)"
    r"|(?:^|[，,。；\s])(?P<name2>[A-Za-z][\w-]*|[\u4e00-\u9fff]{2,3}?)那(?:边|单|套)"
)
_NOT_NAMES_ZH = to_pattern(
    r"我|你|他|她|它|这|那|哪|什么|怎么|个|新|旧|老(?:的|家)|其他|另外|当前|整个|每|所有|上[个次周月]|下[个次周月]|本期|今天|明天|现在|已经|关于|做|去|来|是|有|用|了|在|给|一|两|三|几|公司|部门|学校"
)
_NOT_NAMES_EN = frozenset(
    ["i", "the", "this", "that", "my", "our", "your", "his", "her", "its", "their", "a", "an", "new", "old", "which", "what", "whose", "where", "when", "who", "how", "any", "each", "every", "no", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "it", "he", "she", "there", "here", "let", "today", "everyone", "someone", "everybody", "world", "father", "mother"]
)  # fmt: skip
_OF_KIND = {"person": "named", "other": "named", "org": "named", "repo": "named"}
PEOPLE = frozenset({"person", "owner"})
OtherKind = Literal["person", "thing"]
_AT = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Scopes:
    """The names in a text, in small letters, by the kind of what they name; `named` are all that letters tell."""

    kinds: Mapping[str, frozenset[str]]
    named: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return self.named.union(*self.kinds.values())


@of_texts(2048)
def scopes(text: str) -> Scopes:
    """Of whom and of what the text speaks by name."""
    text = text[:MOST_READ]
    kinds: dict[str, set[str]] = {}
    for match in _TITLED.finditer(text):
        kinds.setdefault("person", set()).add(next(filter(None, match.groups())).lower())
    for match in _OWNER_EN.finditer(text):
        _add(kinds, "owner", match["name"])
    for match in _OF_THING_EN.finditer(text):
        _add(kinds, stem((match["thing"] or match["thing2"]).lower()), match["name"] or match["name2"])
    for match in _OF_THING_ZH.finditer(text):
        _add(kinds, match["thing"] or "thing", match["name"] or match["name2"])
    for kind, numbers in labels(text).numbers.items():
        kinds.setdefault(f"number of {kind}", set()).update(numbers)
    named = {
        each.name.lower().removesuffix("'s")
        for each in mentions(MessageText("user", text, None, 0, _AT))
        if each.kind in _OF_KIND and _is_name(each.name)
    }
    return Scopes({kind: frozenset(found) for kind, found in kinds.items()}, frozenset(named))


def _add(kinds: dict[str, set[str]], kind: str, name: str) -> None:
    if _is_name(name):
        kinds.setdefault(kind, set()).add(name.lower())


def _is_name(name: str) -> bool:
    if name[0].isascii():
        return name.split()[0].lower() not in _NOT_NAMES_EN
    return _NOT_NAMES_ZH.search(name) is None


def of_other_kind(question: str, text: str) -> OtherKind | None:
    """Whether the text names another of a kind of which the question names one, and none that the question names.

    Of several that a question names nothing is known.
    """
    asked, said = scopes(question), scopes(text)
    if not asked.kinds or len(asked.names) > 1 or names_any(text, asked.names):
        return None
    other = [kind for kind, names in asked.kinds.items() if kind in said.kinds and names.isdisjoint(said.kinds[kind])]
    if not other:
        return None
    return "person" if PEOPLE.issuperset(other) else "thing"


def names_any(text: str, names: frozenset[str]) -> bool:
    """Whether the text has one of the names."""
    low = text.lower()
    return any(_has(low, name) for name in names)


def _has(text: str, name: str) -> bool:
    return (
        name in text
        if not name.isascii()
        else re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None
    )
