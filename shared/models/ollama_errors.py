"""Errors of the `ollama` client as ours: permanent failures, and failures that may pass."""

from collections.abc import Awaitable
from typing import TypeVar

import httpx
from ollama import ResponseError

from shared.models.errors import ModelUnavailable

T = TypeVar("T")

CANNOT_DO = 501
"""A model that does not embed."""
FOR_GOOD = (
    "invalid json schema",
    "does not support",
    "failed to parse grammar",
    "nan or inf",
    "unsupported value: nan",
)
"""What a server says with 500 and will say again, however often it is asked: the request is at fault.

The last two: the model makes no numbers of this text.
"""


def too_long(error: ModelUnavailable) -> bool:
    """Whether the text exceeded the model's context."""
    return error.reason == "bad_request" and "context length" in error.problem


async def translate_errors(call: Awaitable[T]) -> T:
    """The server's answer; whatever the client raised instead, said in our words."""
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
