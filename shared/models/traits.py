"""The properties of a model that a server reports before any question."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ollama import ShowResponse

from shared.language.patterns import to_pattern

_PARSER = to_pattern(r"^PARSER\s+(\S+)", re.MULTILINE | re.IGNORECASE)
_ALWAYS_THINKS = "harmony"
"""Its models think whatever they are told, and the schema holds for what follows."""


@dataclass(frozen=True, slots=True)
class Traits:
    """What a model can do in the server's words, None from a server too old to tell; its own context and width."""

    abilities: tuple[str, ...] | None
    context: int | None
    width: int | None
    loses_schema: bool
    """With a parser built into the server and thoughts switched off, `/api/chat` waits for thoughts to end before it
    applies the schema, and they never begin; `/api/generate` applies it at once."""

    def can(self, ability: str) -> bool:
        """Whether the model can do it, as far as the server tells."""
        return self.abilities is None or ability in self.abilities


def traits_of(shown: ShowResponse) -> Traits:
    """What `show` tells."""
    abilities = tuple(shown.capabilities) if shown.capabilities is not None else None
    parser = _PARSER.search(shown.modelfile or "")
    built_in = parser is not None and parser[1].lower() != _ALWAYS_THINKS
    info = shown.modelinfo or {}
    return Traits(
        abilities,
        context=_number(info, "context_length"),
        width=_number(info, "embedding_length"),
        loses_schema=built_in and "thinking" in (abilities or ()),
    )


def same_model(one: str | None, other: str | None) -> bool:
    """Whether both names mean one model: a name without a tag means the latest."""
    return one is not None and other is not None and with_tag(one) == with_tag(other)


def with_tag(name: str) -> str:
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def _number(info: Mapping[str, Any], name: str) -> int | None:
    """Of the model itself: the part of it that sees pictures has numbers of its own."""
    value = info.get(f"{info.get('general.architecture')}.{name}")
    return value if isinstance(value, int) and value > 0 else None
