"""Any provider, with the time, the tokens, the cost and the failures of its calls counted."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from shared.metrics.models import (
    MODEL_CALL_SECONDS,
    MODEL_CALLS,
    MODEL_COST,
    MODEL_FAILURES,
    MODEL_REPAIRS,
    MODEL_SECONDS,
    MODEL_TOKENS,
)
from shared.models.cost import Spent
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import Capabilities, ModelProvider, StoredVector
from shared.policy import ModelsPolicy
from shared.vectors import Scale

T = TypeVar("T")
WITHOUT_PRICES = ModelsPolicy()


class Measured:
    """Answers as `inner` does; a malformed answer counts as a failure."""

    def __init__(self, inner: ModelProvider, clock: Callable[[], float], policy: ModelsPolicy = WITHOUT_PRICES) -> None:
        self._inner = inner
        self._clock = clock
        self._policy = policy

    @property
    def embedding_model_id(self) -> str | None:
        """As inside."""
        return self._inner.embedding_model_id

    @property
    def embedding_model_ids(self) -> frozenset[str]:
        """As inside."""
        return self._inner.embedding_model_ids

    @property
    def dimension(self) -> int | None:
        """As inside."""
        return self._inner.dimension

    @property
    def chat_model_id(self) -> str | None:
        """As inside."""
        return self._inner.chat_model_id

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """As inside."""
        return await self.time_call(self.embedding_model_id, "embed", self._inner.embed(texts, deadline_s=deadline_s))

    async def embed_kept(self, texts: Sequence[str], *, deadline_s: float) -> list[StoredVector]:
        """As inside."""
        return await self.time_call(
            self.embedding_model_id, "embed", self._inner.embed_kept(texts, deadline_s=deadline_s)
        )

    def views(self, vector: Sequence[float]) -> Mapping[str, Sequence[float]]:
        """As inside."""
        return self._inner.views(vector)

    async def scales(self, *, deadline_s: float) -> Mapping[str, Scale]:
        """As inside."""
        return await self._inner.scales(deadline_s=deadline_s)

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """As inside."""
        answer = await self.time_call(self.chat_model_id, prompt.name, self._inner.ask(prompt))
        if answer.repaired:
            MODEL_REPAIRS.labels(prompt.name, answer.model_id).inc()
        self._count_tokens(answer.model_id, prompt.name, answer.spent)
        return answer

    @property
    def rerank_model_id(self) -> str | None:
        """As inside."""
        return self._inner.rerank_model_id

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """As inside."""
        call = self._inner.rerank(query, texts, deadline_s=deadline_s)
        return await self.time_call(self.rerank_model_id, "rerank", call)

    async def probe(self) -> Capabilities:
        """As inside."""
        return await self._inner.probe()

    async def close(self) -> None:
        """As inside."""
        await self._inner.close()

    async def time_call(self, model_id: str | None, operation: str, call: Awaitable[T]) -> T:
        model = model_id or "none"
        started = self._clock()
        outcome = "broken_off"
        try:
            answer = await call
            outcome = "answered"
        except ModelUnavailable as error:
            outcome = error.reason
            MODEL_FAILURES.labels(model, outcome).inc()
            self._count_tokens(model, operation, error.spent)
            raise
        except MalformedAnswer as error:
            outcome = "malformed"
            MODEL_FAILURES.labels(model, outcome).inc()
            self._count_tokens(model, operation, error.spent)
            raise
        else:
            return answer
        finally:
            took = self._clock() - started
            MODEL_CALLS.labels(operation, model, outcome).inc()
            MODEL_CALL_SECONDS.labels(model, operation).observe(took)
            MODEL_SECONDS.labels(operation, model).inc(max(took, 0.0))

    def _count_tokens(self, model: str, purpose: str, spent: Spent) -> None:
        MODEL_TOKENS.labels(purpose, model, "in").inc(spent.tokens_in)
        MODEL_TOKENS.labels(purpose, model, "out").inc(spent.tokens_out)
        MODEL_COST.labels(purpose, model).inc(self._policy.cost(model, spent.tokens_in, spent.tokens_out))
