"""Whether an answer used the memories that it was given, by words and by phrases. Pure.

A memory was used where the answer says words of it that the user had not just said, or refers to what it knew before.
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from schemas.vocabulary import UtilizationSignal
from services.observer.feedback.utilisation_words import FRAME, NOT_MEMORY, PHRASES, UNSURE, WEAK_PHRASES
from shared.language.normalise import fold, normalise
from shared.language.patterns import to_pattern
from shared.language.segment import LONE, keywords, stem

Id = TypeVar("Id", bound=Hashable)

STRENGTH: tuple[UtilizationSignal, ...] = ("keyword_match", "reference_phrase", "none")
READ = 8000
"""Characters of an answer that are read."""
CORE_WORDS = 24
SHORT = 4
"""Of a memory with more core words than this, one word alone must tell it from others."""
_HAN = to_pattern("[\u3400-\u9fff\uf900-\ufaff]")
_SENTENCE = to_pattern(r"[^。！？!?；;\n.]*(?:\.(?=\S)[^。！？!?；;\n.]*)*[。！？!?；;\n.]?")
_LATIN = to_pattern(r"[^\W\u3400-\u9fff]+(?:[-'’+#.][^\W\u3400-\u9fff]+)*\+{0,2}#?")


@dataclass(frozen=True, slots=True)
class ReplyWords:
    """The words of a text: Han in one run to search in, others by their stems."""

    folded: str
    stems: frozenset[str]

    def say(self, word: str) -> bool:
        """Whether the word, or a form of it, is among them: of three Han characters and more, all but one at an end."""
        if _HAN.search(word):
            return word in self.folded or (len(word) > 2 and (word[1:] in self.folded or word[:-1] in self.folded))
        return stem(word) in self.stems


def words_of(text: str) -> ReplyWords:
    """The text, ready to be asked for words."""
    folded = fold(normalise(text[:READ]))
    found = {part for run in _LATIN.findall(folded) for part in (run, *re.split(r"[-'’.]", run)) if part}
    return ReplyWords(folded, frozenset(map(stem, found)))


def core_words(text: str) -> list[str]:
    """The words that tell a memory from others: no stop words, none of those that only frame a statement."""
    found = (fold(word) for word in keywords(text, CORE_WORDS * 2))
    kept = [word for word in found if _tells(word)]
    return kept[:CORE_WORDS]


def _tells(word: str) -> bool:
    if word in FRAME or stem(word) in FRAME:
        return False
    return len(word) > 1 or word in LONE


def _distinctive(word: str) -> bool:
    """A name, number or long word: it stands in an answer by accident least."""
    if _HAN.search(word):
        return len(word) >= 3
    return len(word) >= 7 or any(c.isdigit() or c in "+#._-" for c in word)


def keyword(core: Sequence[str], reply: ReplyWords, asked: ReplyWords) -> bool:
    """Whether the reply says what the core words of a memory tell and the user had not said."""
    core = [word for word in core if not asked.say(word)]
    said = [word for word in core if reply.say(word)]
    return bool(said) and (len(core) <= SHORT or len(said) >= 2 or any(map(_distinctive, said)))


def references(reply: str) -> list[tuple[str, bool]]:
    """The sentences that refer to what was known before, and whether they leave no doubt of it."""
    sentences: list[tuple[str, bool]] = []
    for match in _SENTENCE.finditer(normalise(reply[:READ])):
        sentence = fold(match.group())
        if not sentence or sentence.rstrip().endswith(("?", "？")):
            continue
        strong, weak = PHRASES.search(sentence), WEAK_PHRASES.search(sentence)
        at = strong or weak
        if at and not UNSURE.search(sentence[: at.start()]) and not NOT_MEMORY.match(sentence, at.end()):
            sentences.append((sentence, strong is not None))
    return sentences


def uses(memories: Mapping[Id, str], reply: str, question: str) -> dict[Id, UtilizationSignal]:
    """How the reply took up each memory, the best first in `memories`; `question` is what the user had just asked.

    A phrase is laid to the memories whose words stand in its sentence; where none does, and no word told either, to the
    first.
    """
    replied, said = words_of(reply), words_of(question)
    cores = {id: core_words(text) for id, text in memories.items()}
    signals: dict[Id, UtilizationSignal] = {
        id: "keyword_match" if keyword(core, replied, said) else "none" for id, core in cores.items()
    }
    phrases = references(reply)
    for sentence, _ in phrases:
        near = words_of(sentence)
        for id, core in cores.items():
            if signals[id] == "none" and any(map(near.say, core)):
                signals[id] = "reference_phrase"
    if memories and any(strong for _, strong in phrases) and all(signal == "none" for signal in signals.values()):
        signals[next(iter(memories))] = "reference_phrase"
    return signals


def strongest(signals: Iterable[UtilizationSignal]) -> UtilizationSignal:
    """What is told of a package of which the memories fared like this."""
    found = frozenset(signals)
    for each in STRENGTH:
        if each in found:
            return each
    return "none"
