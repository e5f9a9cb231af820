"""An Ollama server's description of a model, and the translation of its client's errors: permanent, or not."""

import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from ollama import ResponseError, ShowResponse

from shared.language.patterns import to_pattern
from shared.models.errors import ModelUnavailable

_PARSER = to_pattern(r"^PARSER\s+(\S+)", re.MULTILINE | re.IGNORECASE)
_ALWAYS_THINKS = "harmony"
"""Models that always produce thoughts; the schema applies after them."""


@dataclass(frozen=True, slots=True)
class Traits:
    """A model's capabilities as the server names them, None from a server too old to report them;
    its context and width.
    """

    abilities: tuple[str, ...] | None
    context: int | None
    width: int | None
    loses_schema: bool
    """With a parser built into the server and thoughts disabled, `/api/chat` waits for the end of thoughts before it
    applies the schema, and they never begin; `/api/generate` applies it at once.
    """

    def can(self, ability: str) -> bool:
        """Whether the model has the capability, as far as the server reports it."""
        return self.abilities is None or ability in self.abilities


def traits_of(shown: ShowResponse) -> Traits:
    """The description in the response of `show`."""
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
    """Whether both names are one model: a name without a tag means the latest."""
    return one is not None and other is not None and with_tag(one) == with_tag(other)


def with_tag(name: str) -> str:
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def _number(info: Mapping[str, Any], name: str) -> int | None:
    """Keys of the model itself: its vision part has numbers of its own."""
    value = info.get(f"{info.get('general.architecture')}.{name}")
    return value if isinstance(value, int) and value > 0 else None


T = TypeVar("T")

CANNOT_DO = 501
"""A model without embeddings."""
FOR_GOOD = (
    "invalid json schema",
    "does not support",
    "failed to parse grammar",
    "nan or inf",
    "unsupported value: nan",
)
"""Errors with status 500 that are permanent, because the request is at fault.

The last two: the model gives no valid numbers for this text.
"""


def too_long(error: ModelUnavailable) -> bool:
    """Whether the text exceeded the model's context."""
    return error.reason == "bad_request" and "context length" in error.problem


async def translate_errors(call: Awaitable[T]) -> T:
    """The server's answer; errors of the client are translated."""
    try:
        return await call
    except ResponseError as error:
        raise to_unavailable(error) from error
    except (ConnectionError, httpx.ConnectTimeout, httpx.NetworkError, httpx.RemoteProtocolError) as error:
        raise ModelUnavailable("connection", type(error).__name__) from error
    except httpx.TimeoutException as error:
        raise ModelUnavailable("timeout", type(error).__name__) from error
    except (httpx.HTTPError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ModelUnavailable("bad_response", type(error).__name__) from error


def to_unavailable(error: ResponseError) -> ModelUnavailable:
    message = str(error.error)[:200]
    if error.status_code == 404:
        return ModelUnavailable("model_missing", message)
    if error.status_code == CANNOT_DO or any(each in message.lower() for each in FOR_GOOD):
        return ModelUnavailable("bad_request", message)
    if error.status_code in (408, 429) or error.status_code >= 500:
        return ModelUnavailable("server_error", f"{error.status_code}: {message}")
    return ModelUnavailable("bad_request", message)
