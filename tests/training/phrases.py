"""Sentences generated from words of the lexicon: the same fact about the user, about others, as question or
supposition.

They teach that the frame, and not the thing in it, makes a statement. `phrases/*.tsv` contain a class and a frame per
line; `{a|b}` is one of several, `{drink}` a word of the lexicon, `{s}` the user, `{o}` another person.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

EACH = 14
"""Sentences per frame."""
PLACES: dict[str, tuple[str, ...]] = {
    "drink": ("drink",),
    "food": ("dish", "food_ingredient"),
    "sport": ("sport",),
    "city": ("city",),
    "job": ("job",),
    "work": ("workplace",),
    "allergen": ("allergen",),
    "tool": ("software", "programming"),
    "illness": ("illness",),
    "music": ("music",),
    "animal": ("animal",),
    "study": ("study",),
    "language": ("language",),
    "device": ("device",),
    "style": ("style_of_answer",),
    "event": ("event_kind",),
    "hobby": ("hobby",),
    "clothing": ("clothing",),
    "document": ("document",),
    "programming": ("programming",),
}
"""The lexicon classes that a place in a frame may contain."""
PEOPLE = ("family", "friend_colleague")
KNOWN = 0.6
"""How often another person is from the list, and not a relative or a colleague."""
GREETED = 0.15
"""How often a greeting precedes a sentence."""
MINE = {"zh": "我", "en": "my "}


LEXICON = Path(__file__).parents[2] / "shared" / "classifiers" / "lexicon"


def words(path: Path) -> dict[str, list[str]]:
    """The words of each class of a lexicon."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("#"):
            name = line[1:].split()[0]
        else:
            found.setdefault(name, []).extend(part.strip() for part in line.split("|") if part.strip())
    return found


def lines(folder: Path) -> Iterator[str]:
    """Tagged lines of both languages, deterministic; the first rows are the user, others, and greetings."""
    random = np.random.default_rng(11)
    for language in ("zh", "en"):
        lexicon = words(LEXICON / f"{language}.txt")
        rows = [line.split("\t") for line in (folder / "phrases" / f"{language}.tsv").read_text("utf-8").splitlines()]
        own, others, greetings = (row[1].split("|") for row in rows[:3])
        people = [MINE[language] + word for name in PEOPLE for word in lexicon[name]]
        for kind, frame in rows[3:]:
            for _ in range(EACH):
                text = _fill_frame(frame, lexicon, (own, others, people), random)
                before = str(random.choice(greetings)) if random.random() < GREETED else ""
                yield before + (text if kind == "none" else f"<{kind}>{text}</{kind}>")


def _fill_frame(
    frame: str, lexicon: dict[str, list[str]], who: tuple[list[str], list[str], list[str]], random: np.random.Generator
) -> str:
    """The frame with every place filled, from the inside out."""
    own, others, people = who
    while "{" in frame:
        end = frame.index("}")
        begin = frame.rindex("{", 0, end)
        name = str(random.choice(frame[begin + 1 : end].split("|")))
        if name in PLACES:
            name = str(random.choice([word for each in PLACES[name] for word in lexicon[each]]))
        elif name == "s":
            name = str(random.choice(own))
        elif name == "o":
            name = str(random.choice(others if random.random() < KNOWN else people))
        frame = frame[:begin] + name + frame[end + 1 :]
    return frame


def chosen(frame: str, words: dict[str, str], random: np.random.Generator) -> str:
    """The frame with these words in their places, and one of each set of alternatives."""
    while "{" in frame:
        end = frame.index("}")
        begin = frame.rindex("{", 0, end)
        name = frame[begin + 1 : end]
        frame = frame[:begin] + (words.get(name) or str(random.choice(name.split("|")))) + frame[end + 1 :]
    return frame
