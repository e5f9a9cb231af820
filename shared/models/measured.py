"""Combines the vectors of one provider and the answers of another, or of the same, with metrics."""

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
    """Embeds with `embedding`, answers and reranks with `chat`, and closes both; a malformed answer
    counts as a failure.
    """

    def __init__(
        self,
        embedding: ModelProvider,
        chat: ModelProvider,
        clock: Callable[[], float],
        policy: ModelsPolicy = WITHOUT_PRICES,
    ) -> None:
        self._embedding = embedding
        self._chat = chat
        self._clock = clock
        self._policy = policy
        self.embedding_model_id = embedding.embedding_model_id
        self.embedding_model_ids = embedding.embedding_model_ids
        self.dimension = embedding.dimension
        self.chat_model_id = chat.chat_model_id
        self.rerank_model_id = chat.rerank_model_id

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        return await self.time_call(
            self.embedding_model_id, "embed", self._embedding.embed(texts, deadline_s=deadline_s)
        )

    async def embed_kept(self, texts: Sequence[str], *, deadline_s: float) -> list[StoredVector]:
        return await self.time_call(
            self.embedding_model_id, "embed", self._embedding.embed_kept(texts, deadline_s=deadline_s)
        )

    def views(self, vector: Sequence[float]) -> Mapping[str, Sequence[float]]:
        return self._embedding.views(vector)

    async def scales(self, *, deadline_s: float) -> Mapping[str, Scale]:
        return await self._embedding.scales(deadline_s=deadline_s)

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        answer = await self.time_call(self.chat_model_id, prompt.name, self._chat.ask(prompt))
        if answer.repaired:
            MODEL_REPAIRS.labels(prompt.name, answer.model_id).inc()
        self._count_tokens(answer.model_id, prompt.name, answer.spent)
        return answer

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        call = self._chat.rerank(query, texts, deadline_s=deadline_s)
        return await self.time_call(self.rerank_model_id, "rerank", call)

    async def probe(self) -> Capabilities:
        """Each part is reported by its own provider."""
        chat = await self._chat.probe()
        if self._embedding is self._chat:
            return chat
        embedding = await self._embedding.probe()
        missing = [m for m in embedding.missing if m.startswith("embedding")]
        missing += [m for m in chat.missing if not m.startswith("embedding")]
        return Capabilities(embedding.embedding, embedding.dimension, chat.chat, tuple(missing), chat.rerank)

    async def close(self) -> None:
        """Closes both providers, even if one fails to close."""
        try:
            await self._embedding.close()
        finally:
            if self._chat is not self._embedding:
                await self._chat.close()

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
