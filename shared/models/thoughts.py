"""Answers that outlive the request that asked: kept for the next time, and still fetched when it could not wait."""

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, cast

from pydantic import BaseModel

from shared.models.errors import ModelUnavailable
from shared.models.prompt import A, A_co, Prompt
from shared.models.provider import ModelProvider

Owner = tuple[str, str]
"""Tenant and user: whose words the question holds. Nothing passes from one owner to another."""
Key = tuple[Owner, bytes]
MOST_EACH = 50
"""Answers kept for one owner, so that nobody pushes everybody else out."""
AT_ONCE = 8
AT_ONCE_EACH = 2
"""Calls that may be under way, of all owners and of one; beyond that there is no answer, at once."""


@dataclass(frozen=True, slots=True)
class DeferredAnswer(Generic[A_co]):
    """An answer; `kept` is true where nobody had to be asked."""

    value: A_co
    kept: bool


@dataclass(frozen=True, slots=True)
class _KeptAnswer:
    value: BaseModel
    until: float


class DeferredAnswers:
    """A bounded memory of answers in front of a model; it knows questions by their hash only."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, most: int = 2000, keep_s: float = 600.0) -> None:
        self._clock = clock
        self._most = most
        self._keep_s = keep_s
        self._kept: OrderedDict[Owner, OrderedDict[bytes, _KeptAnswer]] = OrderedDict()
        self._running: dict[Key, asyncio.Task[BaseModel]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    async def ask(
        self, models: ModelProvider, owner: Owner, question: str, prompt: Prompt[A], *, wait_s: float
    ) -> DeferredAnswer[A]:
        """The answer that is kept, or that comes within `wait_s`; else ModelUnavailable or MalformedAnswer.

        `question` is what of the prompt makes it a question of its own. A call that is late goes on until the prompt's
        own deadline, so that the next one who asks the same finds its answer.
        """
        key = (owner, _digest(models.chat_model_id or "", prompt.name, prompt.version, question))
        known = self._find(key)
        if known is not None:
            return DeferredAnswer(cast("A", known), kept=True)
        call = self._running.get(key) or self._start(models, key, prompt)
        await asyncio.wait({call}, timeout=max(wait_s, 0.0))
        if not call.done():
            raise ModelUnavailable("timeout", f"{wait_s:g} s")
        if call.cancelled():
            raise ModelUnavailable("not_configured", "closed")
        return DeferredAnswer(cast("A", call.result()), kept=False)

    def forget(self, owner: Owner) -> None:
        """Nothing is kept of the owner, and nothing is thought about their words any more."""
        self._kept.pop(owner, None)
        for (whose, _), call in self._running.items():
            if whose == owner:
                call.cancel()

    def clear(self) -> None:
        """Nothing is kept of anybody, and nothing is thought any more."""
        for owner in [*self._kept, *(whose for whose, _ in self._running)]:
            self.forget(owner)

    async def close(self) -> None:
        """Nothing is under way any more, and nothing is kept."""
        running = list(self._running.values())
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self._kept.clear()

    def _start(self, models: ModelProvider, key: Key, prompt: Prompt[A]) -> asyncio.Task[BaseModel]:
        own = sum(owner == key[0] for owner, _ in self._running)
        if len(self._running) >= AT_ONCE or own >= AT_ONCE_EACH:
            raise ModelUnavailable("busy", f"{len(self._running)} calls under way")

        async def call() -> BaseModel:
            answer = (await models.ask(prompt)).value
            self._keep(key, answer)
            return answer

        def over(done: asyncio.Task[BaseModel]) -> None:
            del self._running[key]
            if not done.cancelled():
                done.exception()  # looked at, even where nobody waits for it any more

        task = self._running[key] = asyncio.create_task(call(), name=prompt.version)
        task.add_done_callback(over)
        return task

    def _find(self, key: Key) -> BaseModel | None:
        owner, digest = key
        own = self._kept.get(owner)
        known = own.get(digest) if own else None
        if own is None or known is None or known.until <= self._clock():
            return None
        own.move_to_end(digest)
        self._kept.move_to_end(owner)
        return known.value

    def _keep(self, key: Key, answer: BaseModel) -> None:
        owner, digest = key
        self.drop_old()
        own = self._kept.setdefault(owner, OrderedDict())
        own[digest] = _KeptAnswer(answer, self._clock() + self._keep_s)
        own.move_to_end(digest)
        self._kept.move_to_end(owner)
        if len(own) > MOST_EACH:
            own.popitem(last=False)
        while len(self) > self._most:
            least = next(iter(self._kept.values()))
            least.popitem(last=False)
            self._drop_empty()

    def drop_old(self) -> None:
        """What was kept for its time is gone."""
        now = self._clock()
        for own in self._kept.values():
            for digest in [digest for digest, known in own.items() if known.until <= now]:
                del own[digest]
        self._drop_empty()

    def _drop_empty(self) -> None:
        for owner in [owner for owner, own in self._kept.items() if not own]:
            del self._kept[owner]


def _digest(*parts: str) -> bytes:
    found = hashlib.blake2b(digest_size=16)
    for part in parts:
        found.update(f"{len(part)}:".encode() + part.encode("utf-8", "surrogatepass"))
    return found.digest()
