"""Which roles of a life or a project a text speaks of, and which of them it says to be filled anew. Pure.

A role is what one thing or person at a time is for somebody: the phone, the landlord, the CI server. Who has got a new
one has the old one no longer, whatever both are called.
"""

# ruff: noqa: E501 - one family of words per line

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from shared.cache import of_texts
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.language.segment import STOPWORDS
from shared.resolution.parts import split_parts
from shared.resolution.roles_words import ROLES

_RUN = to_pattern(r"[a-z0-9][a-z0-9.'+-]*[a-z0-9+]|[a-z0-9]|[\u3400-\u9fff]+")
_LONGEST_EN, _LONGEST_ZH = 3, 6
_ADDS = to_pattern(
    r"\b(?:also|too|as well|second|besides|on top of|in addition|both|spare|side|part-?time|next to|still)\b|也|还(?!是|款)|又|另外|再|同时|除了|都|副业|兼职|备用|仍|照样"
)
"""Says that one stands beside another."""
_OTHERS = to_pattern(
    r"\b(?:he|she|they|his|her|their|(?:my|our) (?:mom|mum|mother|dad|father|parents|sister|brother|son|daughter|wife|husband|girlfriend|boyfriend|partner|friend|kid|aunt|uncle|cousin|grand\w+|ex|roommate|neighbou?r|colleague|in-laws?)\w*)\b"
    r"|[他她]|我?(?<!大)[爸妈哥弟姐妹爷奶]{1,2}|老[婆公爸妈]|媳妇|爱人|男友|女友|闺女|儿子|女儿|孩子|小孩|朋友|同事|室友|邻居|公婆|岳[父母]",
)


_REFILLED = to_pattern(
    r"\b(?:new|another|different) (?P<new>[a-z][a-z-]+(?: (?!in\b|to\b|as\b|for\b|is\b|at\b|on\b|from\b|of\b)[a-z]+)?)"
    r"|\b(?:switched|changed|changing|swapped|switching|moved) (?:my |our |the )?(?P<left>(?!to\b|in\b|from\b|back\b|minds?\b)[a-z]+)"
    r"|\b(?P<gone>(?!\w+ly\b|(?:i|we|they|just|have|has|minds?)\b)[a-z]+(?: (?!\w+ly\b)[a-z]+)?) (?:has |have |had |got |was |is |'s )?(?:changed|moved|retired|replaced|switched|quit)\b"
    r"|换了?(?:[个部台家份辆只]|一[个部台家份辆只])?新?(?P<got>[\u4e00-\u9fff]{1,4}?)(?:了|(?=[，,。！!\s]|$))"
    r"|(?P<held>(?![刚又也都才])[\u4e00-\u9fff]{1,6}?)(?:也|已经|最近|刚|都|又)?(?:换|迁)(?:成|为|了|人|地|到|给)"
    r"|(?P<quit>[\u4e00-\u9fff]{1,6}?)(?:已经|最近|刚|都)?(?:离职|退休|跳槽|下线|停用)"
    r"|新(?P<fresh>[\u4e00-\u9fff]{2,3}?)(?=[是叫姓，,])",
    re.I,
)
"""Names a role that another holds from now on: `new manager`, `switched gyms`, 房东换成."""


@dataclass(frozen=True, slots=True)
class RolesOfPart:
    """The roles that a part of a text names, those that it fills, whether it says that one is beside another, and who else it speaks of: `his`, my mom."""

    named: frozenset[str]
    filled: frozenset[str]
    adds: bool
    owners: frozenset[str]


@cache
def _roles_by_word() -> dict[str, tuple[tuple[str, bool], ...]]:
    """By word the roles that it tells of, and whether it names each; none of what only looks like one."""
    table: dict[str, dict[str, bool]] = {}
    for line in ROLES.strip("\n").splitlines():
        name, nouns, fills = (part.strip() for part in f"{line} | ".split(" | ")[:3])
        for words, names in ((nouns, True), (fills, False)):
            for word in filter(None, (word.strip() for word in words.split(", "))):
                roles = table.setdefault(word, {})
                if name:
                    roles[name] = names
    return {word: tuple(roles.items()) for word, roles in table.items()}


def _list_words(low: str) -> Iterator[str]:
    """The longest words of the table at each place of the text."""
    table = _roles_by_word()
    words: list[str] = []
    for run in _RUN.finditer(low):
        if run[0][0] < "\u3400":
            words.append(run[0])
            continue
        yield from _take_longest(words, table, _LONGEST_EN, " ")
        words = []
        yield from _take_longest(run[0], table, _LONGEST_ZH, "")
    yield from _take_longest(words, table, _LONGEST_EN, " ")


def _take_longest(run: Sequence[str], table: Container[str], longest: int, joint: str) -> Iterator[str]:
    at = 0
    while at < len(run):
        for length in range(min(longest, len(run) - at), 0, -1):
            word = joint.join(run[at : at + length])
            word = word if word in table else word.removesuffix("s")
            if word in table:
                yield word
                at += length
                break
        else:
            at += 1


@of_texts(4096)
def find_roles(text: str) -> tuple[RolesOfPart, ...]:
    """What each part of the text says of roles; parts that speak of none are left out."""
    return tuple(read for part in split_parts(text) if (read := _read_part(part)))


def _read_part(part: str) -> RolesOfPart | None:
    low = part.lower().replace("’", "'")
    spoken = [role for word in _list_words(low) for role in _roles_by_word()[word]]
    if not spoken:
        return None
    return RolesOfPart(
        frozenset(role for role, names in spoken if names),
        frozenset(role for role, _ in spoken),
        _ADDS.search(low) is not None,
        frozenset(_OTHERS.findall(low)),
    )


def find_others(text: str) -> frozenset[str]:
    """Who else than the speaker the text speaks of, as it calls them."""
    return frozenset(_OTHERS.findall(text.lower().replace("’", "'")))


def find_refilled(text: str) -> list[str]:
    """What the text says is held by another from now on, as its last word names it."""
    found = (next(filter(None, match.groups())) for match in _REFILLED.finditer(text))
    return [
        each if each.isascii() else segment.words(each)[-1] for each in found if not STOPWORDS.issuperset(each.split())
    ]


def refills_role(sentence: str, memory: str) -> bool:
    """Whether one text says that a role has another holder now, and the other who or what holds it."""
    roles = _find_roles_refilled(sentence)
    if not roles:
        return False
    owners = frozenset(each for part in find_roles(sentence) if roles & part.named for each in part.owners)
    return any(roles & old.filled and owners == old.owners for old in find_roles(memory))


def refills_another_role(sentence: str, memory: str) -> bool:
    """Whether one text says nothing but that a role has another holder, and the other does not speak of that role."""
    roles = _find_roles_refilled(sentence)
    return bool(roles) and len(split_parts(sentence)) == 1 and not any(roles & old.filled for old in find_roles(memory))


@of_texts(1024)
def _find_roles_refilled(sentence: str) -> frozenset[str]:
    nouns = find_refilled(sentence.lower())
    return frozenset(role for noun in nouns for part in find_roles(noun) for role in part.named)


def fill_one_role(sentence: str, memory: str) -> bool:
    """Whether both texts say who or what holds a role, and the one not that it is beside another."""
    return any(
        part.filled & old.filled and not part.adds and part.owners == old.owners
        for part in find_roles(sentence)
        for old in find_roles(memory)
    )
