"""Whether a sentence states something lasting, judged once: fitted by `tests/training/lasting.py`.

What is worth keeping tells much: who speaks did or has something, with its day, its number, its name. A mood, a
courtesy or a remark says few words of its own, whatever they are about.
"""

import math
from collections.abc import Sequence

from shared.classifiers import meanings
from shared.classifiers.judges import load_text_sum, to_log_odds
from shared.extraction.clauses import Clause
from shared.extraction.guards import Stance
from shared.extraction.learned import ClauseClass
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.language.segment import STOPWORDS

SIGNS = (
    "terms",
    "telling",
    "dates",
    "done",
    "names",
    "numbers",
    "kept",
    "changed",
    "asked",
    "agent",
    "supposed",
    "momentary",
    "length",
    "chinese",
)
"""What is counted of a sentence beside its words and its vector, in the order of the weights."""
_WORD = to_pattern(r"[a-z0-9][a-z0-9'’+#.-]*[a-z0-9]")
_HAN = to_pattern(r"[\u3400-\u9fff]+")
_MOST_TERMS = 24
_DATE = to_pattern(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|weeks?|months?|years?|weekend|(?:mon|tues|wednes|thurs|fri|satur|sun|birth|holi)day|\d{4}|january|february|march|april"
    r"|june|july|august|september|october|november|december)\b|[昨今明后前]天|[上下这][个周月]|[去今明前]年|\d{1,4}[年月号日]|[周][一二三四五六日末]|星期",
)
"""Words of time, whether or not they name a day."""
_DONE = to_pattern(
    r"\b\w{3,}ed\b|\b(?:went|got|made|took|had|was|were|bought|found|saw|met|gave|began|been|started|got|won|lost|left|came|ran|wrote"
    r"|read|taught|built|grew|kept|felt|told|said|thought|became|drove|flew|ate|drank|sold|spent|moved|broke|chose|caught|fell)\b"
    r"|[\u3400-\u9fff](?:了|过)(?!头|分|期|不)|刚刚?|已经|终于",
)
_NAME = to_pattern(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+|《[^》]{1,40}》|“[^”]{1,20}”")
_NUMBER = to_pattern(r"\d+|[一二两三四五六七八九十百千万]+(?=[个只条张次天周年岁万块元斤公里点月号])")


def estimate_lasting(
    text: str, clauses: Sequence[Clause], stances: Sequence[Stance], verdicts: Sequence[ClauseClass]
) -> float:
    """How likely the sentence, given as a text and by its clauses, is to state something worth keeping for months."""
    return load_text_sum("lasting").estimate(text, count_signs(text, clauses, stances, verdicts))


def count_signs(
    text: str, clauses: Sequence[Clause], stances: Sequence[Stance], verdicts: Sequence[ClauseClass]
) -> list[float]:
    """The signs of a sentence, each of the order of one."""
    statement = " ".join(c.text for c, s in zip(clauses, stances, strict=True) if not s.asked) if clauses else text
    terms = _content_words(statement)
    telling = [term for term in terms if not meanings.says_little(term)]
    count = max(1, len(clauses))
    chinese = any(clause.language == "zh" for clause in clauses)
    return [
        math.log1p(len(terms)),
        min(len(telling), _MOST_TERMS) / 8,
        min(2, len(_DATE.findall(statement))),
        min(3, len(_DONE.findall(statement))),
        min(3, len(_NAME.findall(statement))),
        min(3, len(_NUMBER.findall(statement))),
        max((to_log_odds(verdict.kept) for verdict in verdicts), default=-3.0),
        max((to_log_odds(verdict.changed) for verdict in verdicts), default=-3.0),
        sum(stance.asked for stance in stances) / count,
        sum(stance.subject == "agent" for stance in stances) / count,
        float(any(stance.supposed or stance.reported or stance.ironic for stance in stances)),
        float(any(stance.momentary or stance.trial for stance in stances)),
        math.log1p(len(statement)) / 4,
        float(chinese),
    ]


def _content_words(text: str) -> set[str]:
    """The words of the text but for those that every text has."""
    low = text.lower()
    found = _WORD.findall(low)
    if not low.isascii():
        found += [word for word in segment.words("".join(_HAN.findall(low))) if len(word) > 1]
    return set(found) - STOPWORDS
