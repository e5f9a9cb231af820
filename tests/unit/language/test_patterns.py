"""Patterns are compiled at their first use, and all of the product's patterns compile."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

import shared.extraction
import shared.language
import shared.resolution
import shared.screening
import shared.secrets
from shared.language.patterns import LazyPattern, to_pattern


def test_a_pattern_is_compiled_at_its_first_use() -> None:
    broken = to_pattern("(unclosed")
    with pytest.raises(re.error, match="unterminated"):
        broken.search("anything")


def test_it_matches_like_a_compiled_pattern() -> None:
    lazy, compiled = to_pattern(r"(?P<w>[a-z]+)茶", re.IGNORECASE), re.compile(r"(?P<w>[a-z]+)茶", re.IGNORECASE)
    for text in ("green茶 and BLACK茶", "红茶", ""):
        assert [m.span() for m in lazy.finditer(text)] == [m.span() for m in compiled.finditer(text)]
        assert lazy.sub("x", text) == compiled.sub("x", text)
        assert bool(lazy.fullmatch(text)) == bool(compiled.fullmatch(text))
    assert (lazy.pattern, lazy.groups) == (compiled.pattern, compiled.groups)


def test_every_language_pattern_compiles() -> None:
    found = [
        one for package in (shared.extraction, shared.language) for one in _patterns(package.__path__, package.__name__)
    ]
    assert len(found) > 300
    assert all(one.groups >= 0 for one in found)


def _patterns(path: list[str], name: str) -> Iterator[LazyPattern]:
    for info in pkgutil.walk_packages(path, f"{name}."):
        for value in vars(import_module(info.name)).values():
            yield from _inside(value)


def _inside(value: object) -> Iterator[LazyPattern]:
    if isinstance(value, LazyPattern):
        yield value
    elif isinstance(value, dict):
        yield from _inside([*value.values()])
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _inside(each)
