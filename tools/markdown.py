"""Building blocks of generated Markdown pages."""

import re
from collections.abc import Iterable, Sequence

MADE = "<!-- Generated from the code by `make docs`. Do not edit this page: edit its source. -->"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table, followed by an empty line."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return [*lines, *(f"| {' | '.join(cell(each) for each in row)} |" for row in rows), ""]


def cell(text: str) -> str:
    """The text with characters escaped that would break a table."""
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()
