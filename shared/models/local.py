"""A sentence encoder in a folder: `model*.onnx`, `tokenizer.json`, `config.json`. Only here is onnxruntime named."""

import asyncio
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import onnxruntime as ort  # pyright: ignore[reportMissingTypeStubs] # the package has none
from numpy.typing import NDArray
from tokenizers import Tokenizer

from shared.models.errors import ModelUnavailable
from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import Capabilities

MAX_TOKENS = 256
PROBE_S = 30.0


class _Named(Protocol):
    name: str


class _Session(Protocol):
    """The part of an onnxruntime session that is used here; the package itself is untyped."""

    def get_inputs(self) -> Sequence[_Named]: ...

    def run(self, output_names: None, input_feed: Mapping[str, NDArray[np.int64]]) -> Sequence[NDArray[np.float32]]: ...


class LocalEncoder:
    """Embeds one text at a time in one thread of its own, so that a vector never depends on its neighbours."""

    chat_model_id: str | None = None
    rerank_model_id: str | None = None

    def __init__(self, folder: Path) -> None:
        model = _model_file(folder)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)  # pyright: ignore[reportUnknownMemberType] # untyped **kwargs
        self._session = _session(model)
        self._inputs = frozenset(each.name for each in self._session.get_inputs())
        self._first_token = _pools_first_token(folder)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="encoder")
        self.embedding_model_id = f"{folder.resolve().name}@{_digest(model)}"
        self.dimension = int(json.loads((folder / "config.json").read_text(encoding="utf-8"))["hidden_size"])

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text; between two texts of a long list, others get their turn."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(deadline_s):
                return [await loop.run_in_executor(self._executor, self._encode, text) for text in texts]
        except TimeoutError as error:
            raise ModelUnavailable("timeout", f"{deadline_s:g} s") from error
        except RuntimeError as error:
            raise ModelUnavailable("server_error", type(error).__name__) from error

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """An encoder does not answer."""
        raise ModelUnavailable("not_configured", f"no chat model for {prompt.name}")

    async def rerank(self, query: str, texts: Sequence[str], *, deadline_s: float) -> list[float]:
        """An encoder does not judge."""
        raise ModelUnavailable("not_configured", "no rerank model")

    async def probe(self) -> Capabilities:
        """Whether it embeds now, and into how many numbers."""
        try:
            (vector,) = await self.embed(["ready?"], deadline_s=PROBE_S)
        except ModelUnavailable as error:
            return Capabilities(False, None, False, (f"embedding: {error.reason}", "chat: not_configured"))
        return Capabilities(True, len(vector), False, ("chat: not_configured",))

    async def close(self) -> None:
        """The thread ends with what it is doing."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _encode(self, text: str) -> list[float]:
        encoding = self._tokenizer.encode(text)
        mask = np.asarray([encoding.attention_mask], dtype=np.int64)
        feed = {
            "input_ids": np.asarray([encoding.ids], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        states = self._session.run(None, {k: v for k, v in feed.items() if k in self._inputs})[0]
        return _unit(_pooled(states, mask, first_token=self._first_token))


def _pooled(states: NDArray[np.float32], mask: NDArray[np.int64], *, first_token: bool) -> NDArray[np.float64]:
    if states.ndim == 2:  # the model pools by itself
        return states[0].astype(np.float64)
    if first_token:
        return states[0, 0].astype(np.float64)
    weights = mask[0].astype(np.float64)
    return (states[0].astype(np.float64) * weights[:, None]).sum(axis=0) / max(float(weights.sum()), 1.0)


def _unit(vector: NDArray[np.float64]) -> list[float]:
    length = math.sqrt(float(vector @ vector))
    return [float(x) for x in vector / length] if length else [0.0] * len(vector)


def _session(model: Path) -> _Session:
    options = ort.SessionOptions()  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType] # untyped package
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])  # pyright: ignore[reportUnknownArgumentType] # untyped package
    return cast("_Session", session)


def _model_file(folder: Path) -> Path:
    found = sorted(folder.glob("model*.onnx"), key=lambda path: (not _is_small(path), path.name))
    if not found:
        raise FileNotFoundError(f"{folder} holds no model*.onnx")
    return found[0]


def _is_small(path: Path) -> bool:
    return any(word in path.name for word in ("int8", "quant", "uint8"))


def _pools_first_token(folder: Path) -> bool:
    """Sentence-transformers' own note beside the model; the mean is what an encoder without one gets."""
    note = folder / "1_Pooling" / "config.json"
    return note.is_file() and bool(json.loads(note.read_text(encoding="utf-8")).get("pooling_mode_cls_token"))


def _digest(model: Path) -> str:
    with model.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()[:12]
