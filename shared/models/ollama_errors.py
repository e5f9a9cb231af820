"""What the `ollama` client raises, said in our words."""

from collections.abc import Awaitable
from typing import TypeVar

import httpx
from ollama import ResponseError

from shared.models.errors import ModelUnavailable

T = TypeVar("T")


def too_long(error: ModelUnavailable) -> bool:
    """Whether the text exceeded the model's context."""
    return error.reason == "bad_request" and "context length" in str(error)


async def sent(call: Awaitable[T]) -> T:
    """The server's answer; whatever the client raised instead, said in our words."""
    try:
        return await call
    except ResponseError as error:
        raise _refused(error) from error
    except (ConnectionError, httpx.ConnectTimeout, httpx.NetworkError, httpx.RemoteProtocolError) as error:
        raise ModelUnavailable("connection", type(error).__name__) from error
    except httpx.TimeoutException as error:
        raise ModelUnavailable("timeout", type(error).__name__) from error
    except (httpx.HTTPError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ModelUnavailable("bad_response", type(error).__name__) from error


def _refused(error: ResponseError) -> ModelUnavailable:
    if error.status_code == 404:
        return ModelUnavailable("model_missing", error.error[:200])
    if error.status_code in (408, 429) or error.status_code >= 500:
        return ModelUnavailable("server_error", str(error.status_code))
    return ModelUnavailable("bad_request", error.error[:200])
