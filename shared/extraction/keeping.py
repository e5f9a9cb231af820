"""What of the findings is kept: without secrets, named things that pass the gate, each statement once."""

from dataclasses import replace

from schemas.vocabulary import Role
from shared.extraction import entities
from shared.extraction.clauses import language_of
from shared.extraction.keys import fold
from shared.extraction.model import (
    Mention,
    MessageText,
    Observation,
    ObserveContext,
    ObservePolicy,
    ReadingNote,
    Refusal,
)
from shared.secrets import PLACEHOLDER, find_secrets, redact

BLANKED = "blanked"
"""The rule that refuses a statement whose secret was taken out when it was committed."""


def clean(observations: list[Observation], suspect: set[int]) -> tuple[list[Observation], list[Refusal]]:
    """Observations but for those that tell a credential, blanked or not; personal numbers are blanked."""
    clean_ones: list[Observation] = []
    refused: list[Refusal] = []
    for one in observations:
        if PLACEHOLDER in one.text:
            refused.append(Refusal("secret", BLANKED, one.span, one.message_ordinal))
            continue
        if one.detector not in ("structured", "tool", "ref") and one.message_ordinal not in suspect:
            clean_ones.append(one)
            continue
        hits = find_secrets(one.text)
        hit = next((hit for hit in hits if hit.group == "credential"), None)
        if hit is not None:
            refused.append(Refusal("secret", hit.kind, one.span, one.message_ordinal))
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


def observe_mentions(
    observed: list[Observation],
    mentions: list[Mention],
    context: ObserveContext,
    policy: ObservePolicy,
    explain: list[ReadingNote],
    messages: tuple[MessageText, ...],
    suspect: set[int],
) -> list[Observation]:
    """The named things that a turn is about often enough, but for those that a statement tells already."""
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
            entities.key(mention),
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


def distinct(observations: list[Observation]) -> list[Observation]:
    """Each statement once: the same kind, key, text and polarity counts as one."""
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
