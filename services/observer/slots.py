"""The names that represent a session while it runs. Pure. At its end they are counted again from its turns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared.extraction.model import Mention
from shared.language.segment import has_word


@dataclass(frozen=True, slots=True)
class NamedThing:
    """The names in one turn, and the values that it took back or put others in the place of."""

    seq: int
    mentions: Sequence[Mention]
    taken_back: Sequence[str] = ()


def grow_slots(
    slots: Mapping[str, Mapping[str, Any]], turns: Iterable[NamedThing], most: int
) -> dict[str, dict[str, Any]]:
    """The most mentioned names, and as many of the latest others, so that a newcomer can rise.

    A name that was taken back stands for nothing until it is said again.
    """
    grown = {key: dict(slot) for key, slot in slots.items()}
    for turn in turns:
        for each in turn.mentions:
            key = f"{each.kind}:{each.canonical}"
            slot = grown.setdefault(key, {"name": each.name, "kind": each.kind, "mentions": 0, "last_seq": turn.seq})
            slot["mentions"] += 1
            slot["last_seq"] = max(slot["last_seq"], turn.seq)
        gone = turn.taken_back
        grown = {key: slot for key, slot in grown.items() if not any(has_word(each, slot["name"]) for each in gone)}
    ranked = sorted(grown, key=lambda key: (-grown[key]["mentions"], -grown[key]["last_seq"], key))
    latest = sorted(ranked[most:], key=lambda key: -grown[key]["last_seq"])
    return {key: grown[key] for key in (*ranked[:most], *latest[:most])}
