"""A time that a question names brings what was said then, whatever its words."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from services.compose.rules.planning.cues import Cues, nearness
from services.compose.rules.ranking.fuse import OF_BEST
from services.compose.rules.ranking.weigh import Passage, SignalScores
from services.compose.rules.searching.bm25 import DEFAULT_CONTEXT, Floats
from shared.language.dates import Range, time_range

BESIDE_WORDS = replace(DEFAULT_CONTEXT, turns=40, memories=20)
"""How much of a time is looked at beside what the words of the question bring."""
MOST_BY_DATE = 5
"""So much of a time is let in at most where nothing of it meets the question's words."""

SAID_THEN = 0.3
"""How likely what was said then helps who asks for nothing else."""
TOLD_WITHIN = timedelta(days=14)
"""So long after a time what names it may still be told of it."""


def named_span(texts: Iterable[str], now: datetime) -> Range | None:
    """The first past or present time that one of the questions names."""
    return next((span for text in texts if (span := time_range(text, now))), None)


def weigh_dates(cues: Cues, passages: Sequence[Passage], scored: SignalScores, least: float, now: datetime) -> Floats:
    """How likely each helps, where the question names a time.

    A question of nothing but a time is met by what was said then or told of it soon after, and by nothing else; one
    that asks for more, by the best of it where neither words nor meaning of anything said then meet it and that time is
    over: who asks what to cook tonight does not ask what was said today.
    """
    if cues.time is None:
        return scored.probability
    then = np.array([nearness(each.said_at, cues) >= 1.0 for each in passages], dtype=np.bool_)
    if cues.only_dates and then.any():
        meets = then | np.array([_tells_of(each, cues.time) for each in passages], dtype=np.bool_)
        return np.where(meets, np.maximum(scored.probability, SAID_THEN), 0.0)
    if cues.only_dates:
        return scored.probability
    chance = scored.probability.copy()
    if cues.time[1] <= now and then.any() and chance[then].max() < least:
        inside = np.flatnonzero(then)
        best = inside[np.argsort(-scored.total[inside], kind="stable")][:MOST_BY_DATE]
        chance[best] = max(least, OF_BEST * float(chance.max()))
    return chance


def _tells_of(passage: Passage, span: Range) -> bool:
    """Whether it was said soon after the time and names it."""
    if not span[1] <= passage.said_at < span[1] + TOLD_WITHIN:
        return False
    named = time_range(passage.text, passage.said_at)
    return named is not None and named[0] < span[1] and span[0] < named[1]
