"""Which sentences of a message are kept: the gate before memory, asked once for each sentence."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from shared.extraction.clauses import Clause, split
from shared.extraction.guards import Stance, stances
from shared.extraction.lasting import estimate_lasting
from shared.extraction.learned import ClauseClass, read
from shared.extraction.model import Found
from shared.extraction.orders import order_in
from shared.extraction.relatives import tells_limit_of_somebody, tells_what_lasts
from shared.extraction.slots import tells_of_ticket
from shared.language.patterns import to_pattern

SHORTEST, SHORTEST_ZH = 3, 4
"""Words of a sentence, and letters of a Chinese one, that may state something without saying of whom."""
SURE = 0.6
"""From here on a sentence states something lasting, whatever the learned weights of its clauses say."""
PLAINLY = 0.75
"""How likely it is that what is plainly said of somebody else is worth keeping."""
MAY_CORRECT = 0.1
"""From here on a sentence corrects, where the learned weights take it for a change."""
LEAST, PLAIN = 0.2, 0.95
"""A sentence less likely than SURE is kept all the same from the first on, where a clause is surer than the second."""
_MARKS = " .,!?。，！？~～"
_LAUGHS = to_pattern(r"[😂🤣😹😆😅🙃😜]|\b(?:lol|lmao|rofl|ha(?:ha)+h?|jk|just kidding)\b|哈哈|笑死|嘿嘿|开玩笑", re.I)
INTRODUCTIONS = frozenset({"profile:user:name", "profile:user:call_me"})


def estimate_sentences(
    text: str, clauses: Sequence[Clause], stand: Sequence[Stance], verdicts: Sequence[ClauseClass]
) -> dict[int, float]:
    """How likely each sentence is to state something lasting."""
    found: dict[int, float] = {}
    for number, places in groupby(range(len(clauses)), key=lambda place: clauses[place].sentence):
        at = list(places)
        own = slice(at[0], at[-1] + 1)
        words = text[clauses[at[0]].start : clauses[at[-1]].end]
        if _is_bare(words, stand[own]) or all(stance.asked for stance in stand[own]):
            found[number] = 0.0
            continue
        likely = estimate_lasting(words, clauses[own], stand[own], verdicts[own])
        found[number] = max(likely, PLAINLY) if _tells_of_another(words, stand[own], likely) else likely
    return found


def tells_in_jest(text: str) -> bool:
    """Whether the text laughs at itself and states nothing lasting: `i'm an idiot 😂`."""
    if not _LAUGHS.search(text):
        return False
    clauses = split(text)
    return max(estimate_sentences(text, clauses, stances(clauses), read(clauses)).values(), default=0.0) < SURE


def _tells_of_another(text: str, stand: Sequence[Stance], likely: float) -> bool:
    """Whether the sentence says plainly what somebody else is or does, or what their health or faith forbids them."""
    if stand[0].subject == "other" and tells_what_lasts(text):
        return all(stance.stands for stance in stand)
    if likely < LEAST or not tells_limit_of_somebody(text):
        return False
    return not any(s.supposed or s.ironic or s.reported for s in stand)


def _is_bare(text: str, stand: Sequence[Stance]) -> bool:
    """Whether the words name something and say of nobody that it is so: `Chicago.`, 两百块."""
    short = len(text.split()) < SHORTEST if text.isascii() else len(text.strip(_MARKS)) < SHORTEST_ZH
    return short and not any(stance.explicit for stance in stand) and not tells_limit_of_somebody(text)


def _states_enough(verdicts: Sequence[ClauseClass], likely: float) -> bool:
    """Whether a sentence states something to keep: by how much it tells, or because a clause of it says it plainly."""
    return likely >= SURE or (likely >= LEAST and max(verdict.kept for verdict in verdicts) >= PLAIN)


def stands_anyway(found: Found) -> bool:
    """Whether what a pattern found is kept however little its sentence tells: a correction, a name, an appointment."""
    return found.assertion == "correction" or found.key in INTRODUCTIONS or found.pattern == "scheduled"


def keep_sentences(
    clauses: Sequence[Clause], verdicts: Sequence[ClauseClass], likely: Mapping[int, float]
) -> dict[int, bool]:
    """By number whether a sentence states something to keep, as an order or the end of a ticket always does."""
    kept: dict[int, bool] = {}
    for number, places in groupby(range(len(clauses)), key=lambda place: clauses[place].sentence):
        own = list(places)
        ordered = any(order_in(text) or tells_of_ticket(text) for text in (clauses[place].text for place in own))
        kept[number] = ordered or _states_enough([verdicts[place] for place in own], likely[number])
    return kept
