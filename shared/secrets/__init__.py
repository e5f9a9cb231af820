"""Finds credentials and personal numbers in text, blanks them, or refuses the text; time linear in its length."""

from shared.language.patterns import to_pattern
from shared.secrets.addresses import find_addresses
from shared.secrets.assigned import find_assigned, holds, is_phrase, kind_under
from shared.secrets.model import (
    ADDRESSES,
    FORMER_PLACEHOLDERS,
    MAY_STAND,
    PERSONAL_PLACEHOLDERS,
    PLACEHOLDER,
    SecretClass,
    SecretHit,
    SecretKind,
    SecretRefusal,
)
from shared.secrets.personal import find_numbers
from shared.secrets.shapes import find_catalogued, find_shaped
from shared.secrets.spoken import find_dial_turns, find_named, find_recovery_words, find_single_characters

__all__ = [
    "ADDRESSES",
    "MAY_STAND",
    "PLACEHOLDER",
    "PLACEHOLDERS",
    "SecretClass",
    "SecretHit",
    "SecretKind",
    "SecretRefusal",
    "find_secrets",
    "kind_of_field",
    "kind_of_id",
    "placeholder",
    "redact",
    "refuses",
]

PLACEHOLDERS = frozenset((PLACEHOLDER, *PERSONAL_PLACEHOLDERS.values(), *FORMER_PLACEHOLDERS))
"""Every placeholder that a redacted text can contain."""
_NAME_CHARS, _VALUE_CHARS = 80, 300
"""The parts of a field that are read: the end of its name, the beginning of its value."""
_WIDE = to_pattern(r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]")
_NARROW = {code: code - 0xFEE0 for code in (*range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))}


def find_secrets(text: str, spared: frozenset[SecretKind] = ADDRESSES) -> tuple[SecretHit, ...]:
    """All secrets of the text in order, without overlaps, except kinds in `spared`; credentials take precedence."""
    if _WIDE.search(text):
        text = text.translate(_NARROW)
    low = text.lower()
    if len(low) != len(text):
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    hits = [*find_shaped(text), *find_catalogued(text), *find_single_characters(text)]
    hits += find_assigned(text, low)
    hits += find_named(text, low)
    hits += find_recovery_words(low)
    hits += find_dial_turns(low)
    hits += (hit for hit in find_numbers(text, low) if hit.kind not in spared)
    if "address" not in spared:
        hits += find_addresses(text)
    return join_overlaps(hits) if len(hits) > 1 else tuple(hits)


def redact(text: str, spared: frozenset[SecretKind] = MAY_STAND) -> tuple[str, tuple[SecretHit, ...]]:
    """The text with a placeholder for every secret except kinds in `spared`, and the secrets found.

    At intake, `spared` is what the policy keeps; a stored text has passed intake already.
    """
    hits = find_secrets(text, spared)
    if not hits:
        return text, hits
    pieces: list[str] = []
    at = 0
    for hit in hits:
        pieces += text[at : hit.start], placeholder(hit.kind)
        at = hit.end
    return "".join(pieces) + text[at:], hits


def placeholder(kind: SecretKind) -> str:
    """The placeholder for a secret of this kind."""
    return PERSONAL_PLACEHOLDERS.get(kind, PLACEHOLDER)


def refuses(text: str) -> SecretRefusal | None:
    """Why the text may not be remembered: it contains a credential. Personal data is redacted, not refused."""
    hit = next((hit for hit in find_secrets(text) if hit.group == "credential"), None)
    return SecretRefusal("looks like a password, key or token", hit.kind, hit.start, hit.end) if hit else None


def kind_of_field(name: str, value: str) -> SecretKind | None:
    """The kind of a field's whole value by its name, if the value alone does not show it."""
    name, value = name[-_NAME_CHARS:], value[:_VALUE_CHARS]
    name = name if kind_under(name) else name.removesuffix("s")
    kind = kind_under(name)
    return kind if kind and (holds(name, value, quoted=True) or is_phrase(name, value)) else None


def kind_of_id(text: str) -> SecretKind | None:
    """The kind of a name or id whose form is that of a secret; length and randomness do not count for ids."""
    return next((hit.kind for hit in find_shaped(text) if hit.kind != "token"), None)


def join_overlaps(hits: list[SecretHit]) -> tuple[SecretHit, ...]:
    """The matches in order, overlapping ones joined, so that no part of a secret remains."""
    order = {id(hit): (hit.group == "pii", n) for n, hit in enumerate(hits)}
    apart: list[SecretHit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start, -hit.end)):
        if apart and hit.start < apart[-1].end:
            last = apart[-1]
            first = min(last, hit, key=lambda one: order[id(one)])
            joined = SecretHit(first.kind, last.start, max(last.end, hit.end))
            order[id(joined)] = order[id(first)]
            apart[-1] = joined
        else:
            apart.append(hit)
    return tuple(apart)
