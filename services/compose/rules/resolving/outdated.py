"""What was said and holds no longer: words behind a memory that was replaced or taken back, and messages beside it.

Whoever said them: the user in other words, or the assistant after them.
"""

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
"""More than indents and columns have."""
MIN_TERMS = 2
"""A message that has fewer terms left than this says nothing any more."""


def current_text(text: str, ordinal: int, ended: Sequence[Mapping[str, Any]]) -> str | None:
    """The message without the words that no longer hold; None when nothing of it is left.

    `ended` names the memories learnt from the message's turn that were superseded or retracted: ordinal and span of
    their words, and their value. Another message of the turn that repeats such a value does not hold either.
    """
    if not ended:
        return text
    spans = [each["span"] for each in ended if each.get("ordinal") == ordinal and each.get("span")]
    # the whole sentence goes: what is left of one that lost its point would mislead
    cuts = sorted(sentence(text, (int(start), int(end))) for start, end in spans)
    left = _without(text, cuts)
    words = [str(each["word"]) for each in ended if each.get("ordinal") != ordinal and each.get("word")]
    if any(has_word(left, word) for word in words):
        return None
    return left if not cuts or len(query_terms(left)) >= MIN_TERMS else None


@dataclass(frozen=True, slots=True)
class CurrentText:
    """What of a chunk may be shown: its text, and where in it stands what was recognised in which media.

    `until` says until when what it states held, where that is over.
    """

    text: str
    recognized: tuple[Recognized, ...] = ()
    until: datetime | None = None


def held_until(text: str, ordinal: int, ended: Sequence[Mapping[str, Any]]) -> datetime | None:
    """Until when the last of what the message states held; None where nothing of it has ended."""
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
    """The message without words that no longer hold, and without what was recognised in media that is not safe now.

    `media` says where in the text that stands, after all words and fallbacks. None when no words are left. With `past`
    words that no longer hold stay, unless they are to be forgotten, and it is said until when they held.
    """
    said = text[: media[0]["start"]].rstrip("\n") if media else text
    over = [each for each in ended if past and not each.get("forgotten")]
    until = held_until(said, ordinal, over) if over else None
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
    """The text with a gap where what a package had shown was cut out of it, which left as many blanks as it had."""
    if "    " not in text:
        return text
    lines = [
        GAP if "    " in line and not _ANY.search(line) else _BLANKS.sub(f" {GAP} ", line) for line in text.split("\n")
    ]
    return "\n".join(
        line for line, before in zip(lines, ["", *lines], strict=False) if (line, before) != (GAP, GAP)
    ).strip()


def _without(text: str, cuts: Sequence[tuple[int, int]]) -> str:
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


def sentence(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """Where the sentence or sentences around the span begin and end."""
    start, end = span
    before = [match.end() for match in _END.finditer(text, 0, start)]
    after = _END.search(text, max(start, end - 1))
    return before[-1] if before else 0, after.end() if after else len(text)


def quote(text: str, span: tuple[int, int], most: int = MOST_QUOTED) -> str:
    """The sentence or sentences around the span, at most `most` characters with what was cut marked."""
    start, end = (max(0, min(place, len(text))) for place in span)
    first, last = sentence(text, (start, end))
    whole = text[first:last]
    if len(whole.strip()) <= most:
        return whole.strip()
    room = most - 2 * len(GAP)
    lead = max(0, (room - (end - start)) // 2)
    at = min(max(first, start - lead), max(first, last - room))
    piece = text[at : at + room].strip()
    return (GAP if at > first else "") + piece + (GAP if at + room < last else "")


LONGEST_VALUE = 4
"""A value of more terms is a sentence, which others say in other words."""
LEAST_TERMS, BEGINNING, LONGEST_TEXT = 3, 4, 300
SHARE = 0.75
"""So much of what sets an ended sentence apart from what took its place must be said again, and every number of it."""
LONGEST_SENTENCE = 160
"""Characters of a message that says one thing."""
MOST_TERMS = 64
_NUMBER = to_pattern(r"\d+")
_CAPITAL = to_pattern(r"\b[A-Z]")
_NAME_TAGS = ("nr", "ns", "nt", "nz")
_ARTICLE = to_pattern(r"^(?:an?|the|my|our|some) ")


@dataclass(frozen=True)
class OutdatedStatement:
    """What held until `until`, in the words in which it was said; `instead` says what took its place."""

    until: datetime
    text: str
    quote: str | None = None
    value: str | None = None
    instead: str | None = None
    turns: frozenset[str] = frozenset()
    """Where it was said: what was answered there, in its words, holds no longer either."""
    speaker: str | None = None
    """Who said it, where several people talk."""
    ender: str | None = None
    """The sentence that ended it, where that is known."""
    certain: bool = False
    """Whether it is known to be of the same thing as what took its place, whatever their words."""

    @cached_property
    def word(self) -> str:
        """The value, folded, where it tells the old statement from what took its place; else empty."""
        value = strip_opening(self.value or "")
        whole = value in (strip_opening(self.text), strip_opening(self.quote or ""))
        short = bool(value) and not whole and len(query_terms(value, MOST_TERMS)) <= LONGEST_VALUE
        return value if short and not (self.instead and has_word(self.instead, value)) else ""

    @cached_property
    def old(self) -> frozenset[str]:
        """The terms that what took its place has not."""
        if self.word:
            return frozenset(query_terms(self.word, MOST_TERMS))
        return self._said - frozenset(terms(self.instead or ""))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers that what took its place has not."""
        return frozenset(_NUMBER.findall(self.quote or self.text)) - frozenset(_NUMBER.findall(self.instead or ""))

    @cached_property
    def slot(self) -> frozenset[str]:
        """The terms that say what the value is of, and words that say nearly the same.

        None where the value says all that was said: `I'm a vegetarian`; a name or a number alone never does.
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
        """Whether what took its place has a word in common with it: others were mostly ended by mistake."""
        new = frozenset(terms(f"{self.instead or ''} {self.ender or ''}"))
        meant = self._said | self.slot | {other for term in self._said for other in ALIKE.get(term, ())}
        return self.certain or not meant.isdisjoint(new | {other for term in new for other in ALIKE.get(term, ())})

    @cached_property
    def of_other(self) -> bool:
        """Whether it was said of somebody or something else than the user."""
        return _of_other(self.quote or self.text)

    def is_answered(self, text: str) -> bool:
        """Whether a reply to it repeats a word of it that holds no longer."""
        return not self.old.isdisjoint(terms(text))

    def is_stated(self, text: str, folded: str) -> bool:
        """Whether one sentence of the text says so."""
        if self.word:
            at = folded.find(self.word)
            return at >= 0 and has_word(text, self.word) and self._fits(text[slice(*sentence(text, (at, at + 1)))])
        if not self._may_be_in(text, folded):
            return False
        said = frozenset(terms(text))
        # Chinese words are cut by what stands beside them: they are met where their characters are
        met = {term for term in self._said if term in said or (not term.isascii() and term in folded)}
        enough = len(met) >= SHARE * len(self._said) and len(met & self.old) >= SHARE * len(self.old)
        return enough and self._same_subject(text)

    def _may_be_in(self, text: str, folded: str) -> bool:
        """Whether enough of it may be in the text, by the beginnings of its words, which tells most texts apart."""
        if len(text) > LONGEST_TEXT or (len(self.old) < LEAST_TERMS and not self.numbers):
            return False
        met = sum(term[:BEGINNING] in folded for term in self.old)
        return met >= SHARE * len(self.old) and self.numbers.issubset(_NUMBER.findall(text))

    def _fits(self, said: str) -> bool:
        """Whether the sentence, which has the value, is about what the value was of, and of the same person."""
        near = not self.slot.isdisjoint(terms(said)) if self.slot else not _is_named(self.value or "")
        return near and self._same_subject(said)

    def _same_subject(self, said: str) -> bool:
        return self.of_other or not _of_other(said)


def _is_named(value: str) -> bool:
    """Whether the value is a name or has a number: alone it may stand in any sentence."""
    if _NUMBER.search(value) or _CAPITAL.search(value):
        return True
    return any(tag.startswith(_NAME_TAGS) and len(word) > 1 for word, tag in map(tuple, tag_words(value)))


def strip_opening(text: str) -> str:
    """The text, folded, without what it begins with that says nothing."""
    return _ARTICLE.sub("", fold(text.strip()))


def _of_other(text: str) -> bool:
    clauses = split(text[:500])
    return any(stance.subject == "other" or stance.reported for stance in stances(clauses)[:1])


@dataclass(frozen=True)
class OutdatedStatements:
    """What holds no longer, the latest first."""

    statements: Sequence[OutdatedStatement] = ()

    def ended_at(
        self,
        text: str,
        said_at: datetime | None = None,
        role: str | None = "user",
        turn_id: UUID | str | None = None,
        name: str | None = None,
    ) -> datetime | None:
        """Since when what the text states holds no longer; None where it holds.

        What the user says once more after it had ended holds again. What the assistant repeats then does not.
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
    """Whether the text says, beside the old, what took its place: it tells of the change."""
    new = frozenset(query_terms(ended.instead or "", MOST_TERMS)) - ended.old - ended.slot
    return not new.isdisjoint(terms(text))


def outdated_statements(ended: Iterable[OutdatedStatement]) -> OutdatedStatements:
    """Those of the statements that words can tell, ended by what is of the same thing."""
    return OutdatedStatements(tuple(each for each in ended if (each.word or each.old) and each.is_sure))


def says_one_thing(text: str) -> bool:
    """Whether the message is one short sentence."""
    return len(text) <= LONGEST_SENTENCE and not text[sentence(text, (0, 1))[1] :].strip()
