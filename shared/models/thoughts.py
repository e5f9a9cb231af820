"""Cached answers that survive their request: reused, and still fetched when the request could not wait."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, cast

from pydantic import BaseModel

from shared.cache import UserCache
from shared.models.errors import ModelUnavailable
from shared.models.prompt import A, A_co, Prompt
from shared.models.provider import ModelProvider
from shared.single_flight import SingleFlight

Owner = tuple[str, str]
"""Tenant and user: the owner of the text in a prompt. Nothing passes from one owner to another."""
Key = tuple[Owner, bytes]
MOST_EACH = 50
"""The number of cached answers per owner, so that one owner does not evict the others."""
AT_ONCE = 8
AT_ONCE_EACH = 2
"""The number of concurrent calls, of all owners and of one; beyond that a call fails at once."""


@dataclass(frozen=True, slots=True)
class DeferredAnswer(Generic[A_co]):
    """An answer; `kept` is true if it came from the cache."""

    value: A_co
    kept: bool


class DeferredAnswers:
    """A bounded cache of answers in front of a model; it stores prompts only as hashes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, most: int = 2000, keep_s: float = 600.0) -> None:
        self._kept = UserCache[bytes, BaseModel](clock, keep_s=keep_s, most=most, most_each=MOST_EACH)
        self._calls = SingleFlight[Key, BaseModel]()

    def __len__(self) -> int:
        return len(self._kept)

    async def ask(
        self, models: ModelProvider, owner: Owner, question: str, prompt: Prompt[A], *, wait_s: float
    ) -> DeferredAnswer[A]:
        """The cached answer, or one that arrives within `wait_s`; otherwise ModelUnavailable or MalformedAnswer.

        `question` is the part of the prompt that identifies it. A late call continues until the prompt's own deadline,
        so that the next caller with the same question finds its answer.
        """
        key = (owner, _digest(models.chat_model_id or "", prompt.name, prompt.version, question))
        known = self._kept.find(*key)
        if known is not None:
            return DeferredAnswer(cast("A", known), kept=True)
        call = self._calls.find(key) or self._start(models, key, prompt)
        await asyncio.wait({call}, timeout=max(wait_s, 0.0))
        if not call.done():
            raise ModelUnavailable("timeout", f"{wait_s:g} s")
        if call.cancelled():
            raise ModelUnavailable("not_configured", "closed")
        return DeferredAnswer(cast("A", call.result()), kept=False)

    def forget(self, owner: Owner) -> None:
        """Drops the owner's answers and cancels calls with their text."""
        self._kept.drop(owner)
        self._calls.cancel(lambda key: key[0] == owner)

    def clear(self) -> None:
        """Drops all answers and cancels all calls."""
        self._kept.clear()
        self._calls.cancel(lambda _: True)

    def drop_old(self) -> None:
        """Drops expired answers."""
        self._kept.drop_old()

    async def close(self) -> None:
        """Cancels all calls and drops all answers."""
        await self._calls.close()
        self._kept.clear()

    def _start(self, models: ModelProvider, key: Key, prompt: Prompt[A]) -> asyncio.Task[BaseModel]:
        own = self._calls.count(lambda other: other[0] == key[0])
        if len(self._calls) >= AT_ONCE or own >= AT_ONCE_EACH:
            raise ModelUnavailable("busy", f"{len(self._calls)} calls in progress")

        async def call() -> BaseModel:
            answer = (await models.ask(prompt)).value
            self._kept.put(key[0], 0, key[1], answer)
            return answer

        return self._calls.start(key, call(), prompt.version)


def _digest(*parts: str) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(f"{len(part)}:".encode() + part.encode("utf-8", "surrogatepass"))
    return found.digest()
