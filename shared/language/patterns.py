"""Patterns that are compiled at their first use, so that imports cost nothing."""

import re
from typing import Any, cast


class LazyPattern:
    """A pattern that is compiled at its first use; from then on its methods are those of the compiled one."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self.flags = flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self.flags)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found

    def __repr__(self) -> str:
        return f"to_pattern({self.pattern!r}, {self.flags})"


def read_group(match: re.Match[str], name: str) -> str:
    """The content of the first non-empty group with this name, numbered or not; empty if there is none."""
    groups: dict[str, str | None] = match.groupdict()
    return next((said for group, said in groups.items() if said and group.rstrip("23456789") == name), "")


def to_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Like `re.compile`, but an invalid pattern raises `re.error` at its first use."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
