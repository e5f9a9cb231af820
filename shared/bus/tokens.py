"""Tokens for OAUTHBEARER: from a file that is renewed externally, or with client credentials from a URL."""

# pyright: reportIncompatibleMethodOverride=false
# aiokafka's own method returns nothing

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaError

from shared import tls

EARLY = 0.2
"""The share of its lifetime at which a token is renewed."""
LEAST_S = 60.0
"""The lifetime of a token whose response states none."""
TIMEOUT_S = 10.0


class TokenError(KafkaError):
    """No token is available; clients treat it as a failed connection and retry. `asked`: from a URL."""

    def __init__(self, said: str, *, asked: bool) -> None:
        super().__init__(said)
        self.asked = asked


class TokenFile(AbstractTokenProvider):
    """The token in a file, read for every connection, so that a renewal needs no notification."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def token(self) -> str:
        """The current token of the file; TokenError if it is unreadable or empty."""
        try:
            token = (await asyncio.to_thread(self._path.read_text, "utf-8")).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise TokenError(f"{self._path} cannot be read: {type(error).__name__}", asked=False) from error
        if not token:
            raise TokenError(f"{self._path} is empty", asked=False)
        return token


class TokenUrl(AbstractTokenProvider):
    """Tokens by the grant `client_credentials`, shared by all clients and renewed before they expire."""

    def __init__(
        self,
        url: str,
        client: str,
        secret: str,
        scope: str | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._credentials = httpx.BasicAuth(client, secret)
        self._form = {"grant_type": "client_credentials"} | ({"scope": scope} if scope else {})
        self._monotonic = monotonic
        self._token = ""
        self._until = 0.0
        self._asking: asyncio.Task[None] | None = None

    async def token(self) -> str:
        """A token that is valid for a while; TokenError if none is available."""
        if self._monotonic() >= self._until:
            if self._asking is None or self._asking.done():
                self._asking = asyncio.create_task(self._ask(), name="ask for a token of Kafka")
            await asyncio.shield(self._asking)
        return self._token

    async def _ask(self) -> None:
        try:
            async with httpx.AsyncClient(verify=tls.trust_store(), timeout=TIMEOUT_S) as client:
                answer = await client.post(self._url, data=self._form, auth=self._credentials)
            answer.raise_for_status()
            reply: Any = answer.json()
            token, holds_s = reply["access_token"], float(reply.get("expires_in") or LEAST_S)
        except httpx.HTTPStatusError as error:
            raise TokenError(f"{self._url} answered {error.response.status_code}", asked=True) from error
        except (httpx.HTTPError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise TokenError(f"{self._url} gave no token: {type(error).__name__}", asked=True) from error
        if not isinstance(token, str) or not token:
            raise TokenError(f"{self._url} gave no token", asked=True)
        self._token, self._until = token, self._monotonic() + holds_s * (1 - EARLY)
