"""Removes repeats: a package says each thing once and shows a limited number of texts per source.

Of a memory, the message it was learnt from and the assistant's reply, the memory is shown, and the message if it says
more. What window, summary or core memory say already is not repeated.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self
from urllib.parse import urlsplit

from services.compose.rules.candidates import Candidate, CoreMemory, Dropped, RankedCandidate
from shared.cache import of_texts
from shared.extraction.changes import tells_past
from shared.language.patterns import to_pattern
from shared.language.replies import asserts_something
from shared.language.segment import query_terms, terms
from shared.policy import DiversityShares
from shared.screening.sanitize import DEFAULT_SANITIZE, SanitizePolicy, show

REPEATED = 0.8
"""The share of common words above which two texts are repeats."""
ECHOED = 0.5
"""The same for a reply of the assistant, which rephrases."""
NEW_IN_ECHO = 3
"""A reply with more new words than this is not a repeat."""
NEW_IN_REPLY = 2
"""A reply with no more new words than this only acknowledges."""
HAN_OF_WORD = 2
"""How many Chinese characters count as a word."""
FAR_LONGER = 4
"""A text so many times as long mentions the other in passing; both stay."""
ENOUGH = 4
"""Fewer common words than this may be chance in texts from different times."""
MOST_TERMS = 96
MARGIN = 8
"""How many more pieces than a package takes are compared."""
BARE_NAME = 2
"""An entity of at most so many words is a mere name."""
_HAN = to_pattern(r"[\u3400-\u9fff]")
_RESOLVED = to_pattern(r"\s*[（(]\d{4}-\d\d-\d\d[^()（）]{0,20}[)）](?=[\s.。]*$)")
"""A date that a memory has resolved from a relative one: yesterday, 下个月."""
_NUMBER = to_pattern(r"\d+")
_NOT = to_pattern(r"\b(?:not|no|never|none|nothing|without|stop(?:ped)?|any ?more)\b|n['’]t\b|不|没|别|勿|未|无需|停")


@dataclass(frozen=True, slots=True)
class RepeatCandidate:
    """What a package shows anyway: core memory, and the screened texts of window and summary."""

    core: Sequence[CoreMemory] = ()
    texts: Sequence[str] = ()


class Comparable:
    """A text prepared for comparison."""

    def __init__(self, text: str) -> None:
        self._text = _RESOLVED.sub("", text)
        self._names_day = len(self._text) < len(text)

    @cached_property
    def terms(self) -> frozenset[str]:
        """Its content words."""
        return frozenset(query_terms(self._text, MOST_TERMS))

    @cached_property
    def pieces(self) -> frozenset[str]:
        """Its content words, Chinese ones as characters, so that segmentation does not matter."""
        return frozenset(piece for term in self.terms for piece in (term if _HAN.search(term) else (term,)))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(_NUMBER.findall(self._text))

    @cached_property
    def denies(self) -> bool:
        """Whether it negates."""
        return _NOT.search(self._text) is not None

    @cached_property
    def is_past(self) -> bool:
        """Whether it is about the past."""
        return tells_past(self._text)

    def shared_with(self, other: "Comparable") -> float:
        """The share of its words that the other has; 0 if a number, a negation or an end occurs in only one."""
        if not self.terms or not self.numbers <= other.numbers or self.denies != other.denies:
            return 0.0
        if self.is_past != other.is_past:
            return 0.0
        return len(self.terms & other.terms) / len(self.terms)

    def stands_in(self, other: "Comparable") -> bool:
        """Whether the other has all its words and numbers."""
        return bool(self.pieces) and self.pieces <= other.pieces and self.numbers <= other.numbers

    def dates(self, other: "Comparable") -> bool:
        """Whether it gives the date of what the other says and hardly more."""
        return self._names_day and _count_words(other.pieces - self.pieces) <= NEW_IN_REPLY

    def only_replies_to(self, other: "Comparable") -> bool:
        """Whether it has hardly a word, and no number, beyond the text that it answers."""
        if not self.numbers <= other.numbers:
            return False
        new = _count_words(self.pieces - other.pieces)
        echoes = new <= NEW_IN_ECHO and _count_words(self.pieces & other.pieces) >= ECHOED * _count_words(self.pieces)
        return new <= NEW_IN_REPLY or echoes


def _count_words(pieces: Collection[str]) -> float:
    return sum(1 / HAN_OF_WORD if _HAN.search(each) else 1.0 for each in pieces)


@of_texts(2048)
def to_comparable(text: str) -> Comparable:
    return Comparable(text)


@dataclass(frozen=True, slots=True)
class _KeptEvidence:
    """A piece of evidence that is kept so far."""

    ranked: RankedCandidate
    said: Comparable

    @property
    def source(self) -> Candidate:
        return self.ranked.candidate

    def repeats(self, other: "_KeptEvidence") -> bool:
        """Whether it says no more than the other."""
        return self.says_only(other.source.turn_id, other.said)

    def says_only(self, turn: str | None, other: Comparable) -> bool:
        """Whether it says no more than this message or memory of the turn."""
        share = self.said.shared_with(other)
        answers = self.source.role == "assistant" and not self.source.memory_id
        if turn is not None and turn == self.source.turn_id:
            return share >= REPEATED or (answers and self.said.only_replies_to(other))
        if answers and self.said.stands_in(other):
            return True
        mutual = other.shared_with(self.said) >= REPEATED
        return share >= REPEATED and len(self.said.terms) >= (2 if mutual else ENOUGH)


def drop_repeats(
    ranked: Sequence[RankedCandidate],
    beside: RepeatCandidate,
    most: int,
    sanitize: SanitizePolicy = DEFAULT_SANITIZE,
    *,
    questions: bool = False,
) -> tuple[list[RankedCandidate], list[Dropped]]:
    """The order without repeats, and the dropped candidates.

    Of two repeats the better one takes the higher rank. Texts are compared by what may be shown of them. With
    `questions` earlier questions count too. Candidates too low for a package of `most` are not compared.
    """
    shown = [to_comparable(text) for text in beside.texts]
    core = [(each.turn_id, to_comparable(show(each.text, each.comes_from, sanitize).text)) for each in beside.core]
    statements: list[_KeptEvidence] = []
    dropped: list[Dropped] = []
    for n, each in enumerate(ranked):
        if len(statements) >= most + MARGIN:
            return [*(statement.ranked for statement in statements), *ranked[n:]], dropped
        statement = _KeptEvidence(
            each, to_comparable(show(each.candidate.text, each.candidate.comes_from, sanitize).text)
        )
        if each.candidate.is_resource:
            statements.append(statement)
        elif not states_something(each.candidate, questions=questions):
            dropped.append(Dropped(each.key, "relevance", each.score, "states_nothing"))
        elif any(statement.says_only(turn, said) for turn, said in core) or (
            len(statement.said.terms) > 1 and any(statement.said.shared_with(text) >= REPEATED for text in shown)
        ):
            dropped.append(Dropped(each.key, "diversity", each.score, "shown_beside"))
        else:
            gone = _place_evidence(statements, statement)
            dropped += [Dropped(out.ranked.key, "diversity", out.ranked.score, "told_once") for out in gone]
    return [each.ranked for each in statements], dropped


def states_something(source: Candidate, *, questions: bool = False) -> bool:
    """Whether it is more than a bare name, an acknowledgement or (unless `questions`) a question."""
    if source.memory_id:
        bare = source.category.startswith("entity:") and source.is_own and len(query_terms(source.text)) <= BARE_NAME
        return not bare
    return questions or source.is_resource or asserts_something(source.text, source.role)


def _place_evidence(statements: list[_KeptEvidence], new: _KeptEvidence) -> list[_KeptEvidence]:
    """Adds the new piece; returns what is dropped for it, or the piece itself."""
    same = [n for n, each in enumerate(statements) if not each.source.is_resource and says_all_of(each, new)]
    if not same:
        statements.append(new)
        return []
    rivals = [statements[n] for n in same]
    if any(not _says_more(new, each) for each in rivals):
        return [new]
    statements[same[0]] = new
    for n in reversed(same[1:]):
        del statements[n]
    return rivals


def says_all_of(one: _KeptEvidence, other: _KeptEvidence) -> bool:
    """Whether one of them says all that the other does, and not in passing."""
    if not (one.repeats(other) or other.repeats(one)):
        return False
    fewer, more = sorted((len(one.said.terms), len(other.said.terms)))
    return more < FAR_LONGER * fewer or "assistant" in (one.source.role, other.source.role)


def _says_more(one: _KeptEvidence, other: _KeptEvidence) -> bool:
    """Whether the first is to be shown: it says more, or says it as a memory or as the user."""
    covers, covered = other.repeats(one), one.repeats(other)
    if covers != covered and not (one.said.dates(other.said) or other.said.dates(one.said)):
        return covers
    return rank_source(one.source) > rank_source(other.source)


def rank_source(source: Candidate) -> int:
    return 2 if source.memory_id else 0 if source.role == "assistant" else 1


@dataclass(frozen=True, slots=True)
class DiversityPolicy:
    """The most results per document, section, address and domain; every memory is its own source.

    For messages, the session is the document and the turn the section; unlimited unless the plan sets it.
    """

    by_document: int = 3
    by_section: int = 1
    by_uri: int = 2
    by_domain: int = 10
    by_session: int | None = None
    by_turn: int | None = None

    @classmethod
    def of(cls, shares: DiversityShares) -> Self:
        """The limits of a package from the policy."""
        return cls(shares.by_document, shares.by_section, shares.by_uri, shares.by_domain)


def diversify(
    ranked: Sequence[RankedCandidate], policy: DiversityPolicy, sanitize: SanitizePolicy | None = DEFAULT_SANITIZE
) -> tuple[list[RankedCandidate], list[Dropped]]:
    """The order without what exceeds a source's limit or repeats a shown text.

    Without `sanitize` repeats stay.
    """
    seen: Counter[str] = Counter()
    diverse: list[RankedCandidate] = []
    dropped: list[Dropped] = []
    by_turn: dict[str, list[Candidate]] = {}
    for each in ranked:
        limits = _list_sources(each.candidate, policy)
        turn = by_turn.setdefault(each.candidate.turn_id or each.key, [])
        if (sanitize is not None and any(_repeats_shown(each.candidate, known, sanitize) for known in turn)) or any(
            seen[source] >= most for source, most in limits.items()
        ):
            dropped.append(Dropped(each.key, "diversity", each.score))
            continue
        seen.update(limits.keys())
        turn.append(each.candidate)
        diverse.append(each)
    return diverse, dropped


def _repeats(one: Candidate, other: Candidate) -> bool:
    """Whether one of a memory and a message of its source turn repeats the other."""
    if (one.memory_id is None) == (other.memory_id is None):
        return False
    memory, message = (one, other) if one.memory_id else (other, one)
    words = set(query_terms(memory.text, 64))
    return bool(words) and len(words & set(terms(message.text))) >= REPEATED * len(words)


def _repeats_shown(one: Candidate, other: Candidate, sanitize: SanitizePolicy) -> bool:
    """As `_repeats`, by what may be shown of the other: a text that is held back displaces nothing."""
    if not _repeats(one, other):
        return False
    shown = show(other.text, other.comes_from, sanitize)
    return not shown.held_back or _repeats(one, replace(other, text=shown.text))


_SPACE = to_pattern(r"\s+")


def _list_sources(candidate: Candidate, policy: DiversityPolicy) -> dict[str, int]:
    text = _SPACE.sub("", candidate.text).lower()
    limits = {f"text:{candidate.comes_from}:{text}": 1} if len(text) >= 12 else {}
    if candidate.memory_id:
        return limits
    if candidate.session_id and policy.by_session is not None and not candidate.is_resource:
        limits[f"session:{candidate.session_id}"] = policy.by_session
    if candidate.turn_id and policy.by_turn is not None and not candidate.is_resource:
        limits[f"turn:{candidate.turn_id}"] = policy.by_turn
    if candidate.source_uri or not candidate.is_resource:
        limits[f"uri:{candidate.uri}"] = policy.by_uri
    if candidate.is_resource:
        domain = urlsplit(candidate.source_uri).netloc
        document = candidate.document_id or ""
        if domain:
            limits[f"domain:{domain}"] = policy.by_domain
        if document:
            limits[f"document:{document}"] = policy.by_document
        if document and candidate.section_id:
            limits[f"section:{document}:{candidate.section_id}"] = policy.by_section
    return limits
