"""What was worked out from texts lately, by their hashes: the same memories stand in package after package."""

import re
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, Generic, ParamSpec, TypeVar, cast
from urllib import parse

V = TypeVar("V")
P = ParamSpec("P")
MOST = 20_000
_texts: list[Any] = []


def of_texts(most: int) -> Callable[[Callable[P, V]], Callable[P, V]]:
    """A function of texts whose last `most` answers are kept in this process, until `forget_texts`."""

    def keep_answers(answer: Callable[P, V]) -> Callable[P, V]:
        made = lru_cache(maxsize=most)(answer)
        _texts.append(made)
        return cast("Callable[P, V]", made)

    return keep_answers


def forget_texts() -> None:
    """No text of anybody is kept by functions of texts: an erasure cannot tell whose they were.

    Nor is one by the library: `re` keeps the last patterns that it has compiled, some of them of words that somebody
    said, and `urllib` the last addresses.
    """
    for each in _texts:
        each.cache_clear()
    re.purge()
    parse.clear_cache()  # pyright: ignore[reportUnknownMemberType,reportAttributeAccessIssue] # typeshed has it not


def kept_texts() -> int:
    """How many answers are kept."""
    return sum(each.cache_info().currsize for each in _texts)


class BoundedMemo(Generic[V]):
    """Values that say nothing of the texts they were worked out from; all are let go when there are too many."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[int, V] = {}

    def get(self, of: Hashable) -> V | None:
        """The value, if it is still known."""
        return self._known.get(hash(of))

    def put(self, of: Hashable, value: V) -> V:
        """The value is known from now on."""
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[hash(of)] = value
        return value

    def clear(self) -> None:
        """Nothing is known from now on."""
        self._known.clear()
