"""Blanks words in a text or a JSON value: replaces them by spaces, so that positions stay. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from shared.language.normalise import normalise

LEAST = 2
"""Minimum width of a text to search for."""
TELLING = 12
"""Minimum width of a text that hardly occurs by chance; Han characters count twice."""


def width(text: str) -> int:
    """The width of the text: its characters, with Han and similar ones counted twice."""
    return sum(2 if char >= "\u2e80" else 1 for char in text)


def needles(said: Iterable[str | None], least: int = LEAST) -> tuple[str, ...]:
    """The texts to search for, longest first: stripped, and wide enough."""
    found = {text.strip() for text in said if text}
    return tuple(sorted((text for text in found if width(text) >= least), key=lambda text: (-len(text), text)))


def _pattern(wanted: Sequence[str]) -> re.Pattern[str] | None:
    """A pattern for each text as a whole, with any spacing and case."""
    return re.compile("|".join(_loose(text) for text in wanted), re.IGNORECASE) if wanted else None


def _loose(text: str) -> str:
    before = r"(?<![A-Za-z0-9])" if re.match(r"[A-Za-z0-9]", text) else ""
    after = r"(?![A-Za-z0-9])" if re.search(r"[A-Za-z0-9]\Z", text) else ""
    return before + r"\s+".join(re.escape(word) for word in text.split()) + after


class Blotter:
    """Takes texts out of others."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._found = _pattern(wanted)
        self._normal = tuple(normalise(text) for text in wanted)

    def holds(self, text: str | None) -> bool:
        """Whether the text contains any of them, literally or normalised."""
        if not text or self._found is None:
            return False
        return bool(self._found.search(text)) or any(each and each in normalise(text) for each in self._normal)

    def text(self, text: str) -> str:
        """The text with spaces where they stood."""
        if self._found is None:
            return text
        return self._found.sub(lambda hit: re.sub(r"\S", " ", hit[0]), text)

    def value(self, value: Any) -> Any:
        """Blanks them in every text of a JSON value; field names stay."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in value]  # pyright: ignore[reportUnknownVariableType] # JSON
        if isinstance(value, dict):
            return {name: self.value(each) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType] # JSON
        return value
