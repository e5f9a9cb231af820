"""A scripted Ollama server over real HTTP on a free port.

Besides the script it has the observed behaviour of version 0.17.4: it loads a model before it answers and aborts the
load when the caller disconnects; it reloads for another `num_ctx`; it loses the schema of models with their own parser;
it truncates silently; it refuses some schemas and crashes on others.
"""

import asyncio
import hashlib
import json
import math
import re
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.ollama import schemas
from tests.system.serving import serving

Mode = Literal[
    "well",
    "prose",
    "broken_json",
    "wrong_schema",
    "empty",
    "think_tags",
    "http_500",
    "slow",
    "cut_off",
    "repeating",
]
"""`repeating`: stopped for repeating one token, then without a reason or counts."""
CHAT = "qwen3"
EMBEDDING = "qwen3-embedding"
RERANKER = "qwen3-reranker"
NOT_JSON = "Sure! The user likes tea, and I would remember that."
CAPABILITIES = {EMBEDDING: ("embedding",)}
"""Every other model completes, uses tools and thinks."""
OWN_CONTEXT = 40_960
"""The context length of a model by default."""


@dataclass
class ScriptedOllama:
    """The scripted modes and the received requests; the last mode stays."""

    url: str = ""
    answer: str | Callable[[dict[str, Any]], str] = '{"items": []}'
    judge: Callable[[str, str], float] = field(default_factory=lambda: shared_words)
    models: tuple[str, ...] = (CHAT, EMBEDDING, RERANKER)
    capabilities: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict(CAPABILITIES))
    parsers: dict[str, str] = field(default_factory=dict[str, str])
    """Parsers built into the server, by model."""
    own_context: int = OWN_CONTEXT
    context_characters: int = 8000
    without_numbers: str = "\ufffc"
    """A text with this marker makes the embedding model return invalid numbers."""
    counts: tuple[int, int] | None = (400, 60)
    """The token counts that the server reports; None: none, as Ollama does for a cached prompt."""
    load_s: float = 0.0
    """The load time of a model."""
    loads: list[tuple[str, int | None]] = field(default_factory=list[tuple[str, int | None]])
    """Every completed load, with the requested context."""
    loads_given_up: int = 0
    in_memory: dict[str, int | None] = field(default_factory=dict[str, int | None])
    killed_by: list[Any] = field(default_factory=list[Any])
    """Schemas that would have crashed a real server."""
    slow_s: float = 30.0
    slow_began: asyncio.Event = field(default_factory=asyncio.Event)
    most_at_once: int = 0
    under_way: int = 0
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """All requests except those that only load a model."""
    _modes: dict[str, deque[Mode]] = field(default_factory=dict[str, deque[Mode]])
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)

    def reset(self) -> None:
        """Resets everything but the address."""
        self.__init__(self.url)

    def script(self, *modes: Mode, at: str = "") -> None:
        """The modes of the next requests, one each; the last one stays. `at` limits them to one path."""
        self._modes[at] = deque(modes)

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The bodies of all requests to `path`, in order."""
        return [body for at, body in self.requests if at == path]

    def next_mode(self, path: str) -> Mode:
        """The mode of the current request."""
        modes = self._modes.get(path) or self._modes.get("") or deque[Mode](["well"])
        return modes.popleft() if len(modes) > 1 else modes[0]

    def can(self, model: str) -> tuple[str, ...]:
        """The capabilities in the response of `show`."""
        return self.capabilities.get(model, ("completion", "tools", "thinking"))

    async def loaded(self, request: Request, body: dict[str, Any]) -> bool:
        """Loads the model with the requested context; False if the caller disconnected first."""
        model, context = body["model"], body.get("options", {}).get("num_ctx")
        async with self._loading:
            if self.in_memory.get(model, 0) == context:
                return True
            ends = asyncio.get_running_loop().time() + self.load_s
            while asyncio.get_running_loop().time() < ends:
                if await request.is_disconnected():
                    self.loads_given_up += 1
                    return False
                await asyncio.sleep(0.005)
            self.in_memory[model] = context
            self.loads.append((model, context))
            return True


@asynccontextmanager
async def serve_ollama() -> AsyncGenerator[ScriptedOllama]:
    """A running server; stopped when the block ends, slow responses aborted."""
    state = ScriptedOllama()
    async with serving(_app(state)) as state.url:
        yield state


def _app(state: ScriptedOllama) -> Starlette:
    async def handle(request: Request) -> Response:
        raw = await request.body()
        body: dict[str, Any] = json.loads(raw) if raw else {}
        path = request.url.path
        if not _only_loads(path, body):
            state.requests.append((path, body))
        if path == "/api/version":
            return JSONResponse({"version": "0.17.4"})
        if path == "/api/tags":
            return JSONResponse({"models": [{"model": name, "name": name} for name in state.models]})
        if path == "/api/ps":
            held = [{"model": name, "context_length": size or 4096} for name, size in state.in_memory.items()]
            return JSONResponse({"models": held})
        if refused := _refusal(state, path, body):
            return refused
        if path == "/api/show":
            return JSONResponse(_describe_model(state, body["model"]))
        if not await state.loaded(request, body):
            return JSONResponse({"error": "context canceled"}, 499)
        if body.get("keep_alive") == 0:
            state.in_memory.pop(body["model"])
        if _only_loads(path, body):
            said = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "load"}
            return JSONResponse({"model": body["model"], "embeddings": []} if path == "/api/embed" else said)
        mode = state.next_mode(path)
        if mode == "http_500":
            state.in_memory.pop(body["model"], None)
            return JSONResponse({"error": "llama runner process has terminated"}, 500)
        if mode == "slow":
            state.slow_began.set()
            state.under_way += 1
            state.most_at_once = max(state.most_at_once, state.under_way)
            await asyncio.sleep(state.slow_s)
            state.under_way -= 1
        if path == "/api/embed":
            return _answer_embed(state, body, mode)
        if path == "/api/generate" and body.get("logprobs"):
            return _answer_rerank(state, body, mode)
        return _answer_refusal(state, path, body, mode)

    paths = ("/api/embed", "/api/chat", "/api/generate", "/api/tags", "/api/show", "/api/ps", "/api/version")
    return Starlette(routes=[Route(path, handle, methods=["GET", "POST"]) for path in paths])


def _only_loads(path: str, body: dict[str, Any]) -> bool:
    """An empty prompt loads a model and is answered once it is in memory."""
    empty = {"/api/generate": body.get("prompt"), "/api/chat": body.get("messages"), "/api/embed": body.get("input")}
    return path in empty and not empty[path]


def _refusal(state: ScriptedOllama, path: str, body: dict[str, Any]) -> Response | None:
    """The response to a request that the server refuses."""
    model = body.get("model")
    if not model or not str(model).strip():
        return JSONResponse({"error": "model is required"}, 400)
    if model not in state.models:
        return JSONResponse({"error": f"model '{model}' not found"}, 404)
    can = state.can(model)
    if path == "/api/embed" and body.get("input") and "embedding" not in can:
        return JSONResponse({"error": "this model does not support embeddings"}, 501)
    if path == "/api/embed" and "" in (given if isinstance(given := body["input"], list) else [given]):
        return JSONResponse({"error": "failed to process input: empty"}, 500)
    if path in ("/api/chat", "/api/generate") and "completion" not in can:
        return JSONResponse({"error": f'"{model}" does not support {path.rpartition("/")[2]}'}, 400)
    if body.get("think") and "thinking" not in can:
        return JSONResponse({"error": f'"{model}" does not support thinking'}, 400)
    schema = body.get("format")
    if schema is not None and schemas.kills(schema):
        state.killed_by.append(schema)
        state.in_memory.pop(model, None)
        return JSONResponse({"error": "model runner has unexpectedly stopped"}, 500)
    if schema is not None and schemas.problems(schema):
        return JSONResponse({"error": "invalid JSON schema in format"}, 500)
    return None


def _describe_model(state: ScriptedOllama, model: str) -> dict[str, Any]:
    parser = state.parsers.get(model)
    lines = ["FROM /models/blobs/sha256-0", *([f"RENDERER {parser}", f"PARSER {parser}"] if parser else ())]
    info = {"general.architecture": "qwen3", "qwen3.context_length": state.own_context, "qwen3.embedding_length": 1024}
    return {"capabilities": list(state.can(model)), "modelfile": "\n".join(lines), "model_info": info}


def _answer_embed(state: ScriptedOllama, body: dict[str, Any], mode: Mode) -> Response:
    given: str | list[str] = body["input"]
    texts = [given] if isinstance(given, str) else given
    if not body.get("truncate", True) and any(len(text) > state.context_characters for text in texts):
        return JSONResponse({"error": "the input length exceeds the context length"}, 400)
    if any(state.without_numbers in text for text in texts):
        return JSONResponse({"error": "failed to encode response: json: unsupported value: NaN"}, 500)
    if mode in ("prose", "broken_json"):
        return Response(NOT_JSON if mode == "prose" else '{"embeddings": [[0.1,', media_type="application/json")
    vectors: Any = [vector(text, body.get("dimensions") or 1024) for text in texts]
    if mode == "wrong_schema":
        vectors = "none"
    elif mode == "empty":
        vectors = []
    elif mode == "cut_off":
        vectors = [each[:-1] for each in vectors]
    return JSONResponse({"model": body["model"], "embeddings": vectors})


def _answer_refusal(state: ScriptedOllama, path: str, body: dict[str, Any], mode: Mode) -> Response:
    good = state.answer if isinstance(state.answer, str) else state.answer(body)
    if _schema_is_lost(state, path, body):
        good = NOT_JSON
    text = {
        "prose": NOT_JSON,
        "broken_json": good[:-1] + ", oops",
        "wrong_schema": '{"colour": ["blue"]}',
        "empty": "",
        "think_tags": f'<think>\nMaybe {{"items": 1}}?\n</think>\n```json\n{good}\n```',
        "cut_off": good[: len(good) // 2],
        "repeating": good[: len(good) // 2],
    }.get(mode, good)
    said: dict[str, Any] = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": mode != "repeating"}
    if mode != "repeating":
        said["done_reason"] = "length" if mode == "cut_off" else "stop"
        if state.counts:
            window = min(body.get("options", {}).get("num_ctx", 4096), state.own_context)
            said |= {"prompt_eval_count": min(state.counts[0], window), "eval_count": state.counts[1]}
    if path == "/api/generate":
        return JSONResponse({**said, "response": text})
    return JSONResponse({**said, "message": {"role": "assistant", "content": text}})


def _schema_is_lost(state: ScriptedOllama, path: str, body: dict[str, Any]) -> bool:
    """With a parser of the server, chat applies the schema after the thoughts, and without thoughts never."""
    if path != "/api/chat" or body.get("format") is None or "thinking" not in state.can(body["model"]):
        return False
    return body.get("think") is False and state.parsers.get(body["model"], "harmony") != "harmony"


_PAIR = re.compile(r"<Query>: (.*)\n<Document>: (.*)<\|im_end\|>\n<\|im_start\|>assistant\n", re.DOTALL)


def _answer_rerank(state: ScriptedOllama, body: dict[str, Any], mode: Mode) -> Response:
    """One token with the probabilities of its alternatives, like a reranker of the Qwen3 family."""
    if mode == "cut_off":
        return Response('{"model": "qwen3-reranker", "response": "ye', media_type="application/json")
    if mode == "broken_json":
        return Response('{"response": "yes", oops}', media_type="application/json")
    said = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "length"}
    if mode == "wrong_schema":
        return JSONResponse({**said, "response": "yes", "logprobs": "none"})
    if mode == "empty":
        return JSONResponse({**said, "response": ""})
    if mode == "prose":
        likely = [{"token": "Sure", "logprob": -0.1}, {"token": "The", "logprob": -2.5}]
    else:
        found = _PAIR.search(body["prompt"])
        assert found, "not the template of the reranker"
        yes = min(max(state.judge(found[1], found[2]), 1e-6), 1 - 1e-6)
        words = {"yes": 0.9 * yes, "no": 0.9 * (1 - yes), "Yes": 0.05 * yes, " no": 0.05 * (1 - yes), "maybe": 0.05}
        likely = [
            {"token": token, "logprob": math.log(share), "bytes": list(token.encode())}
            for token, share in words.items()
        ]
        likely.sort(key=lambda each: -each["logprob"])
    first = {**likely[0], "top_logprobs": likely[: body["top_logprobs"]]}
    return JSONResponse({**said, "response": first["token"], "logprobs": [first]})


def shared_words(query: str, text: str) -> float:
    """The share of the query's words and Chinese characters in the text."""
    asked, told = set(_split(query)), set(_split(text))
    return len(asked & told) / max(len(asked), 1)


def _split(text: str) -> list[str]:
    return "".join(f" {c} " if "\u4e00" <= c <= "\u9fff" else c for c in text.lower()).split()


def vector(text: str, dimensions: int) -> list[float]:
    """A bag of hashed words and Chinese characters: texts that share them have similar vectors."""
    found = [0.0] * dimensions
    for word in _split(text) or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        found[int.from_bytes(digest[:4], "big") % dimensions] += 1.0 if digest[4] % 2 else -1.0
    return found if any(found) else [1.0, *found[1:]]
