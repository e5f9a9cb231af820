"""Merges the items of a model into the findings of the rules; each item needs a quote that proves it. Pure."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from schemas.memory_types import KEY_PREFIXES, types_with
from schemas.vocabulary import Role
from services.observer.ground import is_supported, list_terms
from services.observer.prompts import ExtractedItem, Wrong
from shared.domain.statements import CLAIMED, MISREAD, RELATED, SUPPOSED
from shared.extraction import Observation, Observed, ReadingNote
from shared.extraction.clauses import blank, language_of, split
from shared.extraction.dates import find as find_date
from shared.extraction.dates import without_day
from shared.extraction.keys import is_known, preference_key, profile_key, slug
from shared.extraction.learned import read, read_polarity
from shared.extraction.manipulation import manipulates, serves_itself
from shared.extraction.model import Polarity
from shared.extraction.opinions import gives_opinion
from shared.extraction.stated import standings
from shared.language.normalise import fold, normalise
from shared.language.patterns import to_pattern
from shared.secrets import MAY_STAND, find_secrets

BARRED = frozenset({"manipulation", "command", "asked", "supposed", "reported", "ironic", "about other", "about agent"})
"""The reasons why the rules drop text for good: the user did not state it about themselves, whatever a model reads."""
PASSING = frozenset({"momentary", "trial"})
"""The reasons why the rules drop text that may contain events or tasks, but nothing lasting."""
HAPPENINGS = types_with("happening")
"""The types that passing text and tools may contain; neither states who the user is or what they want."""
UNDOUBTED = types_with("undoubted")
UNREAD = frozenset({"structured", "tool", "ref", "remember", "entities"})
"""The detectors whose findings are not read from passing text."""
_PLACEHOLDER = to_pattern(r"\[[A-Z][A-Z_]{2,}\]")


@dataclass(frozen=True, slots=True)
class QuoteSource:
    """A text that an answer may quote: a message or a tool result."""

    role: Role
    text: str
    name: str | None
    ordinal: int
    at: datetime


@dataclass(frozen=True, slots=True)
class QuoteSpan:
    """The position of a quote."""

    source: QuoteSource
    span: tuple[int, int]

    @property
    def quote(self) -> str:
        """The quoted text."""
        return self.source.text[slice(*self.span)]

    def touches(self, ordinal: int, span: tuple[int, int]) -> bool:
        """Whether it overlaps this span of a message."""
        return ordinal == self.source.ordinal and self.span[0] < span[1] and span[0] < self.span[1]


@dataclass(frozen=True, slots=True)
class ModelAttribution:
    """The model that answered, the version of the prompt, and the slots that keys may name."""

    model: str
    prompt_version: str
    slots: frozenset[str] = frozenset()
    """Profile slots besides the built-in ones."""


def doubtable(observed: Observed) -> list[Observation]:
    """The findings of the rules that a model may reject: read from passing statements, never dictated.

    Constraints stay: losing an allergy by a mistake of a model is worse than keeping one sentence too many. Corrections
    and retractions stay too, because the user stated them explicitly.
    """
    return [
        each
        for each in observed.observations
        if each.assertion in SUPPOSED
        and not each.retracts
        and each.role == "user"
        and each.kind not in UNDOUBTED
        and each.detector not in UNREAD
    ]


def merge_items(
    observed: Observed,
    items: Sequence[ExtractedItem],
    sources: Sequence[QuoteSource],
    by: ModelAttribution,
    limit: int,
    misread: Sequence[tuple[Observation, Wrong]] = (),
) -> Observed:
    """The findings of the rules with the additions and retractions of the model, each with its explanation.

    A finding that the model rejects but also lists itself stays.
    """
    observations, explain = list(observed.observations), list(observed.explain)
    for item in items:
        place = _find_quote(item, sources)
        if place is None:
            explain.append(ReadingNote((0, 0), "dropped", "model: quote not found"))
            continue
        seen = _observation(item, place, by)
        reason = find_refusal(item, place, observed, sources) or find_repeated(seen, place, observations, observed)
        reason = reason or ("too many" if len(observations) >= limit else None)
        if reason is None:
            observations.append(seen)
        decision = "dropped" if reason else "kept"
        explain.append(ReadingNote(place.span, decision, f"model: {reason or item.type}", place.source.ordinal))
    places = [place for item in items if (place := _find_quote(item, sources))]
    for finding, why in misread:
        if any(place.touches(finding.message_ordinal, finding.span) for place in places):
            explain.append(ReadingNote(finding.span, "kept", "model: of two minds", finding.message_ordinal))
            continue
        observations.append(_to_retraction(finding, by))
        explain.append(ReadingNote(finding.span, "dropped", f"model: {why}", finding.message_ordinal))
    return replace(observed, observations=tuple(observations), explain=tuple(explain))


def _find_quote(item: ExtractedItem, sources: Sequence[QuoteSource]) -> QuoteSpan | None:
    """The position of the quote in the own words of the user, or of the tool: not in code, nor in quoted speech."""
    role: Role = "tool" if item.provenance == "tool" else "user"
    words = "".join(letter for letter, _ in _list_letters(item.quote))
    for source in sources:
        if source.role == role and words:
            letters = _list_letters(blank(source.text) if role == "user" else source.text)
            start = "".join(letter for letter, _ in letters).find(words)
            if start >= 0:
                return QuoteSpan(source, (letters[start][1], letters[start + len(words) - 1][1] + 1))
    return None


def _list_letters(text: str) -> list[tuple[str, int]]:
    """Letters and digits in one spelling, with their positions: models change everything else when they copy."""
    return [(letter, at) for at, raw in enumerate(text) for letter in fold(normalise(raw)) if letter.isalnum()]


def find_refusal(
    item: ExtractedItem, place: QuoteSpan, observed: Observed, sources: Sequence[QuoteSource]
) -> str | None:
    """The reason why the item must not become a memory; None if it may."""
    ordinal = place.source.ordinal
    parts = [part for part in (item.content, item.value, item.key, item.correction_of, place.quote) if part]
    if any(find_secrets(part, MAY_STAND) or _PLACEHOLDER.search(part) for part in parts):
        return "secret"
    if any(manipulates(part) for part in parts):
        return "manipulation"
    if item.type == "entity":
        return "entity gate"
    if place.source.role == "tool" and item.type not in HAPPENINGS:
        return "a tool does not know this"
    for each in observed.refused:
        if place.touches(each.ordinal, each.span):
            return each.reason
    barred = BARRED if item.type in HAPPENINGS else BARRED | PASSING
    for each in observed.explain:
        if each.decision == "dropped" and each.reason in barred and place.touches(each.ordinal, each.text_span):
            return each.reason
    kept = [each.text_span for each in observed.explain if each.decision == "kept" and each.ordinal == ordinal]
    for span, reason in standings(place.source.text):
        if reason in barred and place.touches(ordinal, span) and span not in kept:
            return reason
    return None if is_grounded(item, place, sources) else "not what was said"


def is_grounded(item: ExtractedItem, place: QuoteSpan, sources: Sequence[QuoteSource]) -> bool:
    """Whether the words of the message, or of the question that it answers, support the statement and its value."""
    vocabulary = {
        term for text in (place.source.text, _find_question(place.source, sources)) for term in list_terms(text)
    }
    value = item.value if item.value and not any(c.isdigit() for c in item.value) else None
    return all(is_supported(vocabulary, part) for part in (item.content, value) if part)


def _find_question(answer: QuoteSource, sources: Sequence[QuoteSource]) -> str:
    """The question of the assistant directly before a message; empty if there is none."""
    before = [source for source in sources if source.ordinal < answer.ordinal]
    asked = before[-1].text.rstrip() if before and before[-1].role == "assistant" else ""
    return asked if asked.endswith(("?", "\uff1f", "\u5417", "\u5462")) else ""


def find_repeated(
    seen: Observation, place: QuoteSpan, observations: Sequence[Observation], observed: Observed
) -> str | None:
    """The reason why the finding repeats another: the same key, the same text, or the same words read by the rules."""
    for each in observations:
        if (each.kind, each.key) == (seen.kind, seen.key) and seen.key is not None:
            return "known by its key"
        if _have_same_letters(each.text, seen.text):
            return "known by its words"
    for each in observed.observations:
        if each.kind == seen.kind and place.touches(each.message_ordinal, each.span):
            return "known by the rules"
    return None


def _have_same_letters(one: str, other: str) -> bool:
    return [letter for letter, _ in _list_letters(one)] == [letter for letter, _ in _list_letters(other)]


def _observation(item: ExtractedItem, place: QuoteSpan, by: ModelAttribution) -> Observation:
    source, text = place.source, normalise(item.content)
    around = [each.text for each in split(source.text) if place.touches(source.ordinal, (each.start, each.end))]
    benefits = any(serves_itself(part, directed=False) for part in (text, place.quote, *around))
    date = find_date(text, source.at.date()) or find_date(place.quote, source.at.date())
    polarity: Polarity = (
        0 if item.type != "preference" else read_polarity(read(split(text)) or read(split(place.quote)))
    )
    speaker = source.name if source.role == "user" else None
    return Observation(
        kind=item.type,
        key=_key(item, speaker, by.slots),
        value=_value(item, text, speaker) | (without_day(date) if item.type == "event" else {}),
        text=f"{speaker}: {text}" if speaker else text,
        assertion="declared" if item.provenance == "confirmed_by_user" and not item.correction_of else "inferred",
        epistemic="opinion" if benefits or _is_opinion(item, place) else item.epistemic_type,
        polarity=polarity,
        priority="normal",
        retracts=False,
        old_value=item.correction_of,
        detector=f"model:{by.model}",
        pattern=by.prompt_version,
        language=language_of(text),
        role=source.role,
        message_ordinal=source.ordinal,
        span=place.span,
        flags=("self_benefit",) if benefits else (),
        event_date=date.day if date and item.type == "event" else None,
    )


def _to_retraction(finding: Observation, by: ModelAttribution) -> Observation:
    """The retraction of a wrong finding, directly after it in the order of the turn."""
    return replace(
        finding,
        value={},
        assertion="inferred",
        retracts=True,
        detector=f"model:{by.model}",
        pattern=by.prompt_version,
        flags=(MISREAD,),
        span=(finding.span[1], finding.span[1]),
        event_date=None,
        valid_until=None,
    )


def _is_opinion(item: ExtractedItem, place: QuoteSpan) -> bool:
    """Whether a model took an opinion of the user for a fact."""
    return item.epistemic_type == "fact" and item.type != "profile" and gives_opinion(place.quote)


def _value(item: ExtractedItem, text: str, speaker: str | None) -> dict[str, Any]:
    value: dict[str, Any] = {"value": normalise(item.value or text), CLAIMED: item.confidence}
    if item.type == "preference":
        value["scope"] = preference_key(value["value"])[1]
    if item.related_existing_memory_id:
        value[RELATED] = item.related_existing_memory_id
    return {**value, **({"speaker": speaker} if speaker else {})}


def _key(item: ExtractedItem, speaker: str | None, slots: Set[str]) -> str | None:
    """The key in the spelling of the rules, so that both mean one memory; None if the key has no known form."""
    if item.type == "preference" and item.value:
        prefix, *rest = preference_key(normalise(item.value))[0].split(":")
    else:
        prefix, *rest = (item.key or "").split(":")
        rest = [slug(part) for part in rest]
    if f"{prefix}:" != KEY_PREFIXES.get(item.type) or not rest:
        return None
    if item.type == "profile" and len(rest) == 1:
        rest = ["user", *rest]
    if speaker:
        rest = [slug(speaker, 32), *(rest[1:] if rest[0] == "user" else rest)]
    key = ":".join((prefix, *rest))
    return profile_key(key, slots) if is_known(key) else None
