"""All texts of the console by name, in English and Chinese: a file of `texts` for each area."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

TABLES: tuple[Mapping[str, tuple[str, str]], ...] = tuple(
    {name: (english, chinese) for name, (english, chinese) in tomllib.loads(file.read_text("utf-8")).items()}
    for file in sorted(Path(__file__).with_name("texts").glob("*.toml"))
)
MESSAGES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {name: told for table in TABLES for name, told in table.items()}
)
