"""Selects the core memories that a message needs, and drops texts about others than it asks about.

Without being asked, a package carries how to address the user and to answer, dangers, and standing orders; everything
else competes as evidence. A question about a named person, project or order is not answered by texts about another
name; texts without names stay, and so do the words of that person. Texts about a relative are shown only if asked for.
Texts about the past are marked as outdated and come last.
"""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from schemas.memory_types import MEMORY_TYPES
from schemas.vocabulary import Intent
from services.compose.rules.candidates import Candidate, CoreMemory, RankedCandidate
from services.compose.rules.ranking.fuse import OF_BEST, FusionResult
from services.compose.rules.resolving.outdated import says_one_thing
from services.compose.rules.searching.nearness import compare_nearness
from shared.cache import of_texts
from shared.extraction.changes import tells_only_past
from shared.extraction.entities import find_mentions
from shared.extraction.keys import find_scope
from shared.extraction.model import MessageText
from shared.extraction.relatives import (
    asks_of_self,
    asks_own_health,
    names_limit_of_health,
    speaks_of_health,
    tells_of_relative,
)
from shared.language.names import labels
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms, stem

Need = Literal["address", "answers", "safety", "care", "order"]
KEYS: dict[str, Need] = {"profile:user:name": "address", "profile:user:call_me": "address"}
PREFIXES: dict[str, Need] = {
    "constraint:reply:call-": "address",
    "pref:writing:": "answers",
    "constraint:allergy:": "safety",
    "constraint:diet:": "safety",
}
ORDER: tuple[Need, ...] = ("address", "answers", "safety", "care", "order")
"""The order in a package."""
ADVICE: frozenset[Intent] = frozenset({"recommend", "task"})
"""Requests for advice, for which the user's health counts, whether it forbids anything or not."""
CONCERNS = 0.5
"""How near a standing order must be to the message: 1 is a paraphrase, 0 unrelated."""
_OF_MEMORY = frozenset(
    stem(word)
    for words in (
        "remember memory know learn tell say keep mind far everything preference profile like fact information note",
        "了解 记得 记住 记忆 知道 偏好 喜好 资料 信息 情况 我些 有些 所有 全部 介绍 核对",
    )
    for word in words.split()
)
"""Words of a question about all that is known, none of which names a topic."""


def find_need(memory: CoreMemory) -> Need | None:
    """Why the package carries the memory unasked, by key and type; None if it does not.

    What the user's health forbids is safety, their health itself is care. Other constraints, and wishes without a key,
    are standing orders; those about answering apply to every answer.
    """
    key = memory.category
    if key in KEYS:
        return KEYS[key]
    for start, need in PREFIXES.items():
        if key.startswith(start):
            return need
    if memory.type in ("constraint", "profile") and names_limit_of_health(memory.text):
        return "safety" if memory.type == "constraint" else "care"
    if memory.type == "constraint" or (memory.type == "preference" and key == memory.type):
        return "answers" if find_scope(memory.text) == "writing" else "order"
    return None


def asks_for_all(message: str, intent: Intent) -> bool:
    """Whether the message asks what is known of the user, and of nothing in particular."""
    return intent == "preference_check" and _OF_MEMORY.issuperset(query_terms(message))


def select_needed(core: Iterable[CoreMemory], intent: Intent, nearness: Callable[[str], float]) -> list[CoreMemory]:
    """The memories that a package carries unasked, in `ORDER`; `nearness` compares a text with the message."""

    def counts(need: Need, memory: CoreMemory) -> bool:
        match need:
            case "care":
                return intent in ADVICE
            case "order":
                return nearness(memory.text) >= CONCERNS
            case _:
                return True

    kept = [(need, memory) for memory in core if (need := find_need(memory)) and counts(need, memory)]
    return [memory for _, memory in sorted(kept, key=lambda each: (ORDER.index(each[0]), to_sort_key(each[1])))]


def to_sort_key(memory: CoreMemory) -> tuple[int, float, float, str]:
    """Sort key: the most identifying and most certain first."""
    place = MEMORY_TYPES[memory.type].core_order
    return (9 if place is None else place, -memory.confidence, -memory.updated_at.timestamp(), memory.memory_id)


OF_OTHER = "of_other"
ALIKE = 0.6
"""The nearness at which texts about different names say the same thing."""
SHORTEST_ALIAS = 3


def drop_others(fused: FusionResult, question: str) -> FusionResult:
    """The order without texts about others than the person or thing that the question names.

    For people, and where only spelling marks a name, only texts that state the same thing of another are dropped,
    because others may be involved. If the named person speaks themselves, all stay.
    """
    scope = find_scopes(question)
    people = frozenset(each.candidate.name.lower() for each in fused.ranked if each.candidate.name)
    if len(scope.names) != 1 or scope.names <= people:
        return fused
    single = [each for each in fused.ranked if not each.candidate.is_resource and says_one_thing(each.candidate.text)]
    about = [each.candidate for each in single if names_any(each.candidate.text, scope.names)]
    beside = frozenset[str]().union(*(find_scopes(each.text).named for each in about)) | people
    turns = {each.turn_id for each in about}

    def is_of_other(source: Candidate) -> bool:
        if source.turn_id in turns or names_any(source.text, scope.names):
            return False
        kind = find_other_kind(question, source.text)
        if kind is None and not _is_stranger(source.text, scope.names, beside):
            return False
        return kind == "thing" or any(compare_nearness(source.text, other.text) >= ALIKE for other in about)

    gone = {each.key for each in single if is_of_other(each.candidate)}
    if not gone or len(gone) == len(fused.ranked):
        return fused
    return fused.without(gone, "relevance", OF_OTHER)


def select_core_in_scope(core: Sequence[CoreMemory], question: str) -> list[CoreMemory]:
    """The core memories without orders about others than the named thing."""
    if not find_scopes(question).kinds:
        return list(core)
    return [each for each in core if find_need(each) != "order" or not find_other_kind(question, each.text)]


def _is_stranger(text: str, names: frozenset[str], beside: frozenset[str]) -> bool:
    """Whether the text names somebody or something not named together with the requested one."""
    others = find_scopes(text).named - beside
    return bool(others) and not any(_may_be_one(one, name) for one in others for name in names)


def _may_be_one(one: str, other: str) -> bool:
    """Whether one name may be short for the other."""
    return one[:SHORTEST_ALIAS] == other[:SHORTEST_ALIAS]


OF_RELATIVE = "of_relative"


def drop_relatives(fused: FusionResult, message: str, intent: Intent) -> FusionResult:
    """The order without texts about a relative, if the question is about the user and has an answer of theirs.

    A relative's illness is dropped in any case, and in small talk.
    """
    personal = intent == "preference_check" and asks_of_self(message)
    of_health = intent == "small_talk" or asks_own_health(message)
    if not (personal or of_health):
        return fused
    of_relative = [
        each for each in fused.ranked if not each.candidate.is_resource and tells_of_relative(each.candidate.text)
    ]
    keys = {each.key for each in of_relative}
    own = max((each.candidate.probability for each in fused.ranked if each.key not in keys), default=0.0)

    def misleads(each: RankedCandidate) -> bool:
        if of_health and speaks_of_health(each.candidate.text):
            return True
        return personal and own >= OF_BEST * each.candidate.probability

    return fused.without({each.key for each in of_relative if misleads(each)}, "relevance", OF_RELATIVE)


def mark_past(fused: FusionResult, *, past: bool) -> FusionResult:
    """The order with texts about the past marked as outdated, and last unless `past`."""
    marked = [_mark_candidate(each) for each in fused.ranked]
    if not past:
        marked.sort(key=lambda each: _is_past(each.candidate))
    return replace(fused, ranked=tuple(marked))


def drop_past(core: list[CoreMemory]) -> list[CoreMemory]:
    """The core memories without those about the past, which are evidence if asked for."""
    return [each for each in core if not tells_only_past(each.text)]


def _mark_candidate(ranked: RankedCandidate) -> RankedCandidate:
    if not _is_past(ranked.candidate):
        return ranked
    return replace(ranked, candidate=replace(ranked.candidate, epistemic="outdated"))


def _is_past(candidate: Candidate) -> bool:
    return not candidate.is_resource and candidate.role != "assistant" and tells_only_past(candidate.text)


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
    """The names in a text, in small letters, by the kind of thing that they name; `named` are known by spelling alone."""

    kinds: Mapping[str, frozenset[str]]
    named: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """All of them."""
        return self.named.union(*self.kinds.values())


@of_texts(2048)
def find_scopes(text: str) -> Scopes:
    """The people and things that the text names."""
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
        for each in find_mentions(MessageText("user", text, None, 0, _AT))
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


def find_other_kind(question: str, text: str) -> OtherKind | None:
    """The kind of which the text names another than the question does; None if it names one that the question names.

    Nothing is known if the question names several.
    """
    asked, said = find_scopes(question), find_scopes(text)
    if not asked.kinds or len(asked.names) > 1 or names_any(text, asked.names):
        return None
    other = [kind for kind, names in asked.kinds.items() if kind in said.kinds and names.isdisjoint(said.kinds[kind])]
    if not other:
        return None
    return "person" if PEOPLE.issuperset(other) else "thing"


def names_any(text: str, names: frozenset[str]) -> bool:
    """Whether the text contains one of the names."""
    low = text.lower()
    return any(_has(low, name) for name in names)


def _has(text: str, name: str) -> bool:
    return (
        name in text
        if not name.isascii()
        else re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) is not None
    )
