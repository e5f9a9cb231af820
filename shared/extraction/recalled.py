"""Finds the parts of a turn that repeat what memory had shown before: nobody states them now."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from shared.language.fingerprint import Print, prints
from shared.language.patterns import to_pattern

Span = tuple[int, int]
Piece = TypeVar("Piece")
PASTED_PIECES = 2
"""A message of the user with so many pieces of one package was pasted; a single piece may be a new statement."""
_DATA = to_pattern(
    r"<(user_memory|knowledge)\s+(?:nonce|source)=\"[^<>]{0,800}>.*?(?:</\1\s*>|\Z)"
    r"|<(memory_usage_guide|agent_hints)>.*?(?:</\2\s*>|\Z)"
    r"|^\[E\d{1,3}\] [^\n]*(?:\n|\Z)"
    r"|^\((?:exact|semantic|hybrid|relational|associative), -?\d+\.\d\d\)[^\S\n]*$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class ShownSentence:
    """A text of a turn; `stated` marks the user's newest message, which may repeat what is known."""

    ordinal: int
    text: str
    stated: bool


def blank_spans(text: str, spans: Iterable[Sequence[int]]) -> str:
    """The text with the spans replaced by spaces, so that the rest keeps its place."""
    pieces: list[str] = []
    at = 0
    for start, end in sorted((each[0], each[1]) for each in spans):
        pieces += text[at:start], re.sub(r"\S", " ", text[max(start, at) : end])
        at = max(at, end)
    return "".join(pieces) + text[at:]


def keep_spans(text: str, spans: Iterable[Sequence[int]]) -> str:
    """The text with everything outside the spans replaced by spaces."""
    ends = sorted((each[0], each[1]) for each in spans)
    return blank_spans(
        text, zip([0, *(end for _, end in ends)], [*(start for start, _ in ends), len(text)], strict=True)
    )


def keep_own(text: str, spans: Iterable[Sequence[int]] = ()) -> str:
    """The own words of a text, without these spans and without blocks that only a package contains."""
    rest = blank_spans(text, spans)
    if "<" not in rest and "[E" not in rest:
        return rest
    return blank_spans(rest, [found.span() for found in _DATA.finditer(rest)])


def list_fingerprints(heard: Iterable[ShownSentence]) -> dict[int, list[Print]]:
    """The fingerprints of the recognisable sentences of each text, by ordinal."""
    return {each.ordinal: list(prints(each.text)) for each in heard}


def find_recalled(
    sentences: Iterable[ShownSentence], prints: Mapping[int, Sequence[Print]], shown: Mapping[int, frozenset[Piece]]
) -> dict[int, list[Span]]:
    """The sentences that come from a package, by ordinal. `shown` has the pieces that contained each hash.

    The user's newest message states again what one piece says; what holds more of them was pasted.
    """
    spans: dict[int, list[Span]] = {}
    for each in sentences:
        known = [print for print in prints.get(each.ordinal, ()) if print.hash in shown]
        pieces = {piece for print in known for piece in shown[print.hash]}
        if known and (not each.stated or is_pasted([shown[print.hash] for print in known], pieces)):
            spans[each.ordinal] = [(print.start, print.end) for print in known]
    return spans


def is_pasted(held: Sequence[frozenset[Piece]], pieces: Iterable[Piece]) -> bool:
    """Whether no single piece contains all the sentences."""
    return len(held) >= PASTED_PIECES and not any(all(piece in each for each in held) for piece in pieces)
