"""What a user tells again and again: which short messages tell an act, which tell the same one, what comes of it. Pure.

Nothing is asked of a model: the words that say that something begins or is over are taken away, and what is left of two
messages is compared by words and by static vectors.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from shared.cache import of_texts
from shared.classifiers.static_encoder import Vector, load_static_encoder
from shared.extraction import habits_words as words
from shared.extraction.clauses import CJK, language_of, split
from shared.extraction.guards import stances
from shared.extraction.keys import slug
from shared.language import segment
from shared.language.segment import list_synonyms

DETECTOR = "habits"
"""By which the observation of a habit is known."""
PREFIX = "pattern:habit:"
MOST_WORDS, MOST_LETTERS, MOST_CHARS = 12, 24, 100
"""So long a message may be that is counted: in words, in Chinese letters, in all."""
PARTS = 2
"""So many things a message may tell: one of them is the act."""
ONE_OF_OTHER, EACH_OWN = 0.6, 0.85
"""Cosines from which two acts are one: where one says no more than the other, and where each has words of its own."""
DAYS_LEAST = 3
"""On so many days it was told at least: what is said often in two days is an errand."""
COUNTED = (8, 16, 32)
"""At so many sessions a habit is told anew, with its count."""
_WORD = re.compile(r"[\w'’-]+")


@dataclass(frozen=True, slots=True)
class Act:
    """A message that tells an act: its words, those that say what was done, and the terms of these."""

    text: str
    core: str
    terms: tuple[str, ...]

    @property
    def sought(self) -> tuple[str, ...]:
        """The terms by one of which another message that tells it can be found, the likeliest first."""
        letters = CJK.findall(self.core)
        return tuple(dict.fromkeys([*self.terms, *list_synonyms(self.terms), *letters]))


@dataclass(frozen=True, slots=True)
class HabitTelling:
    """When and in which session an act was told; `key` and `times` are those of the habit that was made of it then."""

    act: Act
    session_id: str
    at: datetime
    key: str | None = None
    times: int = 0


@dataclass(frozen=True, slots=True)
class Habit:
    """What was told again and again: how often, by sessions, and since when."""

    key: str
    times: int
    since: date


@dataclass(frozen=True, slots=True)
class HabitVerdict:
    """What follows from a telling: a habit to be told, and whether its act is one that is known as a habit."""

    habit: Habit | None = None
    known: bool = False


@of_texts(4096)
def find_act(text: str) -> Act | None:
    """The act that a short message tells; None where it asks, orders, greets, denies, or tells of somebody else."""
    text = text.strip()
    if not text or len(text) > MOST_CHARS or "\n" in text:
        return None
    core = _core_zh(text) if language_of(text) == "zh" else _core_en(text)
    terms = tuple(segment.query_terms(core)) if core else ()
    return Act(text, core, terms) if terms and _stands(text) else None


def _core_en(text: str) -> str:
    if len(text.split()) > MOST_WORDS or words.NOT_EN.search(text):
        return ""
    for part in _parts(words.PART_EN, words.LEAD_EN.sub("", text)):
        bare = words.WORKOUT_EN.sub("done workout", words.LEAD_EN.sub("", part))
        said = _WORD.findall(bare) if words.ACT_EN.search(bare) else ()
        if core := " ".join(word for word in said if word.lower() not in words.FRAME_EN and not word.isdigit()):
            return core
    return ""


def _core_zh(text: str) -> str:
    if len(CJK.findall(text)) > MOST_LETTERS or words.NOT_ZH.search(text):
        return ""
    text = words.SIGNED_ZH.sub("打卡", words.LEAD_ZH.sub("", text))
    for part in _parts(words.PART_ZH, text):
        bare = words.TAIL_ZH.sub("", words.OWN_ZH.sub("", part))
        if "的" in bare or words.OTHERS_ZH.match(bare) or not words.ACT_ZH.search(bare):
            continue
        if core := words.FRAME_ZH.sub("", bare):
            return core
    return ""


def _parts(between: re.Pattern[str], text: str) -> list[str]:
    """The things that a message tells one after the other; none where there are too many to be one telling."""
    parts = [part.strip() for part in between.split(text) if part and part.strip()]
    return parts if len(parts) <= PARTS else []


def _stands(text: str) -> bool:
    """Whether its speaker says it of themself, and asks and supposes nothing."""
    bare = words.LEAD_EN.sub("", text)
    clauses = split(f"I {bare}" if words.TOLD_EN.match(bare) else text)
    return all(stance.stands and stance.subject not in ("other", "agent") for stance in stances(clauses))


def is_same_act(one: Act, other: Act) -> bool:
    """Whether both tell the same: they share a word that says what was done, and mean nearly the same besides."""
    if one.core.lower() == other.core.lower():
        return True
    shared = set(one.terms) & set(other.terms)
    alike_one = shared | set(one.terms) & set(list_synonyms(other.terms))
    alike_other = shared | set(other.terms) & set(list_synonyms(one.terms))
    if not alike_one and not alike_other:
        return False
    own, own_other = list_beside(one.terms, alike_one, shared), list_beside(other.terms, alike_other, shared)
    if (own or own_other) and not (alike_one | alike_other) - words.LIGHT:
        return False
    if len(own) > max(len(alike_one), 1) or len(own_other) > max(len(alike_other), 1):
        return False
    least = EACH_OWN if own and own_other and shared else ONE_OF_OTHER
    return float(_vector(one.core) @ _vector(other.core)) >= least


def tell_same(one: str, other: str) -> bool:
    """Whether both texts are short messages that tell one act."""
    first, second = find_act(one), find_act(other)
    return first is not None and second is not None and is_same_act(first, second)


def list_beside(terms: Sequence[str], alike: set[str], shared: set[str]) -> list[str]:
    """The terms that the other has no word for: 晨跑 is told by 跑步 where both run."""
    acting = shared & words.ACTING
    return [each for each in terms if each not in alike and not any(verb in each for verb in acting)]


@of_texts(4096)
def _vector(core: str) -> Vector:
    return load_static_encoder().encode(core)


def judge(now: HabitTelling, earlier: Sequence[HabitTelling], sessions_least: int) -> HabitVerdict:
    """What the telling makes of all that were told before: at first a habit, then again at some counts, else nothing.

    The key of a habit has words that all its versions say: with what is erased of the earlier ones goes nothing that a
    later one does not say itself. A telling in other words makes no version; the next one may.
    """
    same = [each for each in earlier if is_same_act(each.act, now.act)]
    habits = [each for each in earlier if each.key and _belongs(each, now, same)]
    sessions = {now.session_id, *(each.session_id for each in same)}
    days = {now.at.date(), *(each.at.date() for each in same)}
    if not habits:
        if len(sessions) < sessions_least or len(days) < DAYS_LEAST:
            return HabitVerdict()
        return HabitVerdict(Habit(_key(now.act, same), len(sessions), min(days)), known=True)
    latest = max(habits, key=lambda each: (each.times, each.at))
    due = next((count for count in COUNTED if count > latest.times), None)
    if due is None or len(sessions) < due or latest.key is None or not _says(now.act, latest.key):
        return HabitVerdict(known=True)
    return HabitVerdict(Habit(latest.key, len(sessions), min(days)), known=True)


def _belongs(habit: HabitTelling, now: HabitTelling, same: Sequence[HabitTelling]) -> bool:
    return is_same_act(habit.act, now.act) or any(is_same_act(habit.act, each.act) for each in same)


def _key(act: Act, same: Sequence[HabitTelling]) -> str:
    """Of the words that say what was done those that at least half of the tellings have."""
    said = segment.keywords(act.core) or [act.core]
    common = [word for word in said if 2 * sum(segment.stem(word) in each.act.terms for each in same) >= len(same)]
    return PREFIX + slug(" ".join(common or said))


def _says(act: Act, key: str) -> bool:
    """Whether the act is told with every word of the key."""
    return {segment.stem(word) for word in key.removeprefix(PREFIX).split("-")} <= set(act.terms)
