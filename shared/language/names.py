"""Names in a text: people, places, organisations, quoted titles, identifiers; in order, each once."""

# ruff: noqa: SIM905 - a list of words reads best as one

import re

from shared.language import chinese, stopwords
from shared.language.patterns import to_pattern
from shared.language.segment import HAN

_QUOTED = to_pattern(r"[「『“\"《]([^「」『』“”\"《》\n]{2,40})[」』”\"》]")
_IDENTIFIER = to_pattern(
    r"https?://[^\s，。；）)>\]]+|[\w.+-]+@[\w-]+\.[\w.]+|\b[\w-]+(?:/[\w.-]+)+\b|\b[A-Za-z_]\w*(?:\.[A-Za-z]\w*)+\b"
    r"|\b[A-Za-z]+_\w+\b|#\d+\b|\b[A-Z]{2,}-\d+\b",
    re.ASCII,
)
_CAPITALISED = to_pattern(
    r"\b[A-Z][a-zA-Z]*(?:['’-][A-Z]?[a-z]+)?(?:\s+(?:[A-Z][a-zA-Z]*|of the|of|de|van|von)(?=\s+[A-Z]|\b))*"
)
_HAN_RUN = to_pattern(f"[{HAN}]+")
_NAME_TAGS = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz"})
_NOT_NAMES = stopwords.ENGLISH | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august"
    " september october november december please yesterday today tomorrow english chinese ok"
    " explain summarize summarise write draft recommend suggest compare remind translate list show tell give find help"
    " create make fix add book schedule send let let's generate describe define check update continue review rewrite"
    " remember hey hi hello thanks thank any got best".split()
)


def names(text: str, limit: int = 8) -> list[str]:
    """What the text names, longest reading first come; sentence openers and calendar words are not names."""
    named: dict[str, None] = dict.fromkeys(match.strip() for match in _QUOTED.findall(text[:4000]))
    named |= dict.fromkeys(_IDENTIFIER.findall(text[:4000]))
    for match in _CAPITALISED.finditer(text[:4000]):
        words = re.sub(r"['’]s$", "", match.group()).split()
        while words and words[0].lower() in _NOT_NAMES:
            words.pop(0)
        while words and words[-1].lower() in _NOT_NAMES:
            words.pop()
        name = " ".join(words)
        if len(name) > 1 and not any(name in known for known in named):
            named.setdefault(name)
    for run in _HAN_RUN.findall(text[:2000]):
        named |= dict.fromkeys(_han_names(run))
    return list(named)[:limit]


def _han_names(run: str) -> tuple[str, ...]:
    tagged = [(str(each[0]), str(each[1])) for each in chinese.tag(run)]
    return tuple(word for word, tag in tagged if tag in _NAME_TAGS and len(word) > 1 and word not in stopwords.CHINESE)
