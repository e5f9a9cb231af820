"""What fits into a limit of tokens."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel

Shown = TypeVar("Shown", bound=BaseModel)


def keep_fitting(items: Sequence[Shown], limit: int) -> list[Shown]:
    """The first items that cost at most `limit` tokens together as JSON."""
    from shared.language.tokens import count  # loads its tables, which nobody waits for who only lists tools

    fitting: list[Shown] = []
    for item in items:
        limit -= count(item.model_dump_json(exclude_none=True))
        if limit < 0:
            break
        fitting.append(item)
    return fitting


def shorten_text(text: str, limit: int) -> str:
    """The text, or its beginning and an ellipsis if it costs more than `limit` tokens."""
    from shared.language.tokens import head

    beginning = head(text, limit)
    return text if len(beginning) == len(text) else f"{beginning}…"
