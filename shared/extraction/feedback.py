"""What the user's message says about the answer before it (seed 004 section 4.1.1-B), by learned weights."""

from typing import cast

from schemas.vocabulary import FeedbackSignal
from shared.classifiers.network import grams, load
from shared.extraction.model import Feedback, MessageText

ANSWER_END = 80
"""Characters of the answer that matter: what it ends with is what is answered."""
READ = 160
LEAST_SHARED = 2
"""Letters of a gram above which it matters that both have it."""
LEAST_SHARE = 0.4
"""Below this the message says nothing sure of the answer."""
LEAST_ALONE = 0.55
"""The same where the answer is not known."""


def signs(before: str, text: str) -> tuple[list[str], list[str]]:
    """The grams of the end of an answer, and of the message after it."""
    asks = "=asks" if before.rstrip().endswith(("?", "？")) else "=tells"
    answer, said = grams(before[-ANSWER_END:]), grams(text[:READ])
    shared = len({gram for gram in said if len(gram) > LEAST_SHARED}.intersection(answer))
    return [*answer, asks], [*said, f"~{min(len(text) // 8, 12)}", f"&{min(shared, 6)}"]


def find(message: MessageText, before: str | None) -> Feedback:
    """The signal of the message as a whole; before None is an answer not known, an empty one that there was none."""
    neutral = Feedback("neutral", "", (0, 0), message.ordinal)
    if before == "" or not message.text.strip():
        return neutral
    model = load("feedback")
    answer, shown_signs = signs(before or "", message.text)
    rows = [model.find_rows(row) for row in ((answer, shown_signs) if before else (shown_signs,))]
    shares = dict(zip(model.classes, model.shares(rows)[-1].tolist(), strict=True))
    best = max(shares, key=shares.__getitem__)
    if best == "neutral" or shares[best] < (LEAST_SHARE if before else LEAST_ALONE):
        return neutral
    words = " ".join(model.reasons(shown_signs, best))
    return Feedback(cast(FeedbackSignal, best), words, (0, min(len(message.text), READ)), message.ordinal)
