"""How likely a text is to give orders to the model that reads it: learned from labelled texts (`tests/training`)."""

import math
import re

from shared.classifiers.grams import grams
from shared.classifiers.network import load
from shared.classifiers.vector_judge import judge_meaning
from shared.language.patterns import to_pattern
from shared.screening.disguise import IDS

ORDER = "order"
_RUN = to_pattern(r"[a-z0-9+/=_\-]{24,}")
"""Hashes, keys and encoded data: their letters say nothing."""
SMALLEST = 1e-6
LONGEST = 2000
"""Characters that are read at once; a longer text is read in pieces of so many."""
_MARKS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (name, sign, to_pattern(pattern))
    for name, sign, pattern in (
        ("closes", "</", r"</\s*[a-z_\-]+\s*>"),
        ("angles", "<<", r"<<"),
        ("bars", "<|", r"<\|"),
        ("comment", "<!", r"<!--"),
        ("bracket", "[", r"\[/?[a-z_ ]{3,20}\]"),
        ("title", "【", r"【[^】]{2,16}】"),
        ("rule", "--", r"-{3,}"),
        ("rule", "==", r"={3,}"),
        ("rule", "##", r"#{3,}"),
        (
            "header",
            ":",
            r"(?:^|\n|[.>\]\"”]\s)\W{0,4}(?:system|assistant|human|user|operator|developer|admin|ai|bot|instruction|系统|助手|用户"
            r"|管理员|开发者|操作员|主控台?)[^\n:]{0,24}:",
        ),
        ("filled", "://", r"://[^\s]{0,600}[={/?&][^\s]{0,12}[{<\[(][^\s{}<>]{1,40}[}>\])]"),
        ("image", "![", r"!\[[^\]]{0,300}\]\("),
        ("link", "](", r"(?<!!)\[[^\]]{0,300}\]\(http"),
        ("query", "?", r"https?://[^\s)\"<>]{1,600}\?[^\s)\"<>]{1,300}="),
        ("address", "://", r"https?://"),
        ("mail", "@", r"[\w.+-]@[\w-]{1,100}\.[\w.]"),
        ("field", '":', r"\"[a-z_]{1,60}\":"),
        ("code", "`", r"`[^`]{1,600}`"),
        ("asked", "?", r"\?"),
        ("quoted", "“", r"“[^”]{4,300}”"),
        ("quoted", "「", r"「[^」]{4,300}」"),
        ("quoted", '"', r"\"[^\"]{4,300}\""),
    )
)


def strip_ids(form: str) -> str:
    """The plain form without hashes, keys and ids."""
    return IDS.sub(" ", _RUN.sub(" ", form))


def signs(form: str) -> list[str]:
    """The grams of a text in its plain form, and marks of how it is built."""
    found = grams(strip_ids(form))
    found += ["=" + name for name, sign, pattern in _MARKS if sign in form and pattern.search(form)]
    return found


def likelihood(form: str, around: float | None = None) -> float:
    """How likely the text, in its plain form, is to give orders to the model that reads it.

    `around` are the log odds of the whole that it is a sentence of: both count alike.
    """
    odds = log_odds(form)
    odds = odds if around is None else (odds + around) / 2
    return 1 / (1 + math.exp(-max(min(odds, 40.0), -40.0)))


def log_odds(form: str) -> float:
    """The logarithm of the odds that it does; of a long text its worst piece counts.

    Its words and what it means are judged apart; the odds of both together count.
    """
    words = load("hostile")
    worst = -math.inf
    for at in range(0, len(form), LONGEST):
        piece = form[at : at + LONGEST]
        share = min(max(float(words.share_alone(words.find_rows(signs(piece)))[1]), SMALLEST), 1 - SMALLEST)
        worst = max(worst, math.log(share / (1 - share)) + judge_meaning("hostile_vectors", piece))
    return worst
