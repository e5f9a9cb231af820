"""What a sentence plainly ends, as it says that it is over or held by another. Pure."""

from collections.abc import Sequence

from shared.domain.statements import ActiveMemory
from shared.resolution.ended import says_over
from shared.resolution.roles import fill_one_role, refills_role

NOT_APART = 0.02
"""How likely it must be by other signs that a memory ends, for a plain word to settle it."""
LIKELY = 0.3
"""The same where two texts fill one role, and neither says that its holder is new."""


def find_plain_endings(near: Sequence[ActiveMemory], sentence: str, likely: Sequence[float]) -> list[bool]:
    """Of each memory whether the sentence plainly ends it, where `likely` is how likely it ends by other signs."""
    return [
        (share >= NOT_APART and _ends(sentence, old.text))
        or (share >= LIKELY and fill_one_role(sentence, old.text))
        for old, share in zip(near, likely, strict=True)
    ]


def _ends(sentence: str, memory: str) -> bool:
    return says_over(sentence, memory) or refills_role(sentence, memory)
