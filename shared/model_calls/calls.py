"""The questions to models for one batch: each is asked once, within the budget of the day, and counted.

Load the earlier answers, ask outside of transactions, save the new ones: `AnswerCache(await find_cached(...))`, `await
calls.ask(models, prompt, key)`, `await put_cached(conn, subject, calls.cache.fresh)`. The usage of a failed batch is
saved too.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import orjson

from shared import clock
from shared.db import Database
from shared.domain.subjects import Subject
from shared.language.tokens import count
from shared.model_calls import budget
from shared.model_calls.budget import ModelBudget
from shared.models.cost import Spent
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import ModelProvider
from shared.policy import ObserverPolicy
from shared.secrets import ADDRESSES, placeholder, redact
from shared.store import model_answers
from shared.store.model_answers import CachedAnswer, KeptAnswer, Usage

UNLIKE_A_WORD = 6
"""The length from which a secret that was found in one text is blanked in all texts."""


def digest(*parts: object) -> str:
    """The hash of these parts, which may be any JSON values."""
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The identity of a question: purpose, version, model and hash of the text, not the turn or the known memories."""

    purpose: str
    prompt_version: str
    model: str
    said: str
    turn_id: UUID | None = None

    @property
    def hash(self) -> str:
        """The hash that identifies the question."""
        return digest(self.purpose, self.prompt_version, self.model, self.said)


@dataclass
class AnswerCache:
    """Answers of models to questions about one user: earlier ones by hash, and new ones."""

    known: dict[str, CachedAnswer] = field(default_factory=dict[str, CachedAnswer])
    fresh: list[CachedAnswer] = field(default_factory=list[CachedAnswer])

    def has(self, key: AnswerKey) -> bool:
        """Whether the question was answered, so that it costs no call."""
        return key.hash in self.known

    async def ask(
        self, models: ModelProvider, prompt: Prompt[A], key: AnswerKey, keep: Callable[[A], A] | None = None
    ) -> Answer[A]:
        """The answer of the model, or the earlier one: the same value either way, with secrets blanked.

        `keep` converts a new answer to the form that is stored, if its meaning depends on more than the question.
        """
        before = self.known.get(key.hash)
        if before is not None:
            value = prompt.answer.model_validate(before.answer)
            return Answer(value, "", before.model, before.prompt_version)
        answer = await models.ask(prompt)
        plain = blank_answer((keep(answer.value) if keep else answer.value).model_dump(mode="json"))
        fresh = CachedAnswer(key.hash, key.purpose, key.prompt_version, key.model, key.said, key.turn_id, plain)
        self.known[key.hash] = fresh
        self.fresh.append(fresh)
        return replace(answer, value=prompt.answer.model_validate(plain))


def blank_answer(answer: Any) -> Any:
    """The answer without secrets; a long secret that is found in one of its texts is blanked in all of them."""
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


async def load_budget(db: Database, limits: ObserverPolicy, subject: Subject, spent: Spent) -> ModelBudget:
    """The budget that is left to the user, who spent this much today, and to their tenant."""
    own = budget.subtract_spent(limits.model_tokens_per_day, limits.model_seconds_per_day, spent)
    if not (limits.tenant_model_tokens_per_day or limits.tenant_model_seconds_per_day):
        return own
    async with db.system() as conn:
        all_spent = await model_answers.tenant_today(conn, subject.tenant_id)
    shared = budget.subtract_spent(limits.tenant_model_tokens_per_day, limits.tenant_model_seconds_per_day, all_spent)
    return budget.choose_least(own, shared)


MAX_RAW_CHARS = 20_000


@dataclass
class ModelCalls:
    """The answers, the budget that is left today, the usage, and unreadable answers."""

    cache: AnswerCache = field(default_factory=AnswerCache)
    left: ModelBudget = field(default_factory=ModelBudget)
    used: list[Usage] = field(default_factory=list[Usage])
    unreadable: list[KeptAnswer] = field(default_factory=list[KeptAnswer])

    @property
    def called(self) -> bool:
        """Whether a model was called."""
        return any(each.spent.calls for each in self.used)

    def allows(self, prompt: Prompt[Any], key: AnswerKey) -> bool:
        """Whether the budget is sufficient; an earlier answer costs nothing."""
        return self.cache.has(key) or self.left.allows(count(prompt.system) + count(prompt.user))

    async def ask(
        self, models: ModelProvider, prompt: Prompt[A], key: AnswerKey, keep: Callable[[A], A] | None = None
    ) -> Answer[A]:
        """The answer of `AnswerCache.ask`; failures are counted and raised, and unreadable answers are kept."""
        try:
            answer = await self.cache.ask(models, prompt, key, keep)
        except ModelUnavailable as error:
            self._count(key, error.spent)
            raise
        except MalformedAnswer as error:
            self._count(key, error.spent, malformed=True)
            if key.turn_id:
                question = (prompt.name, prompt.version, key.model)
                answer = (error.problem, to_kept_text(error.raw))
                self.unreadable.append(KeptAnswer(clock.uuid7(), key.turn_id, *question, *answer))
            raise
        self._count(key, answer.spent)
        return answer

    def _count(self, key: AnswerKey, spent: Spent, *, malformed: bool = False) -> None:
        self.used.append(Usage(key.purpose, spent, malformed, key.model))
        self.left = self.left.subtract(spent)


def to_kept_text(raw: str) -> str:
    """The text as it may be stored: shortened, without secrets, personal data and NUL characters."""
    return redact(raw[:MAX_RAW_CHARS].replace("\x00", ""), ADDRESSES)[0]
