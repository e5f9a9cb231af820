"""One function for extraction: the rules always, the model where one is reachable; the rules' certainties stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from schemas.vocabulary import MemoryType, Role
from services.observer import prompts
from services.observer.prompts import ExtractedItem, Said
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.provider import ModelProvider
from shared.policy import ObserverPolicy
from shared.reading import Explain, Observation, ObserveContext, Observed, ObservePolicy, TurnText, observe
from shared.reading.clauses import blank, language_of, split
from shared.reading.dates import find as find_date
from shared.reading.keys import known, preference_key, slug
from shared.reading.manipulation import manipulates, serves_itself
from shared.reading.model import Polarity
from shared.text.normalise import fold, normalise
from shared.text.secrets import find_secrets, redact

UNAVAILABLE = "model_unavailable"
MALFORMED = "model_answer_malformed"
BARRED = frozenset({"manipulation", "command", "asked", "supposed", "reported", "ironic", "about other", "about agent"})
"""Why the rules drop words for good: whatever a model reads into them, the user has not said it of themself."""
PASSING = frozenset({"momentary", "trial"})
"""Why the rules drop words that may still tell what happened or is to be done, but nothing that lasts."""
TOLD: frozenset[MemoryType] = frozenset({"event", "task", "decision", "case"})
"""What passing words and tools may tell; neither says what the user is or wants."""
_PREFIX: dict[MemoryType, str] = {"preference": "pref"}
_PLACEHOLDER = re.compile(r"\[[A-Z][A-Z_]{2,}\]")
_DISLIKE = re.compile(
    r"不(?:再)?(?:太|怎么|能|要|想)?(?:喜欢|爱|吃|喝|用|看|接受)|不要|不想|讨厌|反感|受不了|避免"
    r"|\b(?:dislikes?|hates?|avoids?|never|detests?|(?:not|n't|no longer) (?:like|want|eat|drink|use|enjoy)s?)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Source:
    """Words that an answer may quote: a message or a tool's result."""

    role: Role
    text: str
    name: str | None
    ordinal: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Place:
    """Where the words of a quote stand."""

    source: Source
    span: tuple[int, int]

    @property
    def quote(self) -> str:
        """The words themselves."""
        return self.source.text[slice(*self.span)]

    def touches(self, ordinal: int, span: tuple[int, int]) -> bool:
        """Whether it shares a character with a stretch of a message."""
        return ordinal == self.source.ordinal and self.span[0] < span[1] and span[0] < self.span[1]


async def extract(
    models: ModelProvider, policy: ObserverPolicy, turn: TurnText, context: ObserveContext
) -> tuple[Observed, tuple[str, ...]]:
    """What the turn says, and notes on how it was found out; a model that is away or talks nonsense is a note."""
    limits = ObservePolicy(entity_min_mentions=policy.entity_min_mentions)
    observed = observe(turn, context, limits)
    model = models.chat_model_id
    sources = _sources(turn, observed, context, limits)
    if model is None or not policy.use_model or not any(source.role == "user" for source in sources):
        return observed, ()
    said = [Said(source.role, redact(source.text)[0], source.name) for source in sources]
    prompt = replace(prompts.extract(said, ()), deadline_s=policy.model_deadline_s)
    try:
        answer = await models.ask(prompt)
    except ModelUnavailable:
        return observed, (UNAVAILABLE,)
    except MalformedAnswer:
        return observed, (MALFORMED,)
    items = prompts.accepted(answer.value, said, ())
    return _merged(observed, items, sources, f"model:{model}", limits.max_observations), ()


def _sources(turn: TurnText, observed: Observed, context: ObserveContext, policy: ObservePolicy) -> list[Source]:
    """What the model reads: no commands, no failed calls, nothing longer than what the rules read."""
    commands = {each.ordinal for each in observed.explain if each.reason == "command"}
    limit = policy.max_message_chars
    spoken = [
        Source(message.role, message.text[:limit], message.name, message.ordinal, message.created_at)
        for message in turn.messages
        if message.ordinal not in commands and message.text.strip()
    ]
    told = [
        Source("tool", tool.result_text[:limit], tool.name or None, tool.ordinal, context.occurred_at)
        for tool in turn.tool_calls
        if tool.status == "ok"
    ]
    return sorted([*spoken, *told], key=lambda source: source.ordinal)


def _merged(
    observed: Observed, items: Sequence[ExtractedItem], sources: Sequence[Source], detector: str, limit: int
) -> Observed:
    """What the rules found, then what the model adds to it; why each of its items was kept or not is explained."""
    observations, explain = list(observed.observations), list(observed.explain)
    for item in items:
        place = _place(item, sources)
        if place is None:
            explain.append(Explain((0, 0), "dropped", "model: quote not found"))
            continue
        seen = _observation(item, place, detector)
        reason = _refused(item, place, observed) or _repeated(seen, place, observations, observed)
        reason = reason or ("too many" if len(observations) >= limit else None)
        if reason is None:
            observations.append(seen)
        decision = "dropped" if reason else "kept"
        explain.append(Explain(place.span, decision, f"model: {reason or item.type}", place.source.ordinal))
    return replace(observed, observations=tuple(observations), explain=tuple(explain))


def _place(item: ExtractedItem, sources: Sequence[Source]) -> Place | None:
    """Where the user, or the tool, says the quote in words of their own: not in code, nor in somebody else's speech."""
    role: Role = "tool" if item.provenance == "tool" else "user"
    words = "".join(letter for letter, _ in _letters(item.quote))
    for source in sources:
        if source.role == role and words:
            letters = _letters(blank(source.text) if role == "user" else source.text)
            start = "".join(letter for letter, _ in letters).find(words)
            if start >= 0:
                return Place(source, (letters[start][1], letters[start + len(words) - 1][1] + 1))
    return None


def _letters(text: str) -> list[tuple[str, int]]:
    """Letters and digits in one spelling, each with its place: models change the rest when they copy."""
    return [(letter, at) for at, raw in enumerate(text) for letter in fold(normalise(raw)) if letter.isalnum()]


def _refused(item: ExtractedItem, place: Place, observed: Observed) -> str | None:
    """Why this must not become memory."""
    parts = [part for part in (item.content, item.value, item.key, item.correction_of, place.quote) if part]
    if any(find_secrets(part) or _PLACEHOLDER.search(part) for part in parts):
        return "secret"
    if any(manipulates(part) for part in parts):
        return "manipulation"
    if item.type == "entity":
        return "entity gate"
    if place.source.role == "tool" and item.type not in TOLD:
        return "a tool does not know this"
    for each in observed.refused:
        if place.touches(each.ordinal, each.span):
            return each.reason
    barred = BARRED if item.type in TOLD else BARRED | PASSING
    for each in observed.explain:
        if each.decision == "dropped" and each.reason in barred and place.touches(each.ordinal, each.text_span):
            return each.reason
    return None


def _repeated(seen: Observation, place: Place, found: Sequence[Observation], observed: Observed) -> str | None:
    """Whether it says what is found already: by key, by words, or by the rules in the same words."""
    for each in found:
        if (each.kind, each.key) == (seen.kind, seen.key) and seen.key is not None:
            return "known by its key"
        if _same_words(each.text, seen.text):
            return "known by its words"
    for each in observed.observations:
        if each.kind == seen.kind and place.touches(each.message_ordinal, each.span):
            return "known by the rules"
    return None


def _same_words(one: str, other: str) -> bool:
    return [letter for letter, _ in _letters(one)] == [letter for letter, _ in _letters(other)]


def _observation(item: ExtractedItem, place: Place, detector: str) -> Observation:
    source, text = place.source, normalise(item.content)
    around = [each.text for each in split(source.text) if place.touches(source.ordinal, (each.start, each.end))]
    benefits = any(serves_itself(part, directed=False) for part in (text, place.quote, *around))
    date = find_date(text, source.at.date()) or find_date(place.quote, source.at.date())
    polarity: Polarity = 0 if item.type != "preference" else -1 if _DISLIKE.search(text) else 1
    speaker = source.name if source.role == "user" else None
    return Observation(
        kind=item.type,
        key=_key(item, speaker),
        value=_value(item, text, speaker),
        text=f"{speaker}: {text}" if speaker else text,
        assertion="declared" if item.provenance == "confirmed_by_user" else "inferred",
        epistemic="opinion" if benefits else item.epistemic_type,
        polarity=polarity,
        priority="normal",
        retracts=False,
        old_value=item.correction_of,
        detector=detector,
        pattern=prompts.VERSION,
        language=language_of(text),
        role=source.role,
        message_ordinal=source.ordinal,
        span=place.span,
        flags=("self_benefit",) if benefits else (),
        event_date=date.day if date and item.type == "event" else None,
    )


def _value(item: ExtractedItem, text: str, speaker: str | None) -> dict[str, Any]:
    value: dict[str, Any] = {"value": normalise(item.value or text)}
    if item.type == "preference":
        value["scope"] = preference_key(value["value"])[1]
    return {**value, **({"speaker": speaker} if speaker else {})}


def _key(item: ExtractedItem, speaker: str | None) -> str | None:
    """The key as the rules would spell it, so that both mean one memory; none where the model's has no known form."""
    if item.type == "preference" and item.value:
        prefix, *rest = preference_key(normalise(item.value))[0].split(":")
    else:
        prefix, *rest = (item.key or "").split(":")
        rest = [slug(part) for part in rest]
    if item.type == "note" or prefix != _PREFIX.get(item.type, item.type) or not rest:
        return None
    if item.type == "profile" and len(rest) == 1:
        rest = ["user", *rest]
    if speaker:
        rest = [slug(speaker, 32), *(rest[1:] if rest[0] == "user" else rest)]
    key = ":".join((prefix, *rest))
    return key if known(key) else None
