"""What models are asked for a batch: within the day's share, counted also where it fails, to be saved with it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from shared import clock
from shared.language.tokens import count
from shared.model_calls.answer_cache import AnswerCache, AnswerKey
from shared.model_calls.budget import ModelBudget
from shared.models.cost import Spent
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import ModelProvider
from shared.secrets import ADDRESSES, redact
from shared.store.model_answers import KeptAnswer, Usage

MAX_RAW_CHARS = 20_000


@dataclass
class ModelCalls:
    """Answers by input, what is left of the day's share, what was used of it, and answers that nobody could read."""

    cache: AnswerCache = field(default_factory=AnswerCache)
    left: ModelBudget = field(default_factory=ModelBudget)
    used: list[Usage] = field(default_factory=list[Usage])
    unreadable: list[KeptAnswer] = field(default_factory=list[KeptAnswer])

    @property
    def called(self) -> bool:
        """Whether any question went out."""
        return any(each.spent.calls for each in self.used)

    def allows(self, prompt: Prompt[Any], asked: AnswerKey) -> bool:
        """Whether the share suffices; an answer of before costs nothing."""
        return self.cache.has(asked) or self.left.allows(count(prompt.system) + count(prompt.user))

    async def ask(
        self, models: ModelProvider, prompt: Prompt[A], key: AnswerKey, keep: Callable[[A], A] | None = None
    ) -> Answer[A]:
        """The answer as `Cache.ask` gives it; what fails is counted and raised, what cannot be read is kept too."""
        try:
            answer = await self.cache.ask(models, prompt, key, keep)
        except ModelUnavailable as error:
            self._count(key, error.spent)
            raise
        except MalformedAnswer as error:
            self._count(key, error.spent, malformed=True)
            if key.turn_id:
                told = (prompt.name, prompt.version, key.model, error.problem, to_kept_text(error.raw))
                self.unreadable.append(KeptAnswer(clock.uuid7(), key.turn_id, *told))
            raise
        self._count(key, answer.spent)
        return answer

    def _count(self, asked: AnswerKey, spent: Spent, *, malformed: bool = False) -> None:
        self.used.append(Usage(asked.purpose, spent, malformed, asked.model))
        self.left = self.left.subtract(spent)


def to_kept_text(raw: str) -> str:
    """The words as they may be kept: cut, secrets and personal data blanked, without what no text column takes."""
    return redact(raw[:MAX_RAW_CHARS].replace("\x00", ""), ADDRESSES)[0]
