"""Whether an answer used the memories that it was given, by words and by phrases. Pure.

It used a memory if it contains words of it that the user had not just said, or refers to earlier knowledge.
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
"""The number of characters of an answer that are read."""
CORE_WORDS = 24
SHORT = 4
"""For a memory with more core words than this, one common word is not enough."""
_HAN = to_pattern("[\u3400-\u9fff\uf900-\ufaff]")
_SENTENCE = to_pattern(r"[^。！？!?；;\n.]*(?:\.(?=\S)[^。！？!?；;\n.]*)*[。！？!?；;\n.]?")
_LATIN = to_pattern(r"[^\W\u3400-\u9fff]+(?:[-'’+#.][^\W\u3400-\u9fff]+)*\+{0,2}#?")


@dataclass(frozen=True, slots=True)
class ReplyWords:
    """The words of a text: Chinese as one string to search in, others as stems."""

    folded: str
    stems: frozenset[str]

    def contains(self, word: str) -> bool:
        """Whether it contains the word or a form of it; a longer Chinese word may lack its first or last character."""
        if _HAN.search(word):
            return word in self.folded or (len(word) > 2 and (word[1:] in self.folded or word[:-1] in self.folded))
        return stem(word) in self.stems


def to_words(text: str) -> ReplyWords:
    """The words of the text."""
    folded = fold(normalise(text[:READ]))
    words = {part for run in _LATIN.findall(folded) for part in (run, *re.split(r"[-'’.]", run)) if part}
    return ReplyWords(folded, frozenset(map(stem, words)))


def list_core_words(text: str) -> list[str]:
    """The words that distinguish a memory from others: no stop words, no words that only frame a statement."""
    words = (fold(word) for word in keywords(text, CORE_WORDS * 2))
    return [word for word in words if _distinguishes(word)][:CORE_WORDS]


def _distinguishes(word: str) -> bool:
    if word in FRAME or stem(word) in FRAME:
        return False
    return len(word) > 1 or word in LONE


def _is_distinctive(word: str) -> bool:
    """Whether it is a name, number or long word, which an answer seldom contains by accident."""
    if _HAN.search(word):
        return len(word) >= 3
    return len(word) >= 7 or any(c.isdigit() or c in "+#._-" for c in word)


def has_keywords(core: Sequence[str], reply: ReplyWords, asked: ReplyWords) -> bool:
    """Whether the reply contains enough core words of a memory that the user had not said."""
    core = [word for word in core if not asked.contains(word)]
    common = [word for word in core if reply.contains(word)]
    return bool(common) and (len(core) <= SHORT or len(common) >= 2 or any(map(_is_distinctive, common)))


def find_references(reply: str) -> list[tuple[str, bool]]:
    """The sentences that refer to earlier knowledge, and whether they do so without doubt."""
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


def find_uses(memories: Mapping[Id, str], reply: str, question: str) -> dict[Id, UtilizationSignal]:
    """The signal by which the reply used each memory; `memories` has the best first, `question` is the last message.

    A phrase counts for the memories whose words are in its sentence. If there are none, and no memory was used by its
    words, it counts for the first.
    """
    replied, asked = to_words(reply), to_words(question)
    cores = {id: list_core_words(text) for id, text in memories.items()}
    signals: dict[Id, UtilizationSignal] = {
        id: "keyword_match" if has_keywords(core, replied, asked) else "none" for id, core in cores.items()
    }
    phrases = find_references(reply)
    for sentence, _ in phrases:
        near = to_words(sentence)
        for id, core in cores.items():
            if signals[id] == "none" and any(map(near.contains, core)):
                signals[id] = "reference_phrase"
    if memories and any(strong for _, strong in phrases) and all(signal == "none" for signal in signals.values()):
        signals[next(iter(memories))] = "reference_phrase"
    return signals


def choose_strongest(signals: Iterable[UtilizationSignal]) -> UtilizationSignal:
    """The strongest of the signals, which represents the package."""
    given = frozenset(signals)
    for each in STRENGTH:
        if each in given:
            return each
    return "none"
