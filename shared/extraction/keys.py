"""Keys that stay the same when a thing is said again: targets normalised, slots recognised."""

import re
import unicodedata
from collections.abc import Set

from schemas.memory_types import KEY_PREFIXES
from shared.extraction import keys_words as words
from shared.extraction.gates import gate, mask

_SCOPES = tuple((scope, pattern, gate(pattern)) for scope, pattern in words.SCOPES)
_SLOTS = tuple((scope, slot, pattern, gate(pattern)) for scope, slot, pattern in words.SLOTS)
PREFIXES = tuple(KEY_PREFIXES.values())


def fold(text: str) -> str:
    """The text in one width, lower case, without blanks between Chinese characters."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"(?<=[\u3400-\u9fff]) | (?=[\u3400-\u9fff])", "", re.sub(r"\s+", " ", folded)).strip(words.EDGE)


def tidy(text: str) -> str:
    """The text as said, without punctuation and particles at its ends."""
    text = text.strip(words.EDGE)
    shorter = re.sub(r"(?:了|啊|呀|呢|吧|哦|嘛|哈|啦|喔|噢|而已)+$", "", text)
    return (shorter or text).strip(words.EDGE)


def target_of(text: str) -> str:
    """What a taste is about, the same for every way of saying it: without articles, measure words and verbs of use."""
    folded = fold(text)
    for _ in range(2):
        cut = words.TAIL_ZH.sub("", folded).strip(words.EDGE)
        cut = words.HEAD_ZH.sub("", cut) or cut
        cut = words.TAIL_EN.sub("", words.HEAD_EN.sub("", cut)).strip(words.EDGE)
        if cut not in words.WHOLE_ZH and not any(cut.startswith(word) for word in words.WHOLE_ZH):
            cut = words.VERB_ZH.sub("", cut) or cut
        if not cut or cut == folded:
            break
        folded = cut
    folded = words.SYNONYMS.get(folded, folded)
    return _singular(folded)


def _singular(text: str) -> str:
    if text in words.PLURAL:
        return text
    if (
        len(text) > 4
        and text.isascii()
        and text.endswith("s")
        and not text.endswith(("ss", "us", "is", "ies", "ses", "xes", "os"))
    ):
        return text[:-1]
    return text


def slug(text: str, limit: int = 48) -> str:
    """The text as one segment of a key."""
    return words.NOT_WORD.sub("-", fold(text)).strip("-")[:limit].strip("-.") or "x"


def scope_of(text: str) -> str:
    """The scope of a preference: writing, ui, coding, tools, food or other."""
    signs = mask(text)
    return next((scope for scope, pattern, bit in _SCOPES if signs & bit and pattern.search(text)), "other")


def slot_of(text: str) -> tuple[str, str] | None:
    """The scope and slot of a taste of which one holds at a time, such as the theme."""
    signs = mask(text)
    return next(((scope, slot) for scope, slot, pattern, bit in _SLOTS if signs & bit and pattern.search(text)), None)


def preference_key(target: str) -> tuple[str, str, str | None]:
    """The key of a taste for the target, its scope and its slot."""
    slot = slot_of(target)
    if slot:
        return f"pref:{slot[0]}:{slot[1]}", slot[0], slot[1]
    canonical = target_of(target)
    scope = scope_of(canonical)
    return f"pref:{scope}:{slug(canonical)}", scope, None


def is_known(key: str) -> bool:
    """Whether the key is one that a client may choose: prefix, subject and name, all filled."""
    parts = key.split(":")
    return key.startswith(PREFIXES) and len(parts) >= 2 and all(parts) and len(key) <= 160


def profile_key(key: str, more: Set[str] | None = frozenset()) -> str | None:
    """The key of a profile with its slot as the list names it; None where neither the list nor `more` has the slot.

    Where `more` is None any slot will do. Keys of other types stay as they are.
    """
    prefix, _, rest = key.partition(":")
    if prefix != "profile":
        return key
    who, *names = rest.split(":")
    if len(names) == 1:
        slot = _slot(names[0])
        return f"profile:{who}:{slot}" if more is None or slot in words.PROFILE_SLOTS or slot in more else None
    if more is None:
        return key
    if len(names) != 2:
        return None
    if names[0] in words.PROFILE_GROUPS or names[0] in more:
        return key
    return key if _slot(names[1]) in words.OF_PERSON else None


def _slot(name: str) -> str:
    name = name.replace("-", "_").lower()
    return words.SLOT_SYNONYMS.get(name, name)
