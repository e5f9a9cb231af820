"""Selects the core memories that a message needs, and drops texts about others than it asks about.

Without being asked, a package carries how to address the user and to answer, dangers, and standing orders; everything
else competes as evidence. A question about a named person, project or order is not answered by texts about another
name; texts without names stay, and so do the words of that person. Texts about a relative are shown only if asked for.
Texts about the past are marked as outdated and come last.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from schemas.memory_types import MEMORY_TYPES
from schemas.vocabulary import Intent
from services.compose.rules.candidates import Candidate, CoreMemory, RankedCandidate
from services.compose.rules.ranking.fuse import OF_BEST, FusionResult
from services.compose.rules.resolving.outdated import says_one_thing
from services.compose.rules.searching.nearness import compare_nearness
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
        return "answers" if scope_of(memory.text) == "writing" else "order"
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
        return kind == "thing" or any(compare_nearness(source.text, other.text) >= ALIKE for other in about)

    gone = {each.key for each in single if is_of_other(each.candidate)}
    if not gone or len(gone) == len(fused.ranked):
        return fused
    return fused.without(gone, "relevance", OF_OTHER)


def select_core_in_scope(core: Sequence[CoreMemory], question: str) -> list[CoreMemory]:
    """The core memories without orders about others than the named thing."""
    if not scopes(question).kinds:
        return list(core)
    return [each for each in core if find_need(each) != "order" or not of_other_kind(question, each.text)]


def _is_stranger(text: str, names: frozenset[str], beside: frozenset[str]) -> bool:
    """Whether the text names somebody or something not named together with the requested one."""
    others = scopes(text).named - beside
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
