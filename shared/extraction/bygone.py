"""Whether a text tells only how things were: `we used to run Jenkins`, 我以前住在里昂. Who adds what is so now does not."""

# ruff: noqa: E501 - one family of words per line

import re

from shared.cache import of_texts
from shared.extraction.clauses import split
from shared.language.patterns import to_pattern

MOST_READ = 300
_BYGONE = to_pattern(
    r"(?<!\bam )(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bget )(?<!\bgot )(?<!'m )(?<!'re )(?<!getting )\bused to (?!it\b|that\b|this\b|the\b|him\b|her\b|them\b|being\b|\w+ing\b)"
    r"|\b(?:previously|formerly|in the (?:old|early) days|back in the day|in the past,|once (?:was|were|lived|worked|had|used|ran|owned))\b"
    r"|^(?:我们?|咱们?|公司|团队|他们?|她们?|那|其实|这边)?(?:以前|从前|曾经?(?!理)|过去(?!的?[几一二两三四五六七八九十百\d这]|了|吧|就)|原先|早年|当年|早先|之前(?!说|提|聊|讲|问|那|的|先)|原来(?=[用住在叫])|最早|起初)(?!怎么|是不是|有没有)",
    re.IGNORECASE,
)
"""Says of what is told that it is over."""
_WORDS = (
    *("used to ", "previously", "formerly", "the old days", "early days", "back in the day", "in the past,", "once "),
    *("以前", "从前", "曾", "过去", "原先", "早年", "当年", "早先", "之前", "原来", "最早", "起初"),
)
"""One of which stands in each text that the pattern finds."""
_SINCE = to_pattern(
    r"\b(?:now|nowadays|these days|currently|today|since|until|till|but|still|instead|anymore|any more|no longer|then|replac\w+|switch\w+|chang\w+|mov\w+|migrat\w+|"
    r"before (?:i|we|switch\w*|mov\w*))\b|现在|如今|目前|后来|改|换|搬|转|已经|但|不过|还是|仍|一直|不再|才|了$|直到",
    re.IGNORECASE,
)
"""Says what came of it, or that it goes on."""


_STATES = to_pattern(
    r"(?:and |so )?(?:i|we|it|my|our)(?:'m|'re|'s)?\b(?! (?:was|were|had|did|\w+ed)\b)|我", re.IGNORECASE
)
"""Begins a clause of its own that may be so now."""


def tells_past(text: str) -> bool:
    """Whether the text says of something that it was so and is over."""
    text = text[:MOST_READ]
    low = text.lower()
    return any(word in low for word in _WORDS) and _BYGONE.search(text) is not None


@of_texts(4096)
def tells_only_past(text: str) -> bool:
    """Whether each clause of the text says of something that it was so, and none what took its place."""
    if not tells_past(text) or len(text) > MOST_READ:
        return False
    clauses = [each.text for each in split(text) if each.text.strip()]
    return (
        bool(clauses)
        and _BYGONE.search(clauses[0]) is not None
        and not any(each.asked for each in split(text))
        and not any(_SINCE.search(_BYGONE.sub("", each)) for each in clauses)
        and not any(_STATES.match(each) for each in clauses[1:] if not _BYGONE.search(each))
    )
