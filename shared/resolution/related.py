"""How a sentence stands to something known: does that end, is it said again, or do both hold. Learned weights.

What both texts share is put as one sign, and what is another thing of the same sort as another, so that the weights
learn how people speak of a change, not of which thing (`tests/training/corpus/relations_*.tsv`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shared.cache import of_texts
from shared.classifiers import meanings
from shared.classifiers.network import Lead, grams, load
from shared.extraction.clauses import Clause, split
from shared.extraction.guards import Stance, stances
from shared.extraction.learned import ClauseClass, read
from shared.language.names import are_apart
from shared.language.patterns import to_pattern
from shared.language.segment import STOPWORDS, letters, query_terms, stem
from shared.resolution.roles import find_roles

SHARED, ALIKE = "≡", "≈"
_WORD = to_pattern(r"[a-z0-9][a-z0-9'’+#.-]*[a-z0-9+#]|[a-z0-9]|[\u3400-\u9fff]+", re.IGNORECASE)
_LONGEST = 8
_TERMS = 64
_PART = to_pattern(r"[，,。.!?！？;；:：…—\n]+")
_NUMBER = to_pattern(r"\d+")
_DENIES = to_pattern(
    r"不|没|别|无|非|未|戒|讨厌|取消"
    r"|\b(?:not|never|no|none|nobody|without|hates?|stop(?:ped)?|avoid)\b|n['’]t\b",
    re.IGNORECASE,
)
_STANCES = ("asked", "supposed", "momentary", "trial", "ironic", "reported")
MOST_READ = 300


@dataclass(frozen=True, slots=True)
class About:
    """A text as others are compared with it: the terms that carry it, the words of known sorts, their sorts, roles."""

    text: str
    terms: frozenset[str]
    sorts: frozenset[str]
    words: frozenset[str]
    roles: frozenset[str]
    topics: frozenset[str]
    """The terms but those that say where, when or how many."""
    all: frozenset[str]
    """By which another text may be found that has to do with this one: the terms, and the `signs`."""

    @property
    def signs(self) -> tuple[str, ...]:
        """The sorts and the roles that it fills, as search terms that no text has."""
        return _signs(self.sorts | self.roles)


def _signs(sorts: frozenset[str]) -> tuple[str, ...]:
    return tuple(f"{ALIKE}{sort}" for sort in sorted(sorts))


@dataclass(frozen=True, slots=True)
class SentenceRelation:
    """How likely it is that what is known ends, is said again, or stands beside what is said.

    `shares` is whether both have a word in common; `only_denies` whether the sentence puts nothing in its place.
    """

    ends: float
    same: float
    both: float
    shares: bool = False
    only_denies: bool = False


@of_texts(4096)
def about(text: str) -> About:
    """The text's terms that carry it, and the sorts of thing that it names."""
    named = list(meanings.find_known_words(text))
    sorts = frozenset(sort for each in named for sort in each.sorts)
    terms, words = frozenset(query_terms(text, _TERMS)), frozenset(each.word for each in named)
    roles = frozenset(f"role {role}" for part in find_roles(text) for role in part.filled)
    circumstances = [each.word for each in named if each.sorts <= meanings.CIRCUMSTANCES]
    topics = terms.difference(*(query_terms(word, _TERMS) for word in circumstances), circumstances)
    return About(text.lower(), terms, sorts, words, roles, topics, terms.union(_signs(sorts | roles)))


@dataclass(frozen=True, slots=True)
class Marked:
    """A sentence with the words that it shares put as signs; where these stood."""

    text: str
    shared: frozenset[str]
    alike: frozenset[str]
    places: tuple[tuple[int, int], ...]

    @property
    def telling(self) -> bool:
        """Whether a word that both have is more than a verb or a filler."""
        return not all(map(meanings.says_little, self.shared))


@of_texts(256)
def find_named(said: str) -> tuple[meanings.KnownWord, ...]:
    return tuple(meanings.find_known_words(said))


@of_texts(1024)
def mark_known(known: About, said: str) -> Marked:
    """The sentence as compared with what is known."""
    places: list[tuple[int, int, str]] = []
    shared: set[str] = set()
    alike: set[str] = set()
    for word in _WORD.finditer(said):
        if word[0][0] >= "\u3400":
            for start, end in _common(word[0], known.text):
                found = word[0][start:end]
                if any(term in found for term in known.terms):
                    places.append((word.start() + start, word.start() + end, SHARED))
                    shared.add(found)
        elif (low := word[0].lower()) not in STOPWORDS and stem(low) in known.terms:
            places.append((word.start(), word.end(), SHARED))
            shared.add(stem(low))
    taken = {at for start, end, _ in places for at in range(start, end)}
    for each in find_named(said):
        common = each.sorts & known.sorts
        if common and each.word not in known.words and taken.isdisjoint(range(each.start, each.end)):
            places.append((each.start, each.end, ALIKE))
            alike |= common
    text, last = "", 0
    for start, end, sign in sorted(places):
        text += f"{said[last:start]} {sign} "
        last = end
    spans = tuple((start, end) for start, end, _ in sorted(places))
    return Marked(text + said[last:], frozenset(shared), frozenset(alike), spans)


def _common(run: str, known: str) -> list[tuple[int, int]]:
    """The longest stretches of two characters or more that a run of Chinese has in common with what is known."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(run):
        for length in range(min(_LONGEST, len(run) - at), 1, -1):
            if run[at : at + length] in known:
                found.append((at, at + length))
                at += length
                break
        else:
            at += 1
    return found


@dataclass(frozen=True, slots=True)
class _ReadSentence:
    """The clauses of a sentence with how they are put, and what the learned weights say of them."""

    clauses: tuple[Clause, ...]
    verdicts: tuple[ClauseClass, ...]
    stances: tuple[Stance, ...]


@of_texts(1024)
def read_sentence(text: str) -> _ReadSentence:
    clauses = split(text)
    return _ReadSentence(clauses, tuple(read(clauses)), stances(clauses))


def signs(known: str, said: str) -> tuple[list[str], list[str]] | None:
    """The grams of what is known and of the sentence beside it; None where they share nothing."""
    own = find_own(known, said)
    return None if own is None else (grams(known[:MOST_READ]), own)


def find_own(known: str, said: str) -> list[str] | None:
    of = about(known)
    found = mark_known(of, said)
    if not found.telling and not found.alike:
        return None
    share = sum(any(t in s or s in t for s in found.shared) for t in of.terms) / max(1, len(of.terms))
    near = " ".join(part for part in _PART.split(found.text) if SHARED in part or ALIKE in part)
    return [
        *grams(found.text),
        *(f"*{gram}" for gram in grams(near)),
        f"=shares:{min(5, round(5 * share))}",
        f"=length:{min(8, sum(map(len, found.shared)))}",
        f"=shared:{min(3, len(found.shared))}",
        f"=alike:{min(2, len(found.alike))}",
        f"=denies:{_denies(known)}{_denies(near)}",
        *(f"=sort:{sort}" for sort in sorted(found.alike)),
        *list_stances(read_sentence(said), found.places),
    ]


@of_texts(4096)
def _lead(known: str) -> Lead:
    """What is known, as the network reads it before a sentence."""
    model = load("relations")
    return model.lead(model.find_rows(grams(known[:MOST_READ])))


def _denies(text: str) -> int:
    """Whether the text says that something is not so: 1 for one denial, 2 for one that takes another back."""
    return min(2, len(_DENIES.findall(text)))


def _only_denies(text: str) -> bool:
    """Whether each of its clauses says that something is not so."""
    return all(_denies(clause.text) for clause in read_sentence(text).clauses)


def list_stances(said: _ReadSentence, places: Sequence[tuple[int, int]]) -> list[str]:
    """How the clauses that share something are put, and the sentence as a whole."""
    at = [n for n, c in enumerate(said.clauses) if any(c.start < end and start < c.end for start, end in places)]
    found: list[str] = []
    for sign, chosen in (("", range(len(said.clauses))), ("*", at)):
        found += [
            f"{sign}=changed:{round(5 * max((said.verdicts[n].changed for n in chosen), default=0.0))}",
            f"{sign}=kept:{round(5 * max((said.verdicts[n].kept for n in chosen), default=0.0))}",
            *sorted({f"{sign}=stance:{said.stances[n].subject}" for n in chosen}),
            *(f"{sign}={name}" for name in _STANCES if any(getattr(said.stances[n], name) for n in chosen)),
        ]
    return found


def may_be_same(known: str, said: str) -> bool:
    """Whether nothing speaks against one saying the other again: no denial, other number, letter or thing of a sort."""
    said = said[:MOST_READ]
    if (
        are_apart(known, said)
        or letters(known) != letters(said)
        or set(_NUMBER.findall(known)) != set(_NUMBER.findall(said))
        or _denies(known) % 2 != _denies(said) % 2
    ):
        return False
    return not mark_known(about(known), said).alike and not mark_known(about(said), known).alike


def relations(known: Sequence[str], said: str) -> list[SentenceRelation]:
    """How the sentence stands to each of these texts; nothing is said of one about another thing of its kind."""
    said = said[:MOST_READ]
    model = load("relations")
    near = ((place, text) for place, text in enumerate(known) if not are_apart(text, said))
    own = {place: signs for place, text in near if (signs := find_own(text, said))}
    relations = [SentenceRelation(0.0, 0.0, 0.0)] * len(known)
    if own:
        leads, rows = [_lead(known[place]) for place in own], [model.find_rows(signs) for signs in own.values()]
        for place, shares in zip(own, model.shares_after(leads, rows).tolist(), strict=True):
            relations[place] = _relation(dict(zip(model.classes, shares, strict=True)), known[place], said)
    return relations


def _relation(shares: dict[str, float], known: str, said: str) -> SentenceRelation:
    found = mark_known(about(known), said)
    again = shares["same"] if _denies(known) % 2 == _denies(said) % 2 else 0.0
    return SentenceRelation(
        shares["ends"], again, shares["both"], found.telling, not found.alike and _only_denies(said)
    )
