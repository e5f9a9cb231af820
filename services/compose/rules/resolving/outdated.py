"""Removes from messages what is no longer valid: the words behind memories that were replaced or retracted, and other
messages that repeat them, of the user or the assistant."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from shared.domain.blocks import Recognized
from shared.extraction.clauses import split
from shared.extraction.guards import stances
from shared.language.normalise import fold
from shared.language.patterns import to_pattern
from shared.language.segment import ALIKE, has_word, query_terms, tag_words, terms

_ANY = to_pattern(r"[^\W_]")
_BLANKS = to_pattern(r"[^\S\n]{16,}|(?<=\S)[^\S\n]{6,}")
"""Longer than indents and columns."""
MIN_TERMS = 2
"""The least terms that must be left of a message."""


def current_text(text: str, ordinal: int, ended: Sequence[Mapping[str, Any]]) -> str | None:
    """The message without the words that are no longer valid; None if nothing is left.

    `ended` are the superseded or retracted memories learnt from the message's turn: ordinal and span of their words,
    and their value. Another message of the turn that repeats such a value is not valid either.
    """
    if not ended:
        return text
    spans = [each["span"] for each in ended if each.get("ordinal") == ordinal and each.get("span")]
    # the whole sentence: without its point the rest would mislead
    cuts = sorted(find_sentence(text, (int(start), int(end))) for start, end in spans)
    left = _cut_spans(text, cuts)
    words = [str(each["word"]) for each in ended if each.get("ordinal") != ordinal and each.get("word")]
    if any(has_word(left, word) for word in words):
        return None
    return left if not cuts or len(query_terms(left)) >= MIN_TERMS else None


@dataclass(frozen=True, slots=True)
class CurrentText:
    """What may be shown of a chunk: its text, and where in it recognised text of which media is.

    `until` is the time until which its statement was valid, if it has ended.
    """

    text: str
    recognized: tuple[Recognized, ...] = ()
    until: datetime | None = None


def find_last_end(text: str, ordinal: int, ended: Sequence[Mapping[str, Any]]) -> datetime | None:
    """Until when the last statement of the message was valid; None if none has ended."""
    concerned = (
        each["until"]
        for each in ended
        if each.get("until")
        and (
            (each.get("ordinal") == ordinal and each.get("span"))
            or (each.get("ordinal") != ordinal and each.get("word") and has_word(text, str(each["word"])))
        )
    )
    moments = [each if isinstance(each, datetime) else datetime.fromisoformat(each) for each in concerned]
    return max(moments, default=None)


def keep_what_holds(
    text: str,
    ordinal: int,
    ended: Sequence[Mapping[str, Any]],
    media: Sequence[Mapping[str, Any]],
    *,
    past: bool = False,
) -> CurrentText | None:
    """The message without words that are no longer valid, and without recognised text of unsafe media.

    `media` gives the positions of recognised text, after all words and fallbacks. None if no words are left. With
    `past` invalid words stay, unless they are to be forgotten, with the time until which they were valid.
    """
    said = text[: media[0]["start"]].rstrip("\n") if media else text
    over = [each for each in ended if past and not each.get("forgotten")]
    until = find_last_end(said, ordinal, over) if over else None
    current = current_text(said, ordinal, [each for each in ended if each.get("forgotten")] if past else ended)
    if current is None:
        return None
    recognized: list[Recognized] = []
    for each in media:
        piece = "" if each["unsafe"] else text[each["start"] : each["end"]]
        start = len(current) + bool(piece)
        current = f"{current}\n{piece}" if piece else current
        if piece or each["rule"]:
            recognized.append(Recognized(each["media_id"], each["type"], start, len(current), each["rule"]))
    return CurrentText(current, tuple(recognized), until)


def join_pieces(text: str) -> str:
    """The text with a gap where a shown package was cut out, which left as many blanks."""
    if "    " not in text:
        return text
    lines = [
        GAP if "    " in line and not _ANY.search(line) else _BLANKS.sub(f" {GAP} ", line) for line in text.split("\n")
    ]
    return "\n".join(
        line for line, before in zip(lines, ["", *lines], strict=False) if (line, before) != (GAP, GAP)
    ).strip()


def _cut_spans(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in cuts:
        if start >= at:
            pieces.append(text[at:start])
        at = max(at, end)
    pieces.append(text[at:])
    return GAP.join(pieces) if cuts else text


GAP = "…"
MOST_QUOTED = 200
_END = to_pattern(r"[。！？!?\n；;]+|\.(?=\s|$)")


def find_sentence(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Start and end of the sentence or sentences around the span."""
    start, end = span
    before = [match.end() for match in _END.finditer(text, 0, start)]
    after = _END.search(text, max(start, end - 1))
    return before[-1] if before else 0, after.end() if after else len(text)


def quote_sentence(text: str, span: tuple[int, int]) -> str:
    """The sentence or sentences around the span, at most MOST_QUOTED characters; cuts are marked."""
    start, end = (max(0, min(place, len(text))) for place in span)
    first, last = find_sentence(text, (start, end))
    whole = text[first:last]
    if len(whole.strip()) <= MOST_QUOTED:
        return whole.strip()
    room = MOST_QUOTED - 2 * len(GAP)
    lead = max(0, (room - (end - start)) // 2)
    at = min(max(first, start - lead), max(first, last - room))
    piece = text[at : at + room].strip()
    return (GAP if at > first else "") + piece + (GAP if at + room < last else "")


LONGEST_VALUE = 4
"""A value with more terms is a sentence, which others rephrase."""
LEAST_TERMS, BEGINNING, LONGEST_TEXT = 3, 4, 300
LEAST_SHARE = 0.75
"""The share of the distinguishing words of an ended sentence that a repeat must have, besides all its numbers."""
LONGEST_SENTENCE = 160
"""The most characters of a message that makes one statement."""
MOST_TERMS = 64
_NUMBER = to_pattern(r"\d+")
_CAPITAL = to_pattern(r"\b[A-Z]")
_NAME_TAGS = ("nr", "ns", "nt", "nz")
_ARTICLE = to_pattern(r"^(?:an?|the|my|our|some) ")


@dataclass(frozen=True)
class OutdatedStatement:
    """A statement that was valid until `until`, in its words; `instead` is what replaced it."""

    until: datetime
    text: str
    quote: str | None = None
    value: str | None = None
    instead: str | None = None
    turns: frozenset[str] = frozenset()
    """Its turns: replies in the same turn that repeat it are not valid either."""
    speaker: str | None = None
    """The speaker, if several people talk."""
    ender: str | None = None
    """The sentence that ended it, if known."""
    certain: bool = False
    """Whether it is known to be about the same thing as its replacement, whatever their words."""

    @cached_property
    def word(self) -> str:
        """The value, folded, if its replacement does not have it; else empty."""
        value = strip_opening(self.value or "")
        whole = value in (strip_opening(self.text), strip_opening(self.quote or ""))
        short = bool(value) and not whole and len(query_terms(value, MOST_TERMS)) <= LONGEST_VALUE
        return value if short and not (self.instead and has_word(self.instead, value)) else ""

    @cached_property
    def old(self) -> frozenset[str]:
        """The terms that its replacement does not have."""
        if self.word:
            return frozenset(query_terms(self.word, MOST_TERMS))
        return self._said - frozenset(terms(self.instead or ""))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers that its replacement does not have."""
        return frozenset(_NUMBER.findall(self.quote or self.text)) - frozenset(_NUMBER.findall(self.instead or ""))

    @cached_property
    def slot(self) -> frozenset[str]:
        """The terms that say what the value is of, with near synonyms.

        None if the value is the whole statement: `I'm a vegetarian`; never for a mere name or number.
        """
        text = frozenset(query_terms(self.text, MOST_TERMS)) - self.old
        text -= frozenset(terms(self.speaker or ""))
        own = self._said & text or (text if _is_named(self.value or "") else frozenset[str]())
        return own | {other for term in own for other in ALIKE.get(term, ())}

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset(query_terms(self.quote or self.text, MOST_TERMS))

    @cached_property
    def is_sure(self) -> bool:
        """Whether its replacement shares a word with it; endings of others are mostly mistakes."""
        new = frozenset(terms(f"{self.instead or ''} {self.ender or ''}"))
        meant = self._said | self.slot | {other for term in self._said for other in ALIKE.get(term, ())}
        return self.certain or not meant.isdisjoint(new | {other for term in new for other in ALIKE.get(term, ())})

    @cached_property
    def of_other(self) -> bool:
        """Whether it is about somebody or something else than the user."""
        return _of_other(self.quote or self.text)

    def is_answered(self, text: str) -> bool:
        """Whether a reply to it repeats a word that is no longer valid."""
        return not self.old.isdisjoint(terms(text))

    def is_stated(self, text: str, folded: str) -> bool:
        """Whether one sentence of the text states it."""
        if self.word:
            at = folded.find(self.word)
            return at >= 0 and has_word(text, self.word) and self._fits(text[slice(*find_sentence(text, (at, at + 1)))])
        if not self._may_be_in(text, folded):
            return False
        said = frozenset(terms(text))
        # Chinese segmentation depends on the context, so that characters are compared
        met = {term for term in self._said if term in said or (not term.isascii() and term in folded)}
        enough = len(met) >= LEAST_SHARE * len(self._said) and len(met & self.old) >= LEAST_SHARE * len(self.old)
        return enough and self._same_subject(text)

    def _may_be_in(self, text: str, folded: str) -> bool:
        """Whether enough of it may be in the text, by prefixes of its words; excludes most texts cheaply."""
        if len(text) > LONGEST_TEXT or (len(self.old) < LEAST_TERMS and not self.numbers):
            return False
        met = sum(term[:BEGINNING] in folded for term in self.old)
        return met >= LEAST_SHARE * len(self.old) and self.numbers.issubset(_NUMBER.findall(text))

    def _fits(self, said: str) -> bool:
        """Whether the sentence with the value is about the same subject and person."""
        near = not self.slot.isdisjoint(terms(said)) if self.slot else not _is_named(self.value or "")
        return near and self._same_subject(said)

    def _same_subject(self, said: str) -> bool:
        return self.of_other or not _of_other(said)


def _is_named(value: str) -> bool:
    """Whether the value is a name or has a number, which may occur in any sentence."""
    if _NUMBER.search(value) or _CAPITAL.search(value):
        return True
    return any(tag.startswith(_NAME_TAGS) and len(word) > 1 for word, tag in map(tuple, tag_words(value)))


def strip_opening(text: str) -> str:
    """The text, folded, without an opening that says nothing."""
    return _ARTICLE.sub("", fold(text.strip()))


def _of_other(text: str) -> bool:
    clauses = split(text[:500])
    return any(stance.subject == "other" or stance.reported for stance in stances(clauses)[:1])


@dataclass(frozen=True)
class OutdatedStatements:
    """Statements that are no longer valid, latest first."""

    statements: Sequence[OutdatedStatement] = ()

    def ended_at(
        self,
        text: str,
        said_at: datetime | None = None,
        role: str | None = "user",
        turn_id: UUID | str | None = None,
        name: str | None = None,
    ) -> datetime | None:
        """Since when the statement of the text is no longer valid; None if it is valid.

        What the user states again after its end is valid again; a repetition by the assistant is not.
        """
        if not self.statements:
            return None
        folded, turn = fold(text), str(turn_id)
        for each in self.statements:
            later = said_at is not None and said_at >= each.until
            if role == "user" and (later or name != each.speaker):
                continue
            stated = each.is_stated(text, folded)
            stated = stated or (role == "assistant" and turn in each.turns and each.is_answered(text))
            if stated and not (each.instead and _tells_new(each, text)):
                return each.until
        return None


NOTHING_ENDED = OutdatedStatements()


def _tells_new(ended: OutdatedStatement, text: str) -> bool:
    """Whether the text also states the replacement: then it reports the change."""
    new = frozenset(query_terms(ended.instead or "", MOST_TERMS)) - ended.old - ended.slot
    return not new.isdisjoint(terms(text))


def outdated_statements(ended: Iterable[OutdatedStatement]) -> OutdatedStatements:
    """The statements that words can identify, and that were ended by something about the same thing."""
    return OutdatedStatements(tuple(each for each in ended if (each.word or each.old) and each.is_sure))


def says_one_thing(text: str) -> bool:
    """Whether the message is one short sentence."""
    return len(text) <= LONGEST_SENTENCE and not text[find_sentence(text, (0, 1))[1] :].strip()
