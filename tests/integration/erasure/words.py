"""Sentences with made-up words, so that every trace of them is recognisable."""

import random
from dataclasses import dataclass

NEEDLE = r"zq[a-z]{9}"
"""A made-up English word."""
_HAN = [chr(point) for point in range(0x9F00, 0x9F90)]
"""Rare characters that no sentence of the product contains."""
SENTENCES = {
    "en": (
        "I prefer {0} tea.",
        "I like {0}.",
        "I am allergic to {0}.",
        "I live in {0}.",
        "I own a {0}.",
        "My goal is to finish {0}.",
        "My dog is called {0}.",
        "I no longer like {0}.",
        "Marta called about {0}.",
    ),
    "zh": (
        "我喜欢喝{0}茶。",
        "我对{0}过敏。",
        "我叫{0}。",
        "我住在{0}。",
        "我的目标是完成{0}。",
        "我的狗叫{0}。",
        "我不再喜欢{0}。",
        "我决定用{0}。",
    ),
}
LEARNT = {"en": "I prefer {0} tea.", "zh": "我喜欢喝{0}茶。"}
"""Sentences that are always learnt."""


def word(dice: random.Random, language: str) -> str:
    """A unique word of this language."""
    if language == "zh":
        return "".join(dice.sample(_HAN, 4))
    return "zq" + "".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=9))


@dataclass(frozen=True)
class Sentence:
    """A sentence and its word."""

    text: str
    word: str


def sentence(dice: random.Random, language: str) -> Sentence:
    """A sentence with a new word."""
    new = word(dice, language)
    return Sentence(dice.choice(SENTENCES[language]).format(new), new)


def learnt(dice: random.Random, language: str) -> Sentence:
    """A sentence with a new word that always becomes a memory."""
    new = word(dice, language)
    return Sentence(LEARNT[language].format(new), new)
