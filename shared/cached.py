"""A model is asked once about the same input: its answers are kept by input hash, with what came of them.

Load finds what was answered before, think asks through `Cache`, save puts what is fresh:
`Cache(await model_cache.find(conn, subject, hashes))`, `await cache.ask(models, prompt, input)`,
`await model_cache.put(conn, subject, cache.fresh)`.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import orjson

from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import ModelProvider
from shared.store.model_cache import CachedAnswer
from shared.text.secrets import redact


def digest(*said: object) -> str:
    """The same for the same words; parts may be anything that JSON can say."""
    return hashlib.sha256(orjson.dumps(said)).hexdigest()


@dataclass(frozen=True, slots=True)
class Input:
    """What a model is asked about: the words by their digest, not what was known then nor which turn said them."""

    purpose: str
    prompt_version: str
    model: str
    said: str
    turn_id: UUID | None = None

    @property
    def hash(self) -> str:
        """Names the input."""
        return digest(self.purpose, self.prompt_version, self.model, self.said)


@dataclass
class Cache:
    """Answers of models to one user's inputs: those of before, by hash, and the fresh ones."""

    known: dict[str, CachedAnswer] = field(default_factory=dict[str, CachedAnswer])
    fresh: list[CachedAnswer] = field(default_factory=list[CachedAnswer])

    def has(self, asked: Input) -> bool:
        """Whether this costs no call."""
        return asked.hash in self.known

    async def ask(
        self, models: ModelProvider, prompt: Prompt[A], asked: Input, keep: Callable[[A], A] | None = None
    ) -> Answer[A]:
        """The answer to the input, by the model or from before: the same value either way, secrets blanked.

        `keep` makes of a fresh answer what is kept of it, where its sense hangs on more than the input.
        """
        before = self.known.get(asked.hash)
        if before is not None:
            value = prompt.answer.model_validate(before.answer)
            return Answer(value, "", before.model, prompt.name, before.prompt_version)
        answer = await models.ask(prompt)
        plain = _blanked((keep(answer.value) if keep else answer.value).model_dump(mode="json"))
        fresh = CachedAnswer(
            asked.hash, asked.purpose, asked.prompt_version, asked.model, asked.said, asked.turn_id, plain
        )
        self.known[asked.hash] = fresh
        self.fresh.append(fresh)
        return replace(answer, value=prompt.answer.model_validate(plain))


def _blanked(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)[0].replace("\x00", "")
    if isinstance(value, Mapping):
        return {name: _blanked(part) for name, part in value.items()}  # pyright: ignore[reportUnknownVariableType] # JSON
    if isinstance(value, list):
        return [_blanked(part) for part in value]  # pyright: ignore[reportUnknownVariableType] # JSON
    return value
