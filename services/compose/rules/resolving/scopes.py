"""Whom and what the message is about: which core memories it needs, and what is told of others and does not answer it.

Unasked, a package carries how to address and answer, what is dangerous, and orders; all else that is known of the user
competes as evidence. A question about one project, person or order is not answered by what is told of another by name;
what names none stays, and so does what its own speaker said. What is told of a relative is shown where it is asked
about: not as the user's own, and not in small talk. What a text tells as past is shown as outdated, behind what holds.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from schemas.memory_types import MEMORY_TYPES
from schemas.vocabulary import Intent
from services.compose.rules.candidates import Candidate, CoreMemory, Dropped, RankedCandidate
from services.compose.rules.ranking.fuse import OF_BEST, FusionResult
from services.compose.rules.resolving.outdated import says_one_thing
from shared.extraction.bygone import tells_only_past
from shared.extraction.keys import scope_of
from shared.extraction.relatives import (
    asks_of_self,
    asks_own_health,
    names_limit_of_health,
    speaks_of_health,
    tells_of_relative,
)
from shared.extraction.scopes import names_any, of_other_kind, scopes
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
"""In which a package holds them."""
ADVICE: frozenset[Intent] = frozenset({"recommend", "task"})
"""What is asked for has to be good for the user: their state of health counts, whether or not it forbids anything."""
CONCERNS = 0.5
"""How near an order is to the message that it concerns, on the scale where paraphrases are at 1, other things at 0."""
_OF_MEMORY = frozenset(
    stem(word)
    for words in (
        "remember memory know learn tell say keep mind far everything preference profile like fact information note",
        "了解 记得 记住 记忆 知道 偏好 喜好 资料 信息 情况 我些 有些 所有 全部 介绍 核对",
    )
    for word in words.split()
)
"""Words of a question about all that is known, and none of what it might be about."""


def need_of(memory: CoreMemory) -> Need | None:
    """Why the memory may stand in a package unasked, by its key and type; None where it has to be asked for.

    What the user's health forbids is a matter of safety, their health itself of care. A constraint that is none of
    these, and a wish to which the rules gave no key, are standing orders; those about how to answer hold for every
    answer.
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
        return "answers" if scope_of(memory.text) == "writing" else "order"
    return None


def asks_for_all(message: str, intent: Intent) -> bool:
    """Whether the message asks what is known of the user, and of nothing in particular."""
    return intent == "preference_check" and _OF_MEMORY.issuperset(query_terms(message))


def select_needed(core: Iterable[CoreMemory], intent: Intent, nearness: Callable[[str], float]) -> list[CoreMemory]:
    """The memories that a package carries unasked, in the order of `ORDER`; `nearness` is of a text to the message."""

    def counts(need: Need, memory: CoreMemory) -> bool:
        match need:
            case "care":
                return intent in ADVICE
            case "order":
                return nearness(memory.text) >= CONCERNS
            case _:
                return True

    kept = [(need, memory) for memory in core if (need := need_of(memory)) and counts(need, memory)]
    return [memory for _, memory in sorted(kept, key=lambda each: (ORDER.index(each[0]), place_of(each[1])))]


def place_of(memory: CoreMemory) -> tuple[int, float, float, str]:
    """The most identifying and most certain first."""
    place = MEMORY_TYPES[memory.type].core_order
    return (9 if place is None else place, -memory.confidence, -memory.updated_at.timestamp(), memory.memory_id)


OF_OTHER = "of_other"
ALIKE = 0.6
"""So near, where paraphrases are at 1, what is told of another by name alone is the same thing told of it."""
SHORTEST_ALIAS = 3
Nearness = Callable[[str, str], float]


def without_others(fused: FusionResult, question: str, nearness: Nearness) -> FusionResult:
    """The order without what is told of another than the one of whom or of what the question asks by name.

    Of people, and where nothing but letters tells a name, only what is told of the one that is asked, too, is left out:
    others may have to do with that one. Of somebody who talks themselves, all stays.
    """
    scope = scopes(question)
    people = frozenset(each.candidate.name.lower() for each in fused.ranked if each.candidate.name)
    if len(scope.names) != 1 or scope.names <= people:
        return fused
    single = [each for each in fused.ranked if not each.candidate.is_resource and says_one_thing(each.candidate.text)]
    about = [each.candidate for each in single if names_any(each.candidate.text, scope.names)]
    beside = frozenset[str]().union(*(scopes(each.text).named for each in about)) | people
    turns = {each.turn_id for each in about}

    def is_of_other(source: Candidate) -> bool:
        if source.turn_id in turns or names_any(source.text, scope.names):
            return False
        kind = of_other_kind(question, source.text)
        if kind is None and not _is_stranger(source.text, scope.names, beside):
            return False
        return kind == "thing" or any(nearness(source.text, other.text) >= ALIKE for other in about)

    gone = {each.key for each in single if is_of_other(each.candidate)}
    if not gone or len(gone) == len(fused.ranked):
        return fused
    dropped = [Dropped(each.key, "relevance", each.score, OF_OTHER) for each in fused.ranked if each.key in gone]
    left = tuple(each for each in fused.ranked if each.key not in gone)
    return replace(fused, ranked=left, dropped=(*fused.dropped, *dropped))


def core_of_scope(core: Sequence[CoreMemory], question: str) -> list[CoreMemory]:
    """The core memories without orders about another than the one that the question names."""
    if not scopes(question).kinds:
        return list(core)
    return [each for each in core if need_of(each) != "order" or not of_other_kind(question, each.text)]


def _is_stranger(text: str, names: frozenset[str], beside: frozenset[str]) -> bool:
    """Whether the text names somebody or something that has not been named beside the one that is asked."""
    others = scopes(text).named - beside
    return bool(others) and not any(_may_be_one(one, name) for one in others for name in names)


def _may_be_one(one: str, other: str) -> bool:
    """Whether one name may be short for the other."""
    return one[:SHORTEST_ALIAS] == other[:SHORTEST_ALIAS]


OF_RELATIVE = "of_relative"


def without_relatives(fused: FusionResult, message: str, intent: Intent) -> FusionResult:
    """The order without what is told of a relative, where the question is about the user and has an answer of theirs.

    A relative's illness is left out even where there is none, and in small talk.
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

    gone = {each.key for each in of_relative if misleads(each)}
    if not gone:
        return fused
    dropped = [Dropped(each.key, "relevance", each.score, OF_RELATIVE) for each in fused.ranked if each.key in gone]
    left = tuple(each for each in fused.ranked if each.key not in gone)
    return replace(fused, ranked=left, dropped=(*fused.dropped, *dropped))


def mark_past(fused: FusionResult, *, past: bool) -> FusionResult:
    """The order with what tells only how things were marked as outdated, and last unless `past` is asked."""
    marked = [_mark(each) for each in fused.ranked]
    if not past:
        marked.sort(key=lambda each: _is_past(each.candidate))
    return replace(fused, ranked=tuple(marked))


def without_past(core: list[CoreMemory]) -> list[CoreMemory]:
    """The core memories but for those that tell only how things were: these are evidence where they are asked for."""
    return [each for each in core if not tells_only_past(each.text)]


def _mark(ranked: RankedCandidate) -> RankedCandidate:
    if not _is_past(ranked.candidate):
        return ranked
    return replace(ranked, candidate=replace(ranked.candidate, epistemic="outdated"))


def _is_past(candidate: Candidate) -> bool:
    return not candidate.is_resource and candidate.role != "assistant" and tells_only_past(candidate.text)
