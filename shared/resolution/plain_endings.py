"""What a sentence plainly ends or restores: what it says is over, held by another, done otherwise or as before."""

import re
from collections.abc import Callable, Sequence

from shared.classifiers.meanings import says_little
from shared.classifiers.static_encoder import load_static_encoder
from shared.domain.statements import ActiveMemory
from shared.extraction.changes import find_ended_things
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.resolution.related import about
from shared.resolution.roles import fill_one_role, refills_role

_FILLERS = frozenset("thing stuff bit plan idea one part whole time day week 东西 事情 事 计划 安排".split())  # noqa: SIM905 - a list of words
_RETURNS = to_pattern(
    r"\bback (?:to|in|on|at|with|onto) (?P<place>[^,.;!?]{2,40})|(?P<thing>[^,.;!?]{2,40}) again\b(?! with| to|st)"
    r"|\b(?:stay|stick|go)(?:ing)? (?:in|at|with|to) (?P<choice>[^,.;!?]{2,30}?) after all\b"
    r"|[又重](?P<again>[^，,。；！？]{0,8}[回去来][^，,。；！？]{1,8})|又(?P<once_more>[^，,。；！？]{2,10})了"
    r"|[^来上]回(?P<to>[^，,。；！？答复顾忆来去头]{1,8})了|还是(?P<still>[^，,。；！？]{2,12})吧|那就(?P<then>[^，,。；！？]{2,8})吧"
)
ALIKE = 0.6
"""How near in meaning a word must be to what is over, to be another form of its name."""


def says_over(sentence: str, memory: str) -> bool:
    """Whether the sentence says that something is over that the memory speaks of, and the memory does not say so."""
    return bool(find_over(sentence, memory))


def find_over(sentence: str, memory: str) -> list[str]:
    """What of the things that the memory speaks of the sentence says to be over, and the memory does not."""
    over = find_ended_things(sentence)
    before = find_ended_things(memory) if over else ()
    return [each for each in over if names(memory, each) and not any(names(old, each) for old in before)]


def names(text: str, thing: str) -> bool:
    """Whether the text names the thing: most of the words that carry it, or one word that is a form of it."""
    terms = {term for term in about(thing).terms - _FILLERS if not says_little(term)}
    shared = terms & about(text).terms
    if terms and 3 * len(shared) >= 2 * len(terms):
        return any(len(term) > 1 for term in shared)
    if thing.isascii() or not 2 <= len(thing) <= 4:
        return False
    encode = load_static_encoder().encode
    return any(float(encode(word) @ encode(thing)) >= ALIKE for word in segment.words(text) if len(word) > 1)


def find_returned_to(said: str) -> tuple[str, ...]:
    """What the sentence says to be as it was before, or to be chosen anew."""
    return tuple(each for match in _RETURNS.finditer(said.lower()) for each in match.groupdict().values() if each)


def names_before(returned: tuple[str, ...], before: str, now: str) -> bool:
    """Whether what is returned to is something said before, by a telling word that is no word of what is said now."""
    own = about(before).terms - about(now).terms
    return any(
        len(term) > 1 and not says_little(term) and not term.isdigit()
        for each in returned
        for term in own & about(each).terms
    )


NOT_APART = 0.1
"""How likely it must be by other signs that a memory ends, for a plain word to settle it."""
LIKELY = 0.75
"""The same where two texts fill one role, and neither says that its holder is new."""
_OTHERWISE = to_pattern(
    r"(?:改|换|转而?)(?P<verb>[喝吃投叫用坐住看学练穿开骑读写跑打走去报选买订刷种抽玩教])",
)
"""Says that another thing is done, by the verb of it: 改喝牛奶."""
_INSTEAD = to_pattern(r"\b(?:instead of|rather than) (?:the |my |our )?(?P<thing>[^,.;!?]{2,30})", re.I)
"""Says in whose place another thing is."""

_NUMBERED = to_pattern(r"(?P<thing>[a-z]{3,}|[\u4e00-\u9fff](?!是)[\u4e00-\u9fff]) ?(?:no\.? ?|#)?(?P<number>\d{2,})")
"""A thing that is told from others by its number: invoice 1041, 发票1041."""


def find_plain_endings(
    near: Sequence[ActiveMemory],
    sentence: str,
    likely: Sequence[float],
    took_place: Callable[[ActiveMemory, ActiveMemory], bool],
) -> list[bool]:
    """Of each memory whether the sentence plainly ends it, where `likely` is how likely it ends by other signs."""
    returned = find_returned_to(sentence)
    return [
        (share >= NOT_APART and _ends(sentence, old))
        or (share >= LIKELY and fill_one_role(sentence, old.text) and not are_numbered_apart(sentence, old.text))
        or any(names_before(returned, before, old.text) for before in (old.replaced if returned else ()))
        or any(_goes_back(returned, first, old, took_place) for first in (near if returned else ()))
        for old, share in zip(near, likely, strict=True)
    ]


def _ends(sentence: str, old: ActiveMemory) -> bool:
    """What happened stays true when it is over, and so does who somebody is: only what goes on comes to an end."""
    goes_on = old.type != "event" and (old.type != "profile" or old.key is not None)
    return (
        (goes_on and says_over(sentence, old.text))
        or refills_role(sentence, old.text)
        or does_otherwise(sentence, old.text)
    )


def does_otherwise(sentence: str, memory: str) -> bool:
    """Whether another thing is in the place of what the memory speaks of, or is done by its verb."""
    if any(names(memory, match["thing"]) for match in _INSTEAD.finditer(sentence)):
        return True
    return any(match["verb"] in memory and not _OTHERWISE.search(memory) for match in _OTHERWISE.finditer(sentence))


def are_numbered_apart(sentence: str, memory: str) -> bool:
    """Whether each names a thing of one kind by another number: two invoices."""
    new_numbers, old_numbers = (
        {(match["thing"].lower(), match["number"]) for match in _NUMBERED.finditer(text)} for text in (sentence, memory)
    )
    kinds = {thing for thing, _ in new_numbers} & {thing for thing, _ in old_numbers}
    return bool(kinds) and new_numbers.isdisjoint(old_numbers)


def _goes_back(
    returned: tuple[str, ...],
    first: ActiveMemory,
    then: ActiveMemory,
    took_place: Callable[[ActiveMemory, ActiveMemory], bool],
) -> bool:
    """Whether what is returned to is what the first memory says, whose place the other has taken since."""
    later = first.valid_at < then.valid_at
    return later and names_before(returned, first.text, then.text) and took_place(then, first)
