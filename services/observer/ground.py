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
"""How models put what somebody is or likes: words that need not be the turn's."""
LEAST_GROUND = 0.5
"""Share of a statement's other words that must be the turn's; models put some in words of their own."""
MAX_TERMS = 4000
_HAN = to_pattern(f"[{segment.HAN}]+")


def made_of(vocabulary: Set[str], text: str, least: float = LEAST_GROUND) -> bool:
    """Numbers aside, which dates in full bring with them; of a Chinese word what was said may have another form."""
    characters = set("".join(vocabulary))
    words = [w for w in segment.keywords(text, MAX_TERMS) if not any(c.isdigit() for c in w) and terms(w) - FRAME]
    grounded = sum(not terms(word).isdisjoint(vocabulary) or is_alike(word, characters) for word in words)
    return grounded > 0 and grounded >= least * len(words)


def terms(text: str) -> set[str]:
    """The words that carry the text, as search reads them."""
    return set(segment.query_terms(text, MAX_TERMS))


def is_alike(word: str, characters: set[str]) -> bool:
    return bool(_HAN.fullmatch(word)) and 2 * sum(c in characters for c in word) >= len(word)
