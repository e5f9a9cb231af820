"""An Ollama server that does what the test says, over real HTTP on a free port."""

import asyncio
import hashlib
import json
import socket
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Mode = Literal["well", "prose", "broken_json", "wrong_schema", "empty", "think_tags", "http_500", "slow", "cut_off"]
CHAT = "qwen3"
EMBEDDING = "qwen3-embedding"
NOT_JSON = "Sure! The user likes tea, and I would remember that."


@dataclass
class ScriptedOllama:
    """What the server answers and what it was asked; the last mode of the script stays."""

    url: str = ""
    answer: str | Callable[[dict[str, Any]], str] = '{"items": []}'
    models: tuple[str, ...] = (CHAT, EMBEDDING)
    context_characters: int = 8000
    slow_s: float = 30.0
    slow_began: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    _modes: deque[Mode] = field(default_factory=lambda: deque(["well"]))

    def reset(self) -> None:
        """As new, but for the address."""
        self.__init__(self.url)

    def script(self, *modes: Mode) -> None:
        """The next requests meet these modes, one each; the last one stays."""
        self._modes = deque(modes)

    def asked(self, path: str) -> list[dict[str, Any]]:
        """The bodies of all requests to `path`, in order."""
        return [body for at, body in self.requests if at == path]

    def next_mode(self) -> Mode:
        """The mode of the request at hand."""
        return self._modes.popleft() if len(self._modes) > 1 else self._modes[0]


@asynccontextmanager
async def serve_ollama() -> AsyncGenerator[ScriptedOllama]:
    """A running server; gone when the block ends, slow answers included."""
    state = ScriptedOllama()
    listener = socket.create_server(("127.0.0.1", 0))
    state.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(_app(state), log_level="error", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    running = asyncio.create_task(server._serve(sockets=[listener]))  # pyright: ignore[reportPrivateUsage] # `serve` would take over the signals
    try:
        while not server.started:  # noqa: ASYNC110 # uvicorn offers no event
            await asyncio.sleep(0.005)
        yield state
    finally:
        server.should_exit = True
        server.force_exit = True
        await running
        listener.close()


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
        mode = state.next_mode()
        if mode == "http_500":
            return JSONResponse({"error": "llama runner process has terminated"}, 500)
        if mode == "slow":
            state.slow_began.set()
            await asyncio.sleep(state.slow_s)
        return _embedded(state, body, mode) if path == "/api/embed" else _said(state, path, body, mode)

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
    if path == "/api/generate":
        return JSONResponse({**said, "response": text})
    return JSONResponse({**said, "message": {"role": "assistant", "content": text}})


def vector(text: str, dimensions: int) -> list[float]:
    """A bag of hashed words and Chinese characters: texts that share them are near each other."""
    found = [0.0] * dimensions
    words = "".join(f" {c} " if "\u4e00" <= c <= "\u9fff" else c for c in text.lower()).split()
    for word in words or [text]:
        digest = hashlib.sha256(word.encode()).digest()
        found[int.from_bytes(digest[:4], "big") % dimensions] += 1.0 if digest[4] % 2 else -1.0
    return found if any(found) else [1.0, *found[1:]]
