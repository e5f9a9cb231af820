"""Finds a memory: by words, where only a clear match may be changed; beside its own message; in a receipt."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from shared.language.normalise import fold, normalise

_MARKS = re.compile(r"[\W_]+")
_CJK = re.compile(r"(?<=[\u2e80-\u9fff\uf900-\ufaff]) | (?=[\u2e80-\u9fff\uf900-\ufaff])")
_CHINESE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff]")
DICTATED = "/remember"
Json = dict[str, Any]
Memory = TypeVar("Memory", bound=Mapping[str, Any])


def normalize_words(text: str) -> str:
    """Normalised words: one case, one width, no punctuation, no blanks between Chinese characters."""
    return _CJK.sub("", _MARKS.sub(" ", fold(normalise(text))).strip())


def says_same(one: str, other: str) -> bool:
    """Whether two texts say the same in the same words."""
    return normalize_words(one) == normalize_words(other)


def holds_words(content: str, words: str) -> bool:
    """Whether the content says these words, in this order, as whole words."""
    inside, wanted = normalize_words(content), normalize_words(words)
    if not wanted:
        return False
    return f" {wanted} " in f" {inside} " or (bool(_CHINESE.search(wanted)) and wanted in inside)


def pick_meant(found: Sequence[Memory], words: str) -> Memory | None:
    """The memory with exactly this text, else the only one that contains the words; None if that is unclear."""
    for fits in (says_same, holds_words):
        fitting = [each for each in found if fits(each["content"], words)]
        if fitting:
            return fitting[0] if len(fitting) == 1 else None
    return None


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


def find_use(injected: Sequence[Json], versions: Sequence[Json]) -> tuple[int, Json] | None:
    """The newest version in the package, as itself or as its source words, with the item."""
    by_id = {each["id"].rpartition("memory:")[2] if "memory:" in each["id"] else each["id"]: each for each in injected}
    for version in reversed(versions):
        if item := by_id.get(version["memory_id"]):
            return version["version"], item
        created = {each["turn_id"] for each in version["evidence"] if each["action"] in ("created", "confirmed")}
        for item in injected:
            kind, _, rest = item["id"].partition(":")
            if kind == "turn" and rest.partition(":")[0] in created:
                return version["version"], item
    return None
