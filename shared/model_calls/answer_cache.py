"""A model is asked once about the same input: its answers are kept by input hash, with what came of them.

Load finds what was answered before, think asks through `Cache` (of `Asking`, which also counts), save puts what is
fresh: `Cache(await model_cache.find(conn, subject, hashes))`, `await asking.ask(models, prompt, input)`,
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
from shared.secrets import placeholder, redact
from shared.store.model_answers import CachedAnswer

UNLIKE_A_WORD = 6
"""From so many characters on what is a secret in one place is taken for one everywhere."""


def digest(*said: object) -> str:
    """The same for the same words; parts may be anything that JSON can say."""
    return hashlib.sha256(orjson.dumps(said)).hexdigest()


@dataclass(frozen=True, slots=True)
class AnswerKey:
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
class AnswerCache:
    """Answers of models to one user's inputs: those of before, by hash, and the fresh ones."""

    known: dict[str, CachedAnswer] = field(default_factory=dict[str, CachedAnswer])
    fresh: list[CachedAnswer] = field(default_factory=list[CachedAnswer])

    def has(self, asked: AnswerKey) -> bool:
        """Whether this costs no call."""
        return asked.hash in self.known

    async def ask(
        self, models: ModelProvider, prompt: Prompt[A], key: AnswerKey, keep: Callable[[A], A] | None = None
    ) -> Answer[A]:
        """The answer to the input, by the model or from before: the same value either way, secrets blanked.

        `keep` makes of a fresh answer what is kept of it, where its sense hangs on more than the input.
        """
        before = self.known.get(key.hash)
        if before is not None:
            value = prompt.answer.model_validate(before.answer)
            return Answer(value, "", before.model, prompt.name, before.prompt_version)
        answer = await models.ask(prompt)
        plain = blank_answer((keep(answer.value) if keep else answer.value).model_dump(mode="json"))
        fresh = CachedAnswer(key.hash, key.purpose, key.prompt_version, key.model, key.said, key.turn_id, plain)
        self.known[key.hash] = fresh
        self.fresh.append(fresh)
        return replace(answer, value=prompt.answer.model_validate(plain))


def blank_answer(answer: Any) -> Any:
    """The answer without secrets: a long one that any of its texts shows to be one is blanked in all of them."""
    secrets: dict[str, str] = {}

    def see(text: str) -> str:
        text = text.replace("\x00", "")
        plain, hits = redact(text)
        secrets.update((text[hit.start : hit.end], placeholder(hit.kind)) for hit in hits)
        return plain

    def blank(text: str) -> str:
        for secret in sorted(secrets, key=len, reverse=True):
            if len(secret) >= UNLIKE_A_WORD:
                text = text.replace(secret, secrets[secret])
        return text

    return _each(_each(answer, see), blank)


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """The value with each of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _each(part, change) for name, part in value.items()}  # pyright: ignore[reportUnknownVariableType] # JSON
    if isinstance(value, list):
        return [_each(part, change) for part in value]  # pyright: ignore[reportUnknownVariableType] # JSON
    return value
