"""Words among what held at a past moment, of which no index is kept."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

from shared.language import segment

Id = TypeVar("Id", bound=Hashable)


def rank_by_terms(query: str, texts: Sequence[tuple[Id, str]]) -> list[Id]:
    """Those of the texts that hold a term of the query, first those that hold most of them, else in their order."""
    wanted = set(segment.query_terms(query))
    met = [(len(wanted.intersection(segment.terms(text))), each) for each, text in texts] if wanted else []
    return [each for hits, each in sorted(met, key=lambda one: -one[0]) if hits]
