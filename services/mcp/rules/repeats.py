"""Shows a message and its memory only once, as the memory."""

from collections.abc import Sequence
from typing import Any

from services.mcp.rules.matching import normalize_words

DICTATED = "/remember"
Json = dict[str, Any]


def drop_repeats(evidence: Sequence[Json]) -> list[Json]:
    """The evidence without messages whose content a memory in it covers; the memory takes their place."""
    memories = [each for each in evidence if each["ref"]["memory_item_id"]]
    by_words = {normalize_words(each["snippet"]): each for each in reversed(memories)}
    shown_once: dict[str, Json] = {}
    for each in evidence:
        shown = each if each["ref"]["memory_item_id"] else by_words.get(_words_of(each), each)
        shown_once.setdefault(shown["id"], shown)
    return list(shown_once.values())


def _words_of(said: Json) -> str:
    return normalize_words(said["snippet"].removeprefix(DICTATED))
