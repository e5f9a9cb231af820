"""What a sentence plainly ends, as it says that it is over, held by another, done otherwise or as before. Pure."""

import re
from collections.abc import Callable, Sequence

from shared.domain.statements import ActiveMemory
from shared.language.patterns import to_pattern
from shared.resolution.ended import find_returned_to, names, names_before, says_over
from shared.resolution.roles import fill_one_role, refills_role

NOT_APART = 0.1
"""How likely it must be by other signs that a memory ends, for a plain word to settle it."""
LIKELY = 0.65
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
