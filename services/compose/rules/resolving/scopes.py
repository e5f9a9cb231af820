"""What is told of somebody or something else, or of how things were, does not answer what is asked.

A question about one project, person or order is not answered by what is told of another by name; what names none stays,
and so does what its own speaker said. What is told of a relative is shown where it is asked about: not as the user's
own, and not in small talk. What a text tells as past is shown as outdated, behind what holds.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from schemas.vocabulary import Intent
from services.compose.rules.candidates import Candidate, CoreMemory, Dropped, RankedCandidate
from services.compose.rules.ranking.fuse import OF_BEST, FusionResult
from services.compose.rules.resolving.needed import need_of
from services.compose.rules.resolving.outdated import says_one_thing
from shared.extraction.bygone import tells_only_past
from shared.extraction.relatives import asks_of_self, asks_own_health, speaks_of_health, tells_of_relative
from shared.extraction.scopes import names_any, of_other_kind, scopes

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
