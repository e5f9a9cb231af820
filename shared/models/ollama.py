"""Models of an Ollama server, through the `ollama` package."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import httpx
from ollama import AsyncClient, ChatResponse

from shared.models import judge
from shared.models.answers import UnreadableError, parse
from shared.models.breaker import Breaker
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.guard import RETRY_DELAYS_S, Guard
from shared.models.ollama_errors import sent, too_long
from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import Capabilities
from shared.spent import Meter
from shared.text.tokens import count
from shared.tls import trust_store

KEEP_ALIVE = "30m"
CONNECT_S = 5.0
LONGEST_CALL_S = 300.0
PROBE_S = 60.0
SHORTEST_TEXT = 64
JUDGED_AT_ONCE = 4
"""Texts of all requests that one process has judged side by side; a server works on few at a time anyway."""
CONTEXT_TOKENS = (8192, 16384, 32768)
"""Asked for by name: Ollama's default is smaller and drops the rest in silence. Few sizes: each change reloads."""
REPAIR = "That was not usable: {problem}. Answer again, with nothing but one JSON value that fits the schema."


class OllamaModels:
    """Embeds, answers and judges through one server, with a circuit breaker for each of the three."""

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
        self.chat_model_id = chat_model
        self.rerank_model_id = rerank_model
        self._embedding_model = embedding_model
        self.embedding_model_id = f"{embedding_model}@{dimension}" if embedding_model else None
        self.dimension = dimension if embedding_model else None
        self.embedding_guard = Guard(Breaker(clock), retry_delays_s)
        self.chat_guard = Guard(Breaker(clock), retry_delays_s)
        self.rerank_guard = Guard(Breaker(clock))
        self._judging = asyncio.Semaphore(JUDGED_AT_ONCE)
        self._clock = clock

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text; a text longer than the model's context is represented by its beginning."""
        model = self._embedding_model
        if not texts:
            return []
        if model is None:
            raise ModelUnavailable("not_configured", "no embedding model")
        return await self.embedding_guard.run(lambda: self._embed(model, list(texts)), deadline_s=deadline_s)

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """An answer that fits; after one answer that does not, the model is told what is wrong and asked once more."""
        model = self.chat_model_id
        if model is None:
            raise ModelUnavailable("not_configured", f"no chat model for {prompt.name}")
        meter = Meter(self._clock)
        try:
            answer = await self.chat_guard.run(
                lambda: self._ask(model, prompt, meter), deadline_s=prompt.deadline_s, once=prompt.once
            )
        except (ModelUnavailable, MalformedAnswer) as error:
            error.spent = meter.total()
            raise
        return replace(answer, spent=meter.total())

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """One score a text; if one cannot be judged, none is: scores of half a list do not make an order."""
        model = self.rerank_model_id
        if model is None:
            raise ModelUnavailable("not_configured", "no rerank model")
        return await self.rerank_guard.run(
            lambda: self._judge_all(model, query, texts), deadline_s=deadline_s, once=True
        )

    async def probe(self) -> Capabilities:
        """What works now; a model that was not loaded is loaded by this."""
        missing: list[str] = []
        embedding = await self._works("embedding", lambda: self.embed(["ready?"], deadline_s=PROBE_S), missing)
        chat = await self._works("chat", self._chat_model_exists, missing)
        return Capabilities(embedding, self.dimension if embedding else None, chat, tuple(missing))

    async def close(self) -> None:
        """The connections are closed."""
        await self._client.close()

    async def _works(self, what: str, call: Callable[[], Awaitable[object]], missing: list[str]) -> bool:
        try:
            await call()
        except ModelUnavailable as error:
            missing.append(f"{what}: {error.reason}")
            return False
        except MalformedAnswer as error:
            missing.append(f"{what}: {error.problem}")
            return False
        return True

    async def _chat_model_exists(self) -> None:
        model = self.chat_model_id
        if model is None:
            raise ModelUnavailable("not_configured", "no chat model")
        await self.chat_guard.run(lambda: sent(self._client.show(model)), deadline_s=PROBE_S)

    async def _embed(self, model: str, texts: list[str]) -> list[list[float]]:
        try:
            request = self._client.embed(model, texts, truncate=False, dimensions=self.dimension, keep_alive=KEEP_ALIVE)
            found = (await sent(request)).embeddings
        except ModelUnavailable as error:
            if not too_long(error):
                raise
            return await self._embed_shortened(model, texts, error)
        if len(found) != len(texts):
            raise MalformedAnswer("", f"{len(found)} vectors for {len(texts)} texts")
        return [self._unit(vector) for vector in found]

    async def _embed_shortened(self, model: str, texts: list[str], error: ModelUnavailable) -> list[list[float]]:
        if len(texts) > 1:
            return [(await self._embed(model, [text]))[0] for text in texts]
        if len(texts[0]) < 2 * SHORTEST_TEXT:
            raise error
        return await self._embed(model, [texts[0][: len(texts[0]) // 2]])

    def _unit(self, vector: Sequence[float]) -> list[float]:
        length = math.sqrt(sum(x * x for x in vector))
        if len(vector) != self.dimension or not math.isfinite(length) or length == 0:
            raise MalformedAnswer("", f"a vector of {len(vector)} numbers and length {length}, not {self.dimension}")
        return [x / length for x in vector]

    async def _ask(self, model: str, prompt: Prompt[A], meter: Meter) -> Answer[A]:
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        budget = prompt.max_tokens
        raw = await self._chat(model, prompt, messages, budget, meter)
        try:
            return _answer(prompt, model, raw, repaired=False)
        except UnreadableError as error:
            if prompt.once:
                raise MalformedAnswer(_text(raw), str(error)) from error
            repair = [
                {"role": "assistant", "content": _text(raw)},
                {"role": "user", "content": REPAIR.format(problem=error)},
            ]
        again = await self._chat(model, prompt, messages + repair, 2 * budget if _cut_off(raw) else budget, meter)
        try:
            return _answer(prompt, model, again, repaired=True)
        except UnreadableError as error:
            raise MalformedAnswer(_text(again), str(error)) from error

    async def _judge_all(self, model: str, query: str, texts: Sequence[str]) -> list[float]:
        calls = [asyncio.create_task(self._judge(model, query, text)) for text in texts]
        try:
            return list(await asyncio.gather(*calls))
        finally:
            for each in calls:
                each.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    async def _judge(self, model: str, query: str, text: str) -> float:
        async with self._judging:
            answer = await sent(
                self._client.generate(
                    model,
                    judge.question(query, text),
                    raw=True,
                    logprobs=True,
                    top_logprobs=judge.ALTERNATIVES,
                    options={"temperature": 0, "num_predict": 1, "num_ctx": judge.CONTEXT_TOKENS},
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

    async def _chat(
        self, model: str, prompt: Prompt[A], messages: list[dict[str, str]], max_tokens: int, meter: Meter
    ) -> ChatResponse:
        estimate = sum(count(message["content"]) for message in messages)
        meter.sent(estimate)
        try:
            response = await sent(
                self._client.chat(  # pyright: ignore[reportUnknownMemberType] # its `tools` takes an untyped callable
                    model,
                    messages,
                    format=prompt.answer.model_json_schema(),
                    think=False,
                    options={"temperature": 0, "num_predict": max_tokens, "num_ctx": _context(estimate + max_tokens)},
                    keep_alive=KEEP_ALIVE,
                )
            )
        except ModelUnavailable:
            meter.failed()
            raise
        # a prompt that the server still had in its cache is not counted by it, but it was asked all the same
        meter.answered(response.prompt_eval_count or estimate, response.eval_count or count(_text(response)))
        return response


def _answer(prompt: Prompt[A], model: str, response: ChatResponse, *, repaired: bool) -> Answer[A]:
    if _cut_off(response):
        raise UnreadableError("the answer was cut off before its end; be shorter")
    raw = _text(response)
    return Answer(parse(raw, prompt.answer), raw, model, prompt.name, prompt.version, repaired)


def _context(needed: int) -> int:
    return next((size for size in CONTEXT_TOKENS if needed <= size), CONTEXT_TOKENS[-1])


def _cut_off(response: ChatResponse) -> bool:
    return response.done_reason == "length"


def _text(response: ChatResponse) -> str:
    return response.message.content or ""
