"""A question about one project, person or order is not answered by what is told of another by name.

What names none stays, and so does what its own speaker said: only what names another of the same kind is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from services.compose.rules.candidates import Candidate, CoreMemory, Dropped
from services.compose.rules.ranking.fuse import FusionResult
from services.compose.rules.resolving.needed import need_of
from services.compose.rules.resolving.outdated import says_one_thing
from shared.extraction.scopes import names_any, of_other_kind, scopes

RULE = "of_other"
ALIKE = 0.6
"""So near, where paraphrases are at 1, what is told of another by name alone is the same thing told of it."""
SHORTEST_ALIAS = 3
Nearness = Callable[[str, str], float]


def without_others(fused: FusionResult, question: str, nearness: Nearness) -> FusionResult:
    """The order without what is told of another than the one of whom or of what the question asks by name.

    Of people, and where nothing but letters tells a name, only what is told of the one that is asked, too, is left out:
    others may have to do with that one. Of somebody who talks themselves, all stays.
    """
    asked = scopes(question)
    people = frozenset(each.candidate.name.lower() for each in fused.ranked if each.candidate.name)
    if len(asked.names) != 1 or asked.names <= people:
        return fused
    found = [each for each in fused.ranked if not each.candidate.is_resource and says_one_thing(each.candidate.text)]
    about = [each.candidate for each in found if names_any(each.candidate.text, asked.names)]
    beside = frozenset[str]().union(*(scopes(each.text).named for each in about)) | people
    turns = {each.turn_id for each in about}

    def is_of_other(source: Candidate) -> bool:
        if source.turn_id in turns or names_any(source.text, asked.names):
            return False
        kind = of_other_kind(question, source.text)
        if kind is None and not _is_stranger(source.text, asked.names, beside):
            return False
        return kind == "thing" or any(nearness(source.text, other.text) >= ALIKE for other in about)

    gone = {each.key for each in found if is_of_other(each.candidate)}
    if not gone or len(gone) == len(fused.ranked):
        return fused
    dropped = [Dropped(each.key, "relevance", each.score, RULE) for each in fused.ranked if each.key in gone]
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
