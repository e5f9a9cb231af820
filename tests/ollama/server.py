"""An Ollama server that does what the test says, over real HTTP on a free port."""

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

from tests.system.serving import serving

Mode = Literal["well", "prose", "broken_json", "wrong_schema", "empty", "think_tags", "http_500", "slow", "cut_off"]
CHAT = "qwen3"
EMBEDDING = "qwen3-embedding"
RERANKER = "qwen3-reranker"
NOT_JSON = "Sure! The user likes tea, and I would remember that."


@dataclass
class ScriptedOllama:
    """What the server answers and what it was asked; the last mode of the script stays."""

    url: str = ""
    answer: str | Callable[[dict[str, Any]], str] = '{"items": []}'
    judge: Callable[[str, str], float] = field(default_factory=lambda: shared_words)
    models: tuple[str, ...] = (CHAT, EMBEDDING, RERANKER)
    context_characters: int = 8000
    counts: tuple[int, int] | None = (400, 60)
    """Tokens that the server says it read and wrote; None: it says nothing, as Ollama does of a cached prompt."""
    slow_s: float = 30.0
    slow_began: asyncio.Event = field(default_factory=asyncio.Event)
    most_at_once: int = 0
    under_way: int = 0
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    _modes: dict[str, deque[Mode]] = field(default_factory=dict[str, deque[Mode]])

    def reset(self) -> None:
        """As new, but for the address."""
        self.__init__(self.url)

    def script(self, *modes: Mode, at: str = "") -> None:
        """The next requests meet these modes, one each; the last one stays. `at` speaks of the requests to one path."""
        self._modes[at] = deque(modes)

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The bodies of all requests to `path`, in order."""
        return [body for at, body in self.requests if at == path]

    def next_mode(self, path: str) -> Mode:
        """The mode of the request at hand."""
        modes = self._modes.get(path) or self._modes.get("") or deque[Mode](["well"])
        return modes.popleft() if len(modes) > 1 else modes[0]


@asynccontextmanager
async def serve_ollama() -> AsyncGenerator[ScriptedOllama]:
    """A running server; gone when the block ends, slow answers included."""
    state = ScriptedOllama()
    async with serving(_app(state)) as state.url:
        yield state


def _app(state: ScriptedOllama) -> Starlette:
    async def handle(request: Request) -> Response:
        raw = await request.body()
        body: dict[str, Any] = json.loads(raw) if raw else {}
        path = request.url.path
        state.requests.append((path, body))
        if path == "/api/version":
            return JSONResponse({"version": "0.12.0"})
        if path == "/api/tags":
            return JSONResponse({"models": [{"model": name, "name": name} for name in state.models]})
        if body.get("model") not in state.models:
            return JSONResponse({"error": f"model '{body.get('model')}' not found"}, 404)
        if path == "/api/show":
            return JSONResponse({"capabilities": ["completion"], "model_info": {}})
        mode = state.next_mode(path)
        if mode == "http_500":
            return JSONResponse({"error": "llama runner process has terminated"}, 500)
        if mode == "slow":
            state.slow_began.set()
            state.under_way += 1
            state.most_at_once = max(state.most_at_once, state.under_way)
            await asyncio.sleep(state.slow_s)
            state.under_way -= 1
        if path == "/api/embed":
            return _embedded(state, body, mode)
        if path == "/api/generate" and body.get("logprobs"):
            return _judged(state, body, mode)
        return _said(state, path, body, mode)

    paths = ("/api/embed", "/api/chat", "/api/generate", "/api/tags", "/api/show", "/api/version")
    return Starlette(routes=[Route(path, handle, methods=["GET", "POST"]) for path in paths])


def _embedded(state: ScriptedOllama, body: dict[str, Any], mode: Mode) -> Response:
    given: str | list[str] = body["input"]
    texts = [given] if isinstance(given, str) else given
    if not body.get("truncate", True) and any(len(text) > state.context_characters for text in texts):
        return JSONResponse({"error": "the input length exceeds the context length"}, 400)
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


def _said(state: ScriptedOllama, path: str, body: dict[str, Any], mode: Mode) -> Response:
    good = state.answer if isinstance(state.answer, str) else state.answer(body)
    text = {
        "prose": NOT_JSON,
        "broken_json": good[:-1] + ", oops",
        "wrong_schema": '{"colour": ["blue"]}',
        "empty": "",
        "think_tags": f'<think>\nMaybe {{"items": 1}}?\n</think>\n```json\n{good}\n```',
        "cut_off": good[: len(good) // 2],
    }.get(mode, good)
    reason = "length" if mode == "cut_off" else "stop"
    said = {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": reason}
    if state.counts:
        said |= {"prompt_eval_count": state.counts[0], "eval_count": state.counts[1]}
    if path == "/api/generate":
        return JSONResponse({**said, "response": text})
    return JSONResponse({**said, "message": {"role": "assistant", "content": text}})


_PAIR = re.compile(r"<Query>: (.*)\n<Document>: (.*)<\|im_end\|>\n<\|im_start\|>assistant\n", re.DOTALL)


def _judged(state: ScriptedOllama, body: dict[str, Any], mode: Mode) -> Response:
    """One token with the probabilities of its alternatives, as a reranker of the Qwen3 family gives it."""
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
    """The share of the query's words and Chinese characters that the text has."""
    asked, told = set(_split(query)), set(_split(text))
    return len(asked & told) / max(len(asked), 1)


def _split(text: str) -> list[str]:
    return "".join(f" {c} " if "\u4e00" <= c <= "\u9fff" else c for c in text.lower()).split()


def vector(text: str, dimensions: int) -> list[float]:
    """A bag of hashed words and Chinese characters: texts that share them are near each other."""
    found = [0.0] * dimensions
    for word in _split(text) or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        found[int.from_bytes(digest[:4], "big") % dimensions] += 1.0 if digest[4] % 2 else -1.0
    return found if any(found) else [1.0, *found[1:]]
