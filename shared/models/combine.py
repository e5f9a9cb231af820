"""Embeddings from one provider, answers and judgements from another."""

from collections.abc import Mapping, Sequence

from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import Capabilities, ModelProvider, StoredVector
from shared.vectors import Scale


class Combined:
    """Vectors of `embedding`, answers of `chat`; closed together."""

    def __init__(self, embedding: ModelProvider, chat: ModelProvider) -> None:
        self._embedding = embedding
        self._chat = chat

    @property
    def embedding_model_id(self) -> str | None:
        """The embedding side's."""
        return self._embedding.embedding_model_id

    @property
    def embedding_model_ids(self) -> frozenset[str]:
        """The embedding side's."""
        return self._embedding.embedding_model_ids

    @property
    def dimension(self) -> int | None:
        """The embedding side's."""
        return self._embedding.dimension

    @property
    def chat_model_id(self) -> str | None:
        """The chat side's."""
        return self._chat.chat_model_id

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """By the embedding side."""
        return await self._embedding.embed(texts, deadline_s=deadline_s)

    async def embed_kept(self, texts: Sequence[str], *, deadline_s: float) -> list[StoredVector]:
        """By the embedding side."""
        return await self._embedding.embed_kept(texts, deadline_s=deadline_s)

    def views(self, vector: Sequence[float]) -> Mapping[str, Sequence[float]]:
        """By the embedding side."""
        return self._embedding.views(vector)

    async def scales(self, *, deadline_s: float) -> Mapping[str, Scale]:
        """The embedding side's."""
        return await self._embedding.scales(deadline_s=deadline_s)

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """By the chat side."""
        return await self._chat.ask(prompt)

    @property
    def rerank_model_id(self) -> str | None:
        """The chat side's."""
        return self._chat.rerank_model_id

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """By the chat side."""
        return await self._chat.rerank(query, texts, deadline_s=deadline_s)

    async def probe(self) -> Capabilities:
        """Each side speaks for its half."""
        embedding, chat = await self._embedding.probe(), await self._chat.probe()
        missing = [m for m in embedding.missing if m.startswith("embedding")]
        missing += [m for m in chat.missing if not m.startswith("embedding")]
        return Capabilities(embedding.embedding, embedding.dimension, chat.chat, tuple(missing), chat.rerank)

    async def close(self) -> None:
        """Both sides are closed, even if one of them fails to."""
        try:
            await self._embedding.close()
        finally:
            await self._chat.close()
