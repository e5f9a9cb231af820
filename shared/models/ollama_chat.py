"""Calls to chat models of an Ollama server, such that the schema holds and no truncation goes unnoticed."""

from dataclasses import dataclass

from ollama import AsyncClient

from shared.language.tokens import count
from shared.models.answers import UnreadableError, parse
from shared.models.cost import Meter
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.loads import KEEP_ALIVE, Loads, Size
from shared.models.ollama_errors import Traits, traits_of, translate_errors
from shared.models.prompt import A, Answer, Prompt

CONTEXT_TOKENS = (8192, 16384, 32768)
"""Requested explicitly: Ollama's default is smaller and truncates silently. Few sizes, because each change reloads."""
REPAIR = "That was not usable: {problem}. Answer again, with nothing but one JSON value that fits the schema."

Message = dict[str, str]


@dataclass(frozen=True, slots=True)
class _ChatAnswer:
    """A raw answer; counts are None if the server gives none."""

    text: str
    finished: bool
    read: int | None
    written: int | None


CHATS = "completion"
"""The server's name for the capability to complete a text, which chat needs."""


async def look(client: AsyncClient, model: str, ability: str) -> Traits:
    """The server's description of the model; ModelUnavailable if it lacks the capability."""
    traits = traits_of(await translate_errors(client.show(model)))
    if not traits.can(ability):
        has = ", ".join(traits.abilities or ()) or "nothing"
        raise ModelUnavailable("bad_request", f"{model} does not support {ability}, it supports {has}")
    return traits


class Chat:
    """The chat models of one server; the description of a model is read again with each load."""

    def __init__(self, client: AsyncClient, loads: Loads) -> None:
        self._client = client
        self._loads = loads
        self._traits: dict[str, Traits] = {}

    async def ask(self, model: str, prompt: Prompt[A], meter: Meter) -> Answer[A]:
        """A valid answer; after an invalid one, the model is told the error and asked once more."""
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        budget = prompt.max_tokens
        first = await self._say(model, prompt, messages, budget, meter)
        try:
            return _answer(model, prompt, first, repaired=False)
        except UnreadableError as error:
            if prompt.once:
                raise MalformedAnswer(first.text, str(error)) from error
            repair = [
                {"role": "assistant", "content": first.text},
                {"role": "user", "content": REPAIR.format(problem=error)},
            ]
        more = budget if first.finished else 2 * budget
        read = (first.read or 0) + (first.written or 0) + count(repair[-1]["content"])
        again = await self._say(model, prompt, messages + repair, more, meter, at_least=read)
        try:
            return _answer(model, prompt, again, repaired=True)
        except UnreadableError as error:
            raise MalformedAnswer(again.text, str(error)) from error

    async def _say(
        self,
        model: str,
        prompt: Prompt[A],
        messages: list[Message],
        max_tokens: int,
        meter: Meter,
        *,
        at_least: int = 0,
    ) -> _ChatAnswer:
        """The model's answer to all of the messages; if the server truncated them, more context is requested.

        `at_least` is the length of the messages by the server's own count.
        """
        window = 0
        for size in _contexts(max(_tokens(messages), at_least) + max_tokens):
            answer = await self.send_prompt(Size(model, size), prompt, messages, max_tokens, meter)
            own = self._traits[model].context or CONTEXT_TOKENS[-1]
            window = min(size, own)
            if (answer.read or 0) + (answer.written or 0) < window:
                return answer
            if own <= size:
                break
        raise ModelUnavailable("bad_request", f"prompt and answer need more than the {window} tokens of {model}")

    async def send_prompt(
        self, size: Size, prompt: Prompt[A], messages: list[Message], max_tokens: int, meter: Meter
    ) -> _ChatAnswer:
        model, estimate = size.model, _tokens(messages)
        options = {"temperature": 0, "num_predict": max_tokens, "num_ctx": size.context or CONTEXT_TOKENS[0]}

        async def load() -> None:
            await self._look(model)
            window = {"num_ctx": options["num_ctx"]}
            await translate_errors(self._client.generate(model, "", options=window, keep_alive=KEEP_ALIVE))

        async def call() -> _ChatAnswer:
            traits = self._traits.get(model) or await self._look(model)
            meter.note_sent(estimate)
            try:
                answer = await (self._generate if traits.loses_schema else self._chat)(model, prompt, messages, options)
            except ModelUnavailable:
                meter.note_failed()
                raise
            # the server does not count a prompt in its cache, but the call counts
            meter.note_answered(answer.read or estimate, answer.written or count(answer.text))
            return answer

        return await self._loads.run(size, load, call)

    async def _look(self, model: str) -> Traits:
        traits = self._traits[model] = await look(self._client, model, CHATS)
        return traits

    async def _chat(
        self, model: str, prompt: Prompt[A], messages: list[Message], options: dict[str, int]
    ) -> _ChatAnswer:
        response = await translate_errors(
            self._client.chat(  # pyright: ignore[reportUnknownMemberType] # its `tools` takes an untyped callable
                model,
                messages,
                format=prompt.answer.model_json_schema(),
                think=False,
                options=options,
                keep_alive=KEEP_ALIVE,
            )
        )
        text = response.message.content or ""
        finished = is_finished(response.done, response.done_reason)
        return _ChatAnswer(text, finished, response.prompt_eval_count, response.eval_count)

    async def _generate(
        self, model: str, prompt: Prompt[A], messages: list[Message], options: dict[str, int]
    ) -> _ChatAnswer:
        """The same messages as one text: the model's previous answer is omitted, its error is included."""
        response = await translate_errors(
            self._client.generate(
                model,
                "\n\n".join(message["content"] for message in messages if message["role"] == "user"),
                system=prompt.system,
                format=prompt.answer.model_json_schema(),
                think=False,
                options=options,
                keep_alive=KEEP_ALIVE,
            )
        )
        finished = is_finished(response.done, response.done_reason)
        return _ChatAnswer(response.response or "", finished, response.prompt_eval_count, response.eval_count)


def _tokens(messages: list[Message]) -> int:
    return sum(count(message["content"]) for message in messages)


def _answer(model: str, prompt: Prompt[A], said: _ChatAnswer, *, repaired: bool) -> Answer[A]:
    if not said.finished:
        raise UnreadableError("the answer was cut off before its end; be shorter")
    return Answer(parse(said.text, prompt.answer), said.text, model, prompt.version, repaired)


def _contexts(needed: int) -> tuple[int, ...]:
    """The sizes to request, starting with the smallest that should suffice."""
    return tuple(size for size in CONTEXT_TOKENS if needed <= size) or CONTEXT_TOKENS[-1:]


def is_finished(done: bool | None, reason: str | None) -> bool:
    """Whether the model finished: a server that stops it for repetition gives neither `done` nor a reason."""
    return done is not False and reason != "length"
