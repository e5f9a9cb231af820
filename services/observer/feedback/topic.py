"""Whether a message continues the topic of the last answer or turns to another. Pure."""

from services.observer.feedback.utilisation import core_words, words_of
from services.observer.feedback.utilisation_words import GOES_ON, TURNS_AWAY
from shared.language.normalise import fold, normalise
from shared.language.segment import list_synonyms, stem

ENOUGH = 2
"""So many words of its own make a message a topic of its own."""


def goes_on(message: str, answer: str, question: str) -> bool | None:
    """True for a follow-up, False for another topic, None where the message is too short of words to tell.

    `question` is what the answer answered.
    """
    text = fold(normalise(message))
    before = words_of(f"{question}\n{answer}")
    own = core_words(message)
    alike = list_synonyms([stem(word) for word in own])
    shared = [word for word in own if before.say(word)]
    if TURNS_AWAY.search(text):
        return len(shared) >= ENOUGH
    if shared or any(map(before.say, alike)) or GOES_ON.search(text):
        return True
    return False if len(own) >= ENOUGH else None
