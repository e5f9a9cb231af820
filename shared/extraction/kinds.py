"""Of what a turn says only what is of a kind, and under a key, that policy keeps. Pure."""

from collections.abc import Set
from dataclasses import replace

from schemas.memory_types import MemoryType
from shared.extraction.dictated import is_dictated
from shared.extraction.model import Observation, Observed, ReadingNote

KIND, KEY = "policy:kind", "policy:key"
"""Why something was not kept: its type, or its key."""


def keep_kinds(observed: Observed, kinds: Set[MemoryType], refused_keys: tuple[str, ...]) -> Observed:
    """What policy keeps of it, and of the rest that it does not; what takes something back always stays."""
    refused = [(each, why) for each in observed.observations if (why := find_refusal(each, kinds, refused_keys))]
    if not refused:
        return observed
    gone = {id(each) for each, _ in refused}
    notes = (ReadingNote(each.span, "dropped", why, each.message_ordinal) for each, why in refused)
    left = tuple(each for each in observed.observations if id(each) not in gone)
    return replace(observed, observations=left, explain=(*observed.explain, *notes))


def find_refusal(one: Observation, kinds: Set[MemoryType], refused_keys: tuple[str, ...]) -> str | None:
    """Why the statement is not kept; None where it is."""
    if one.retracts:
        return None
    if one.key and refused_keys and one.key.startswith(refused_keys):
        return KEY
    return KIND if one.kind not in kinds and not is_dictated(one) else None
