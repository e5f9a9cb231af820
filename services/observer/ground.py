"""Whether the words of the conversation support a sentence of a model. Pure."""

from collections.abc import Set

from shared.language import segment
from shared.language.patterns import to_pattern

FRAME = frozenset(
    (
        *("用户", "喜欢", "喜爱", "爱", "偏好", "讨厌", "住", "住在", "通常", "一般", "经常", "平时"),
        *("希望", "待办", "已完成", "截止", "年", "月", "日"),
        *("user", "like", "love", "enjoy", "prefer", "dislik", "hate", "live", "own", "usual", "often", "todo", "due"),
    )
)
"""Words with which models state who somebody is or what they like; the turn need not contain them."""
LEAST_GROUND = 0.5
"""The minimum share of the other words of a statement that the turn contains; models rephrase some."""
MAX_TERMS = 4000
_HAN = to_pattern(f"[{segment.HAN}]+")


def is_supported(vocabulary: Set[str], text: str, least: float = LEAST_GROUND) -> bool:
    """Whether enough words of the text are in the vocabulary, other than numbers; Chinese words may differ in form."""
    characters = set("".join(vocabulary))
    words = [w for w in segment.keywords(text, MAX_TERMS) if not any(c.isdigit() for c in w) and list_terms(w) - FRAME]
    grounded = sum(not list_terms(word).isdisjoint(vocabulary) or is_alike(word, characters) for word in words)
    return grounded > 0 and grounded >= least * len(words)


def list_terms(text: str) -> set[str]:
    """The content words of the text, as search reads them."""
    return set(segment.query_terms(text, MAX_TERMS))


def is_alike(word: str, characters: set[str]) -> bool:
    """Whether at least half of a Chinese word is among the characters."""
    return bool(_HAN.fullmatch(word)) and 2 * sum(c in characters for c in word) >= len(word)
