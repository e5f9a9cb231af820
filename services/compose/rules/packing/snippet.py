"""How much of a text a result shows: all, the passage that meets the question, or one sentence (seed 001 section 7)."""

from collections.abc import Sequence
from typing import Literal

from shared.language.normalise import clip
from shared.language.patterns import to_pattern
from shared.language.segment import query_terms, terms

Level = Literal["l2", "l1", "l0"]
LEVELS: dict[Level, int] = {"l1": 320, "l0": 120}
"""Characters at most: l2 is the whole text, l1 a passage, l0 a line (about a tenth of a page and a hundredth)."""
MAX_SENTENCES = 400
_SENTENCE = to_pattern(r"[^。！？!?；;\n.]*(?:[。！？!?；;\n]+|\.+(?=\s|$)|\.|$)")


def snippet(text: str, question: str, policy: Literal["l2", "l1", "l0", "auto"], most: int) -> tuple[str, Level]:
    """At most `most` characters of the text, and how much of it they are; `auto` is all where it fits."""
    level: Level = policy if policy != "auto" else "l2" if len(text) <= most else "l1"
    if level == "l2":
        return clip(text, most), level
    room = min(most, LEVELS[level]) if policy != "auto" else most
    if len(text) <= room and level == "l1":
        return text, level
    return passage(text, query_terms(question, 32), room, one=level == "l0"), level


def passage(text: str, wanted: Sequence[str], most: int, *, one: bool = False) -> str:
    """The sentences side by side that hold most of the wanted words, the first of equals; gaps are marked."""
    sentences = [each for each in _SENTENCE.findall(text[:40_000]) if each.strip()][:MAX_SENTENCES]
    if not sentences:
        return clip(text.strip(), most)
    needed = set(wanted)
    worth = [len(needed.intersection(terms(each))) if needed else 0 for each in sentences]
    best = max(range(len(sentences)), key=lambda at: (worth[at], -at))
    first, last = best, best + 1
    while not one:
        room = most - 2 - sum(map(len, sentences[first:last]))
        sides = [at for at in (last, first - 1) if 0 <= at < len(sentences) and len(sentences[at]) <= room]
        if not sides:
            break
        at = max(sides, key=lambda side: (worth[side], side == last))
        first, last = min(first, at), max(last, at + 1)
    chosen = "".join(sentences[first:last]).strip()
    opened = ("…" if first else "") + chosen
    closed = opened if last == len(sentences) else opened + "…"
    return clip(closed if len(closed) <= most else chosen, most)
