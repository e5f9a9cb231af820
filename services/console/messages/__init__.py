"""All texts of the console by name, in English and Chinese. Each area has its own module."""

from collections.abc import Mapping
from types import MappingProxyType

from services.console.messages import common, explain, governing, memory, operations, settings, steps

Told = tuple[str, str]
"""English, Chinese."""
TABLES: tuple[Mapping[str, Told], ...] = (
    common.WORDS,
    memory.WORDS,
    governing.WORDS,
    settings.WORDS,
    explain.WORDS,
    operations.WORDS,
    steps.WORDS,
)
MESSAGES: Mapping[str, Told] = MappingProxyType({name: told for table in TABLES for name, told in table.items()})
