"""Selects the observations that are kept: without secrets, each once, as policy allows; names that pass the gate.

If the settings of the user say so, only dictated statements are kept.
"""

import re
from collections.abc import Set
from dataclasses import replace

from schemas.memory_types import MemoryType
from schemas.vocabulary import Role
from shared.extraction import entities
from shared.extraction.clauses import language_of, split
from shared.extraction.keys import fold
from shared.extraction.model import (
    Mention,
    MessageText,
    Observation,
    ObserveContext,
    Observed,
    ObservePolicy,
    ReadingNote,
    Refusal,
)
from shared.language.patterns import to_pattern
from shared.language.segment import words
from shared.secrets import PLACEHOLDER, find_secrets, redact

LEAST_WORDS = 3
"""A clause with fewer words says nothing by itself."""
_OPENING = to_pattern(r"^(?:and|but|also|plus|so|then|还有|而且|另外|然后|并且)[\s,，]*", re.I)
BLANKED = "blanked"
"""The rule that refuses a statement whose secret was redacted when it was committed."""


def remove_secrets(observations: list[Observation], suspect: set[int]) -> tuple[list[Observation], list[Refusal]]:
    """The observations without those that contain a credential, blanked or not; personal numbers are blanked."""
    clean_ones: list[Observation] = []
    refused: list[Refusal] = []
    for one in observations:
        if PLACEHOLDER in one.text:
            refused.append(Refusal("secret", BLANKED, one.span, one.message_ordinal))
            clean_ones.extend(remove_secrets(keep_beside_secret(one), suspect)[0])
            continue
        if one.detector not in ("structured", "tool", "ref") and one.message_ordinal not in suspect:
            clean_ones.append(one)
            continue
        hits = find_secrets(one.text)
        hit = next((hit for hit in hits if hit.group == "credential"), None)
        if hit is not None:
            refused.append(Refusal("secret", hit.kind, one.span, one.message_ordinal))
            clean_ones.extend(remove_secrets(keep_beside_secret(one), suspect)[0])
            continue
        if hits or any(isinstance(value, str) and find_secrets(value) for value in one.value.values()):
            value = {name: redact(item)[0] if isinstance(item, str) else item for name, item in one.value.items()}
            if one.kind == "entity":
                continue
            one = replace(
                one,
                text=redact(one.text)[0],
                value=value,
                key=one.key and redact(one.key)[0],
                flags=(*one.flags, "pii"),
            )
        clean_ones.append(one)
    return clean_ones, refused


def keep_beside_secret(one: Observation) -> list[Observation]:
    """The other clauses of a sentence with a credential; none if it was dictated or corrects something.

    The clause before a credential may say what it opens: it goes with it.
    """
    if one.assertion != "declared" or one.detector in ("structured", "tool", "ref"):
        return []
    told = [hit for hit in find_secrets(one.text) if hit.group == "credential"]
    clauses = split(one.text)
    secret = [
        PLACEHOLDER in each.text or any(hit.start < each.end and each.start < hit.end for hit in told)
        for each in clauses
    ]
    others = [
        each
        for at, each in enumerate(clauses)
        if not secret[at] and not any(secret[at + 1 : at + 2]) and _says_something(each.text)
    ]
    rest = ("，" if language_of(one.text) == "zh" else ", ").join(
        _OPENING.sub("", each.text.strip()) for each in others
    )
    if not others or rest == one.text:
        return []
    value = {"value": rest, "quote": rest, **({"speaker": one.value["speaker"]} if "speaker" in one.value else {})}
    return [replace(one, key=None, value=value, text=rest, polarity=0, old_value=None)]


def _says_something(clause: str) -> bool:
    """Whether a clause has enough words to say something by itself."""
    return len([word for word in words(clause) if word.strip()]) >= LEAST_WORDS


def observe_mentions(
    observed: list[Observation],
    mentions: list[Mention],
    context: ObserveContext,
    policy: ObservePolicy,
    explain: list[ReadingNote],
    messages: tuple[MessageText, ...],
    suspect: set[int],
) -> list[Observation]:
    """The entities that a turn mentions often enough, without those that a statement already names."""
    wanted = [
        (one.message_ordinal, one.span[0], one.span[1], "remember" if one.detector == "remember" else one.kind)
        for one in observed
        if one.kind in ("task", "decision") or one.detector == "remember"
    ]
    least = policy.entity_min_mentions
    known = {name for name in context.session_mentions if context.recent_mentions.get(name, 0) >= least}
    passed = entities.admit_mentions(mentions, context.recent_mentions, known, wanted, least)
    names = {mention.canonical for mention, _ in passed}
    explain.extend(
        ReadingNote(mention.span, "dropped", "entity gate", mention.message_ordinal)
        for mention in mentions
        if mention.canonical not in names
    )
    stated = {
        fold(value)
        for one in observed
        if one.kind in ("profile", "preference")
        for name in ("value", "target", "old", "name")
        if isinstance(value := one.value.get(name), str)
    }
    roles: dict[int, Role] = {message.ordinal: message.role for message in messages}
    return [
        Observation(
            "entity",
            entities.to_entity_key(mention),
            {"name": mention.name, "kind": mention.kind, "canonical": mention.canonical, "value": mention.name},
            mention.name,
            "inferred",
            "fact",
            0,
            "low",
            False,
            None,
            "entities",
            reason,
            language_of(mention.name),
            roles.get(mention.message_ordinal, "user"),
            mention.message_ordinal,
            mention.span,
        )
        for mention, reason in passed
        if mention.canonical not in stated and not (mention.message_ordinal in suspect and find_secrets(mention.name))
    ]


def remove_repeats(observations: list[Observation]) -> list[Observation]:
    """The observations without repeats of the same type, key, text and polarity."""
    seen: dict[tuple[object, ...], Observation] = {}
    for one in observations:
        seen.setdefault(
            (
                one.kind,
                one.key,
                one.polarity,
                one.old_value,
                one.text if one.key is None or one.kind != "entity" else "",
            ),
            one,
        )
    return list(seen.values())


BY_THE_WAY = "settings:auto_remember"
"""The reason for a statement that was not dictated, if the user's settings keep only what is dictated."""
DICTATED = frozenset(("directive", "confirmed"))


def keep_dictated(observed: Observed) -> Observed:
    """Only what the user or the client asked to keep or to retract, with notes that the rest was not kept."""
    dictated = tuple(each for each in observed.observations if is_dictated(each))
    passed = [each for each in (*observed.observations, *observed.suspected) if not is_dictated(each)]
    if not passed:
        return observed
    explain = tuple(_correct_note(note, dictated) for note in observed.explain)
    told = {(note.ordinal, note.text_span) for note in explain}
    more = [ReadingNote(one.span, "dropped", BY_THE_WAY, one.message_ordinal) for one in passed]
    unsaid = [note for note in more if not any(_within(note, *place) for place in told)]
    return replace(observed, observations=dictated, suspected=(), explain=(*explain, *dict.fromkeys(unsaid)))


def is_dictated(one: Observation) -> bool:
    """Whether somebody asked to keep the observation, or to retract something."""
    by_client = (one.detector, one.pattern) == ("structured", "item")
    return one.retracts or by_client or one.assertion in DICTATED


def _correct_note(note: ReadingNote, dictated: tuple[Observation, ...]) -> ReadingNote:
    """The note, corrected if nothing of the text that it calls kept was kept."""
    if note.decision == "dropped" or any(_within_note(one, note) for one in dictated):
        return note
    return replace(note, decision="dropped", reason=BY_THE_WAY)


def _within_note(one: Observation, note: ReadingNote) -> bool:
    start, end = note.text_span
    return one.message_ordinal == note.ordinal and one.span[0] < end and start < one.span[1]


def _within(note: ReadingNote, ordinal: int, span: tuple[int, int]) -> bool:
    return note.ordinal == ordinal and note.text_span[0] < span[1] and span[0] < note.text_span[1]


KIND, KEY = "policy:kind", "policy:key"
"""The reasons for a statement whose type or key the policy refuses."""


def keep_kinds(observed: Observed, kinds: Set[MemoryType], refused_keys: tuple[str, ...]) -> Observed:
    """Only the observations that the policy keeps, with notes about the others; retractions always stay."""
    refused = [(each, why) for each in observed.observations if (why := find_refusal(each, kinds, refused_keys))]
    if not refused:
        return observed
    gone = {id(each) for each, _ in refused}
    notes = (ReadingNote(each.span, "dropped", why, each.message_ordinal) for each, why in refused)
    left = tuple(each for each in observed.observations if id(each) not in gone)
    return replace(observed, observations=left, explain=(*observed.explain, *notes))


def find_refusal(one: Observation, kinds: Set[MemoryType], refused_keys: tuple[str, ...]) -> str | None:
    """The reason why the statement is not kept; None if it is kept."""
    if one.retracts:
        return None
    if one.key and refused_keys and one.key.startswith(refused_keys):
        return KEY
    return KIND if one.kind not in kinds and not is_dictated(one) else None
