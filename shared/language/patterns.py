"""Patterns that are compiled when they are first used: a process pays for what it reads, not for what it imports."""

import re
from typing import Any, cast


class LazyPattern:
    """A pattern that is compiled at the first use of it; from then on its methods are those of the compiled one."""

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
    """What the first group of this name, with a number or without, holds that holds anything; empty where none does."""
    groups: dict[str, str | None] = match.groupdict()
    return next((said for group, said in groups.items() if said and group.rstrip("23456789") == name), "")


def to_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, but what is wrong with the pattern raises `re.error` at its first use."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
