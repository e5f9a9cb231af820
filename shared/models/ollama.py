"""Models of an Ollama server, through the `ollama` package."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import httpx
from ollama import AsyncClient

from shared.models import judge
from shared.models.cost import Meter
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.guard import RETRY_DELAYS_S, Breaker, Guard
from shared.models.loads import KEEP_ALIVE, Loads, Size
from shared.models.none import OneModel
from shared.models.ollama_chat import CHATS, CONTEXT_TOKENS, Chat, look
from shared.models.ollama_errors import same_model, too_long, translate_errors
from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import Capabilities
from shared.tls import trust_store

CONNECT_S = 5.0
LONGEST_CALL_S = 300.0
PROBE_S = 60.0
EMBEDS = "embedding"
SHORTEST_TEXT = 64
JUDGED_AT_ONCE = 4
"""The number of concurrently reranked texts of one process; a server processes few at a time."""


class OllamaModels(OneModel):
    """Embeds, answers and reranks with one server, with a circuit breaker for each of the three."""

    def __init__(
        self,
        url: str,
        *,
        chat_model: str | None,
        embedding_model: str | None,
        dimension: int,
        clock: Callable[[], float],
        rerank_model: str | None = None,
        retry_delays_s: Sequence[float] = RETRY_DELAYS_S,
    ) -> None:
        self._client = AsyncClient(url, timeout=httpx.Timeout(LONGEST_CALL_S, connect=CONNECT_S), verify=trust_store())
        self._loads = Loads(clock)
        self._chat = Chat(self._client, self._loads)
        self.chat_model_id = chat_model
        self.rerank_model_id = rerank_model
        self._embedding_model = embedding_model
        self.embedding_model_id = f"{embedding_model}@{dimension}" if embedding_model else None
        self.dimension = dimension if embedding_model else None
        # a model that also chats reranks with the context of chat: another length would reload it
        shared = same_model(chat_model, rerank_model)
        self._judge_context = CONTEXT_TOKENS[0] if shared else judge.CONTEXT_TOKENS
        self._judge_model = chat_model if shared else rerank_model
        self.embedding_guard = self._guard(clock, embedding_model, retry_delays_s)
        self.chat_guard = self._guard(clock, chat_model, retry_delays_s)
        self.rerank_guard = self._guard(clock, self._judge_model)
        self._judging = asyncio.Semaphore(JUDGED_AT_ONCE)
        self._clock = clock

    def _guard(
        self, clock: Callable[[], float], model: str | None, delays_s: Sequence[float] = RETRY_DELAYS_S
    ) -> Guard:
        return Guard(Breaker(clock), delays_s, lambda: self._loads.is_loading(model))

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text; a text longer than the model's context is represented by its beginning."""
        model = self._embedding_model
        if not texts:
            return []
        if model is None:
            raise ModelUnavailable("not_configured", "no embedding model")
        if blank := [str(place) for place, text in enumerate(texts) if not text.strip()]:
            raise ModelUnavailable("bad_request", f"nothing to embed in text {', '.join(blank[:8])}")
        return await self.embedding_guard.run(lambda: self._embed(model, list(texts)), deadline_s=deadline_s)

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """A valid answer; after an invalid one, the model is told the error and asked once more."""
        model = self.chat_model_id
        if model is None:
            raise ModelUnavailable("not_configured", f"no chat model for {prompt.name}")
        meter = Meter(self._clock)
        try:
            answer = await self.chat_guard.run(
                lambda: self._chat.ask(model, prompt, meter), deadline_s=prompt.deadline_s, once=prompt.once
            )
        except (ModelUnavailable, MalformedAnswer) as error:
            error.spent = meter.total()
            raise
        return replace(answer, spent=meter.total())

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """One score per text; if one fails, the whole list fails, because half of the scores are no order."""
        model = self._judge_model
        if model is None:
            raise ModelUnavailable("not_configured", "no rerank model")
        if not texts:
            return []
        return await self.rerank_guard.run(
            lambda: self._judge_all(model, query, texts), deadline_s=deadline_s, once=True
        )

    async def probe(self) -> Capabilities:
        """The models that the server has; this loads the embedding model and the reranker."""
        missing: list[str] = []
        embedding = await _works("embedding", self._see_embedding, missing)
        chat = await _works("chat", self._see_chat, missing)
        rerank = self.rerank_model_id is not None and await _works("rerank", self._see_reranker, missing)
        return Capabilities(embedding, self.dimension if embedding else None, chat, tuple(missing), rerank)

    async def close(self) -> None:
        """Cancels loads and closes the connections."""
        await self.stop_measuring()
        await self._loads.close()
        await self._client.close()

    async def _see_embedding(self) -> None:
        model, dimension = self._embedding_model, self.dimension
        if model is None or dimension is None:
            raise ModelUnavailable("not_configured", "no embedding model")

        async def see() -> None:
            width = (await look(self._client, model, EMBEDS)).width
            if width is not None and width < dimension:
                raise ModelUnavailable("bad_request", f"{model} returns {width} dimensions, not {dimension}")
            await self._loads.run(Size(model), partial(self._load_embedding, model), _nothing)

        await self.embedding_guard.run(see, deadline_s=PROBE_S)

    async def _see_chat(self) -> None:
        model = self.chat_model_id
        if model is None:
            raise ModelUnavailable("not_configured", "no chat model")
        await self.chat_guard.run(lambda: look(self._client, model, CHATS), deadline_s=PROBE_S)

    async def _see_reranker(self) -> None:
        model = self._judge_model
        if model is None:
            raise ModelUnavailable("not_configured", "no rerank model")

        async def see() -> None:
            await look(self._client, model, CHATS)
            await self._loads.run(Size(model, self._judge_context), partial(self._load_judge, model), _nothing)

        await self.rerank_guard.run(see, deadline_s=PROBE_S)

    async def _load_embedding(self, model: str) -> None:
        await translate_errors(self._client.embed(model, [], keep_alive=KEEP_ALIVE))

    async def _load_judge(self, model: str) -> None:
        options = {"num_ctx": self._judge_context}
        await translate_errors(self._client.generate(model, "", options=options, keep_alive=KEEP_ALIVE))

    async def _embed(self, model: str, texts: list[str]) -> list[list[float]]:
        load = partial(self._load_embedding, model)
        return await self._loads.run(Size(model), load, lambda: self.embed_texts(model, texts))

    async def embed_texts(self, model: str, texts: list[str]) -> list[list[float]]:
        try:
            request = self._client.embed(model, texts, truncate=False, dimensions=self.dimension, keep_alive=KEEP_ALIVE)
            vectors = (await translate_errors(request)).embeddings
        except ModelUnavailable as error:
            if not too_long(error):
                raise
            return await self._embed_shortened(model, texts, error)
        if len(vectors) != len(texts):
            raise MalformedAnswer("", f"{len(vectors)} vectors for {len(texts)} texts")
        return [self._unit(vector) for vector in vectors]

    async def _embed_shortened(self, model: str, texts: list[str], error: ModelUnavailable) -> list[list[float]]:
        if len(texts) > 1:
            return [(await self.embed_texts(model, [text]))[0] for text in texts]
        if len(texts[0]) < 2 * SHORTEST_TEXT:
            raise error
        return await self.embed_texts(model, [texts[0][: len(texts[0]) // 2]])

    def _unit(self, vector: Sequence[float]) -> list[float]:
        length = math.sqrt(sum(x * x for x in vector))
        if len(vector) != self.dimension or not math.isfinite(length) or length == 0:
            raise MalformedAnswer("", f"a vector of {len(vector)} numbers and length {length}, not {self.dimension}")
        return [x / length for x in vector]

    async def _judge_all(self, model: str, query: str, texts: Sequence[str]) -> list[float]:
        load = partial(self._load_judge, model)
        size = Size(model, self._judge_context)
        return await self._loads.run(size, load, lambda: self._judge_each(model, query, texts))

    async def _judge_each(self, model: str, query: str, texts: Sequence[str]) -> list[float]:
        calls = [asyncio.create_task(self._judge(model, query, text)) for text in texts]
        try:
            return list(await asyncio.gather(*calls))
        finally:
            for each in calls:
                each.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    async def _judge(self, model: str, query: str, text: str) -> float:
        async with self._judging:
            answer = await translate_errors(
                self._client.generate(
                    model,
                    judge.question(query, text),
                    raw=True,
                    logprobs=True,
                    top_logprobs=judge.ALTERNATIVES,
                    options={"temperature": 0, "num_predict": 1, "num_ctx": self._judge_context},
                    keep_alive=KEEP_ALIVE,
                )
            )
        if not answer.logprobs:
            raise MalformedAnswer(answer.response or "", "no probabilities of tokens: Ollama before 0.12.11?")
        first = answer.logprobs[0]
        said = {first.token: first.logprob} | {each.token: each.logprob for each in first.top_logprobs or ()}
        try:
            return judge.score(said)
        except ValueError as error:
            raise MalformedAnswer(answer.response or "", str(error)) from error


async def _nothing() -> None:
    """For callers that only want the model loaded."""


async def _works(what: str, call: Callable[[], Awaitable[object]], missing: list[str]) -> bool:
    try:
        await call()
    except ModelUnavailable as error:
        missing.append(f"{what}: {error.reason}{f' ({error.problem})' if error.reason == 'bad_request' else ''}")
        return False
    except MalformedAnswer as error:
        missing.append(f"{what}: {error.problem}")
        return False
    return True
