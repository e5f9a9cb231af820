"""The base of providers with one vector model or none, and the provider without models."""

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from shared.models.errors import ModelUnavailable
from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import Capabilities, StoredVector
from shared.vectors import Scale, scale_of, sentences

MEASURING_S = 60.0


class OneModel:
    """Embeds texts like questions, in any language; the scale is measured at its first use."""

    embedding_model_id: str | None = None
    _measured: asyncio.Task[Scale] | None = None

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """Only an empty list can be embedded, unless the provider overrides this."""
        del deadline_s
        if texts:
            raise ModelUnavailable("not_configured", "no embedding model")
        return []

    @property
    def embedding_model_ids(self) -> frozenset[str]:
        """The id of texts' vectors."""
        return frozenset(filter(None, (self.embedding_model_id,)))

    async def embed_kept(self, texts: Sequence[str], *, deadline_s: float) -> list[StoredVector]:
        """The vector of each text."""
        return [
            StoredVector(str(self.embedding_model_id), each) for each in await self.embed(texts, deadline_s=deadline_s)
        ]

    def views(self, vector: Sequence[float]) -> Mapping[str, Sequence[float]]:
        """The whole vector, under the id of the one model."""
        return {str(self.embedding_model_id): vector}

    async def scales(self, *, deadline_s: float) -> Mapping[str, Scale]:
        """The scale of cosines; ModelUnavailable until it is measured, which continues without its callers."""
        running = self._measured
        if running is None or (running.done() and (running.cancelled() or running.exception())):
            running = self._measured = asyncio.create_task(self._measure(), name="scale of vectors")
        await asyncio.wait({running}, timeout=deadline_s)
        if not running.done():
            raise ModelUnavailable("timeout", "the scale of its vectors is not measured yet")
        if error := running.exception():
            raise ModelUnavailable("server_error", type(error).__name__) from error
        return {str(self.embedding_model_id): running.result()}

    async def _measure(self) -> Scale:
        made = await self.embed(sentences(), deadline_s=MEASURING_S)
        return scale_of(np.asarray(made, dtype=np.float32))

    async def stop_measuring(self) -> None:
        """Cancels a running measurement."""
        if self._measured is not None and not self._measured.done():
            self._measured.cancel()
            await asyncio.gather(self._measured, return_exceptions=True)


class NoChat:
    """What answers no prompt and reranks nothing."""

    chat_model_id: str | None = None
    rerank_model_id: str | None = None

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """Never answers."""
        raise ModelUnavailable("not_configured", f"no chat model for {prompt.name}")

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """Never reranks."""
        raise ModelUnavailable("not_configured", "no rerank model")


class NoModels(NoChat, OneModel):
    """The provider of an installation without models; rules and static vectors do the work."""

    dimension: int | None = None

    async def probe(self) -> Capabilities:
        """Reports that there is nothing."""
        return Capabilities(
            embedding=False, dimension=None, chat=False, missing=("embedding: not_configured", "chat: not_configured")
        )

    async def close(self) -> None:
        """Nothing to close."""
