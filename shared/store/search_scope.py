"""What a search of compose is bound to: a span of time, languages, beginnings of addresses."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

from shared.domain.subjects import Subject

BOUND: LiteralString = """
    AND (%(from)s::timestamptz IS NULL OR c.said_at >= %(from)s)
    AND (%(to)s::timestamptz IS NULL OR c.said_at < %(to)s)
    AND (%(languages)s::text[] IS NULL OR c.language = ANY(%(languages)s))
    AND (%(prefixes)s::text[] IS NULL OR EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) AS p(prefix)
        WHERE starts_with(CASE WHEN c.memory_id IS NULL THEN 'smartbrain://turn/' || c.turn_id
            ELSE 'smartbrain://memory/' || c.memory_id END, p.prefix)))
"""


@dataclass(frozen=True)
class SearchScope:
    """What a search is bound to: a span of time, languages, beginnings of addresses; nothing given binds nothing.

    `past` lets in what is marked outdated, and messages whose statement has ended; superseded, retracted and expired
    memories stay out all the same.
    """

    since: datetime | None = None
    until: datetime | None = None
    languages: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    past: bool = False

    @property
    def bound(self) -> bool:
        """Whether any chunk can fall outside."""
        return bool(self.since or self.until or self.languages or self.prefixes)


def to_params(subject: Subject, within: SearchScope, limit: int) -> dict[str, Any]:
    return {
        **subject.params,
        "from": within.since,
        "to": within.until,
        "languages": list(within.languages) or None,
        "prefixes": list(within.prefixes) or None,
        "past": within.past,
        "limit": limit,
    }
