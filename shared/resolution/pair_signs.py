"""What a memory and a statement say together, as signs that one may end the other. Pure.

The learned relation of the two sentences is one sign of many. Others are whether they are near in meaning, whether the
new one speaks of a change or of a beginning, whether it has another value of a sort that the memory has, and whose fact
each is.
"""

# ruff: noqa: E501 - one family of words per line

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.cache import of_texts
from shared.classifiers.judges import to_log_odds
from shared.classifiers.static_encoder import load_static_encoder
from shared.domain.statements import AMENDS, MAY_AMEND, SUSPECTED, ActiveMemory, Statement
from shared.extraction.changes import find_ended_things
from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.extraction.keys import fold
from shared.extraction.learned import read
from shared.extraction.relatives import tells_of_relative
from shared.extraction.slots import find_facts
from shared.extraction.values import like, values
from shared.language.patterns import to_pattern
from shared.language.segment import STOPWORDS, query_terms
from shared.resolution.parts import is_parallel, split_parts
from shared.resolution.plain_endings import (
    are_numbered_apart,
    does_otherwise,
    find_returned_to,
    names_before,
    says_over,
)
from shared.resolution.related import SentenceRelation, about
from shared.resolution.roles import fill_one_role, find_refilled, refills_another_role, refills_role

Numbers = NDArray[np.float32]
TYPES = ("profile", "preference", "constraint", "goal", "task", "event", "decision", "pattern", "case", "note")
"""Types that are told apart."""
SIGNS = (
    "ends",
    "same",
    "both",
    "near",
    "of_old",
    "of_new",
    "changes",
    "begins",
    "denies",
    "adds",
    "other_value",
    "other_values",
    "one_type",
    "one_sort",
    "changed",
    "corrects",
    "retracts",
    "relative",
    "length",
    "momentary",
    "near_and_changes",
    "shares_and_denies",
    "value_and_changes",
    "chinese",
    "exchanges",
    "exchanges_named",
    "exchanges_near",
    "puts_right",
    "other_amount",
    "amount_and_changes",
    "subject",
    "again",
    "fills_anew",
    "parallel",
    "another_role",
    "refills",
    "one_role",
    "numbered_apart",
    "over",
    "otherwise",
    "as_before",
    "returns",
    "by_chance",
    "suspected",
    "amends",
    "may_amend",
    "directive",
    "keyed",
    "nearest_parts",
    "nearest_part",
    "parts",
    "length_new",
    "length_old",
    *(f"old_{name}" for name in TYPES),
    *(f"new_{name}" for name in TYPES),
    "nearest",
    "shares_most",
    "role_nearest",
)
"""What is told of a memory and a statement, in the order of the weights."""
MOST_PARTS = 8
"""So many parts of a sentence are compared with those of another."""
USUAL = {"near": 1.0, "of_old": 0.0, "exchanges_near": 0.4}
"""How near, and how much they share, two texts that are apart often are."""
TOLD = frozenset({"profile", "event"})
"""Types of what is or happened, beside what is wanted, liked or decided."""
_CHANGES = to_pattern(
    r"\b(?:now|instead|changed?|changing|switch\w*|swapp?\w*|replac\w+|moved?|moving|no longer|any ?more|quit|left|stopp?\w*|gave up|given up"
    r"|gone|back (?:to|in|on|at)|after all|ended up|turns? out|from now on|these days|went with|going with|cancell?\w*|scrap\w*|called off"
    r"|sold|ditched|dropped|done with|over with|finally|rather than|used to|became|got rid|off the table|broke up|retired|resigned)\b"
    r"|现在|如今|改|换|搬|不再|不用|不想|不打算|已经|终于|其实|原来|回|退|取消|算了|停|卖|辞|离职|跳槽|分手|戒|别再|以后|这阵子|最近|结果|还是|变|不.{0,6}了|没.{0,4}了|了$",
)
_BEGINS = to_pattern(
    r"\b(?:start\w*|began|begin\w*|joined|signed up|picked up|taken up|took up|got a new|adopted|newly?|just got|trying)\b|开始|新|刚|报了|买了|养了|入手|加入"
)
_ADDS = to_pattern(
    r"\b(?:also|too|as well|another|besides|on top of|plus|both|still|in addition)\b|也|还(?!是)|又|另外|再加|同时|除了|都|照样|仍|依然"
)
_DENIES = to_pattern(
    r"\b(?:not|no|never|none|without|isn'?t|aren'?t|don'?t|doesn'?t|didn'?t|won'?t|can'?t|wasn'?t|nope)\b|n['’]t\b|不|没|别|无"
)
_MOMENTARY = to_pattern(
    r"\b(?:today|tonight|this (?:time|once|week)|just (?:this|for)|for now|once)\b|今天|今晚|这次|这回|就一次|暂时|先"
)
_PUTS_RIGHT = to_pattern(
    r"\b(?:like|as) i (?:said|told)\b|\bi (?:told you|gave you|kept? saying|keep saying|thought|misspoke|misremembered|had (?:it|the|that|them|my)\b.{0,30}(?:wrong|mixed|in my head|backwards))"
    r"|\byou(?:['’]ve| have)(?: still)?(?: got)? (?:me|us|him|her|it|that) (?:down|listed|saved|noted)\b"
    r"|\bgot (?:that |it |this )?wrong\b|\bput (?:this|that|it) straight\b|\bmixed (?:it |them |that )?up\b|\bcorrection\b"
    r"|(?:之前|刚才|上次|前面)(?:跟你|和你)?[说讲]|跟你[说讲]的|你(?:那儿?|这边?|那边)?(?:还)?[记存写]的|[记弄搞说看][错岔混反]|瞎[记说]|更正|纠正|一直.{0,4}说|说成|才发现|才知道|压根",
    re.I,
)
"""Says that something was told wrong before, or is otherwise than was thought."""
_AGAIN = to_pattern(r"\bagain\b|\bback (?:to|in|on|at|with)\b|\bafter all\b|又|还是|重新|[换改搬喝用回]回", re.I)
_AMOUNT = to_pattern(
    r"(?P<before>[a-z]+|[\u4e00-\u9fff]{2})?(?: (?:is|at|of)?|[是:：])? ?(?P<number>\d[\d.,:]*\d|\d|[一二两三四五六七八九十百千万半]+)"
    r"(?: ?(?P<unit>[\u4e00-\u9fff]|[a-z]{1,3}|%))?",
)


def fills_anew(old: ActiveMemory, slots: Mapping[str, str]) -> bool:
    """Whether the slots that a sentence fills have another value in the one that the memory is kept under."""
    value = old.value.get("value")
    return old.key is not None and old.key in slots and isinstance(value, str) and fold(value) != slots[old.key]


def find_slots_filled(sentence: str) -> Mapping[str, str]:
    """What the sentence says of the slots of its speaker, by key."""
    return _sentence(sentence).slots


def meet_by_chance(old: ActiveMemory, new: Statement, quote: str) -> bool:
    """Whether they share no more than a place, a day or a number: who moves to a city has not changed what is done
    there.

    What somebody is or what happened, which says nothing of what is wanted or decided, need not even share that.
    """
    after, before = about(quote), about(old.text)
    if new.retracts or not after.topics.isdisjoint(before.topics):
        return False
    if new.type in TOLD and old.type not in TOLD:
        return True
    says_more = _sentence(quote).puts_right or _sentence(quote).again or find_ended_things(quote)
    return not says_more and not after.terms.isdisjoint(before.terms)


@dataclass(frozen=True, slots=True)
class _Sentence:
    vector: Numbers
    changed: float
    changes: int
    begins: int
    adds: int
    denies: int
    momentary: int
    relative: bool
    slots: Mapping[str, str]
    """What it says of the slots of its speaker, by key."""
    roles: tuple[str, ...]
    """What another holds from now on."""
    amounts: Mapping[str, frozenset[str]]
    """The numbers by what is counted or measured."""
    puts_right: bool
    again: bool
    subject: list[str]
    """The first term that carries it."""
    parts: Numbers
    """The vectors of what stands between its commas."""
    returned: tuple[str, ...]
    """What it goes back to."""
    values: list[str]


@of_texts(1024)
def _sentence(text: str) -> _Sentence:
    low = text.lower()
    clauses = split(text)
    verdicts = read(clauses)
    told = zip(clauses, stances(clauses), strict=True)
    facts = [fact for clause, stance in told for fact in find_facts(clause, stance)]
    return _Sentence(
        load_static_encoder().encode(text),
        max((to_log_odds(verdict.changed) for verdict in verdicts), default=-3.0),
        len(_CHANGES.findall(low)),
        len(_BEGINS.findall(low)),
        len(_ADDS.findall(low)),
        len(_DENIES.findall(low)),
        len(_MOMENTARY.findall(low)),
        tells_of_relative(text),
        {fact.key: fold(str(fact.value["value"])) for fact in facts if fact.key},
        tuple(find_refilled(low)),
        find_amounts(low),
        _PUTS_RIGHT.search(text) is not None,
        _AGAIN.search(text) is not None,
        query_terms(text, 1),
        np.stack([load_static_encoder().encode(part) for part in split_parts(text)[:MOST_PARTS] or [text]]),
        find_returned_to(text),
        values(text),
    )


def find_amounts(text: str) -> dict[str, frozenset[str]]:
    """The numbers of the text by the unit behind each and the word before it."""
    amounts: dict[str, set[str]] = {}
    for match in _AMOUNT.finditer(text):
        for name in {f"#{match['unit']}", match["before"]} - {"#None", None, *STOPWORDS}:
            amounts.setdefault(name, set()).add(match["number"])
    return {name: frozenset(numbers) for name, numbers in amounts.items()}


def _nears_role(old: str, roles: Sequence[str]) -> tuple[float, float]:
    """Whether the text names one of the roles, and how near to one of them in meaning a part of it comes."""
    if not roles:
        return 0.0, 0.0
    terms, encode = about(old).terms, load_static_encoder().encode
    named = any(terms & about(role).terms for role in roles)
    parts = split_parts(old) or [old]
    return float(named), max(float(encode(role) @ encode(part)) for role in roles for part in parts)


def count_signs(
    near: Sequence[ActiveMemory], new: Statement, quote: str, relations: Sequence[SentenceRelation]
) -> list[list[float]]:
    """The signs of each memory and the statement, each of the order of one: it ends what it is nearest to."""
    found = [_count_signs(old, new, quote, relation) for old, relation in zip(near, relations, strict=True)]
    lead = [_leads([signs[SIGNS.index(name)] for signs in found], usual) for name, usual in USUAL.items()]
    return [[*signs, *leads] for signs, *leads in zip(found, *lead, strict=True)]


def _leads(numbers: Sequence[float], usual: float) -> list[float]:
    """By how much each is more than the largest of the others, and than what is usual of things that are apart."""
    if not numbers:
        return []
    most, second = sorted((*numbers, usual), reverse=True)[:2]
    return [each - (second if each == most else most) for each in numbers]


def _count_signs(old: ActiveMemory, new: Statement, quote: str, relation: SentenceRelation) -> list[float]:
    was, said = _sentence(old.text), _sentence(quote)
    before, after = about(old.text), about(quote)
    shared = before.terms & after.terms
    near = float(was.vector @ said.vector) / max(1e-6, float(np.linalg.norm(was.vector) * np.linalg.norm(said.vector)))
    other = [value for value in said.values if like(old.text, value)]
    of_old = len(shared) / max(1, len(before.terms))
    changes = min(2, said.changes)
    named, role = _nears_role(old.text, said.roles)
    amounts = [said.amounts[each].isdisjoint(was.amounts[each]) for each in said.amounts.keys() & was.amounts.keys()]
    amount = float(bool(amounts) and all(amounts))
    return [
        to_log_odds(relation.ends),
        to_log_odds(relation.same),
        to_log_odds(relation.both),
        near * 4,
        of_old * 2,
        2 * len(shared) / max(1, len(after.terms)),
        changes,
        min(2, said.begins),
        min(2, abs(min(2, said.denies) - min(2, was.denies))),
        min(2, said.adds),
        float(bool(other)),
        float(len(other) > 1),
        float(old.type == new.type),
        float(bool(before.sorts & after.sorts)),
        said.changed,
        float(new.assertion == "correction"),
        float(new.retracts),
        float(was.relative != said.relative),
        math.log1p(len(after.terms)),
        min(2, said.momentary),
        near * changes,
        of_old * min(2, said.denies) * 2,
        float(bool(other)) * changes,
        float(not quote.isascii()),
        float(bool(said.roles)),
        named,
        role * 4,
        float(said.puts_right),
        amount,
        amount * changes,
        float(said.subject == was.subject),
        float(said.again),
        *_count_plain_signs(old, new, quote),
    ]


def _count_plain_signs(old: ActiveMemory, new: Statement, quote: str) -> list[float]:
    """What words plainly say: who holds a role, what is over or as it was before, and what kind of statement it is."""
    earlier, later, text = _sentence(old.text), _sentence(quote), old.text
    alike = earlier.parts @ later.parts.T
    return [
        float(fills_anew(old, later.slots)),
        float(is_parallel(text, new.text)),
        float(refills_another_role(quote, text)),
        float(refills_role(quote, text)),
        float(fill_one_role(quote, text)),
        float(are_numbered_apart(quote, text)),
        float(says_over(quote, text)),
        float(does_otherwise(quote, text)),
        float(any(names_before(later.returned, before, text) for before in (old.replaced if later.returned else ()))),
        float(bool(later.returned)),
        float(meet_by_chance(old, new, quote)),
        *(float(flag in new.flags) for flag in (SUSPECTED, AMENDS, MAY_AMEND)),
        float(new.assertion == "directive"),
        float(old.key is not None),
        4 * float(alike.max()),
        4 * float((earlier.parts @ later.vector).max()),
        math.log1p(len(earlier.parts)),
        math.log1p(len(quote)),
        math.log1p(len(text)),
        *(float(old.type == name) for name in TYPES),
        *(float(new.type == name) for name in TYPES),
    ]
