"""Determines what the user wants from a turn, by learned weights."""

import re
from dataclasses import dataclass
from typing import cast

from schemas.vocabulary import Intent
from shared.classifiers.network import grams, load

HEAD, TAIL = 300, 150
"""The beginning and the end of a long message say what the user wants."""
LEAST_SHARE = 0.3
"""With a lower likelihood no intent is chosen."""


@dataclass(frozen=True, slots=True)
class UnderstoodIntent:
    """The intent with its confidence and the words that support it."""

    intent: Intent
    confidence: float
    cues: tuple[str, ...]


def signs(message: str) -> list[str]:
    """The features of the part of a message that is read."""
    text = message.strip()
    read = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
    return [*grams(read), f"~{min(len(read) // 8, 12)}"]


def understand(message: str) -> UnderstoodIntent:
    """The likeliest intent; small talk for a text without words; `other` with low confidence if no intent is likely."""
    if not re.search(r"\w", message):
        return UnderstoodIntent("small_talk", 0.5, ())
    model = load("intents")
    message_signs = signs(message)
    shares = dict(zip(model.classes, model.shares([model.find_rows(message_signs)])[0].tolist(), strict=True))
    best = max(shares, key=shares.__getitem__)
    if best == "other" or shares[best] < LEAST_SHARE:
        return UnderstoodIntent("other", 0.3, ())
    return UnderstoodIntent(cast(Intent, best), round(shares[best], 2), model.reasons(message_signs, best))
