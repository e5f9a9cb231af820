"""A sentence encoder in a folder: `model*.onnx`, `tokenizer.json`, `config.json` and `1_Pooling/config.json`.

Only here is onnxruntime named. A folder that cannot work stops the start with the file that is at fault.
"""

import asyncio
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np
import onnxruntime as ort  # pyright: ignore[reportMissingTypeStubs] # the package has none
from numpy.typing import NDArray
from tokenizers import Tokenizer

from shared.errors import ConfigurationError
from shared.models.errors import ModelUnavailable
from shared.models.prompt import A, Answer, Prompt
from shared.models.provider import Capabilities

MAX_TOKENS = 256
PROBE_S = 30.0
Pooling = Literal["first", "mean", "last"]
_POOLING = Path("1_Pooling") / "config.json"
_POOLINGS: Mapping[str, Pooling] = {
    "pooling_mode_cls_token": "first",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_lasttoken": "last",
}


class _Named(Protocol):
    name: str


class _Session(Protocol):
    """The part of an onnxruntime session that is used here; the package itself is untyped."""

    def get_inputs(self) -> Sequence[_Named]: ...

    def run(self, output_names: None, input_feed: Mapping[str, NDArray[np.int64]]) -> Sequence[NDArray[np.float32]]: ...


class LocalEncoder:
    """Embeds one text at a time in one thread of its own, so that a vector never depends on its neighbours.

    ConfigurationError where the folder lacks a file, or its files do not fit each other.
    """

    chat_model_id: str | None = None
    rerank_model_id: str | None = None

    def __init__(self, folder: Path) -> None:
        model, tokenizer = _model_file(folder), _file(folder, "tokenizer.json")
        self._tokenizer = _tokenizer(tokenizer)
        self._session = _session(model)
        self._inputs = frozenset(each.name for each in self._session.get_inputs())
        self._pooling: Pooling | None = _pooling(folder)
        self.dimension = _width(folder)
        self._try_once(folder)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="encoder")
        self.embedding_model_id = f"{folder.resolve().name}@{_digest(model, tokenizer, self._pooling)}"

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text; between two texts of a long list, others get their turn."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(deadline_s):
                return [await loop.run_in_executor(self._executor, self._encode, text) for text in texts]
        except TimeoutError as error:
            raise ModelUnavailable("timeout", f"{deadline_s:g} s") from error
        except Exception as error:  # what onnxruntime and tokenizers raise has no base class of its own
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
        states, mask = self._states(text)
        return _unit(_pooled(states, mask, self._pooling))

    def _states(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        encoding = self._tokenizer.encode(text)
        mask = np.asarray([encoding.attention_mask], dtype=np.int64)
        feed = {
            "input_ids": np.asarray([encoding.ids], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        return self._session.run(None, {k: v for k, v in feed.items() if k in self._inputs})[0], mask

    def _try_once(self, folder: Path) -> None:
        """A text goes through tokenizer and model, and what comes out is what the other files say."""
        try:
            states, _ = self._states("ready? 好")
        except Exception as error:
            raise _wrong(folder, f"model and tokenizer do not fit: {error}") from error
        if states.shape[-1] != self.dimension:
            said = f"hidden_size is {self.dimension}, the model gives {states.shape[-1]} numbers"
            raise _wrong(folder / "config.json", said)
        if states.ndim == 3 and self._pooling is None:
            hint = 'copy it from where the model comes from, or write {"pooling_mode_mean_tokens": true}'
            raise _wrong(folder / _POOLING, f"is missing, and the model gives a vector for each token; {hint}")


def _pooled(states: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling | None) -> NDArray[np.float64]:
    if states.ndim == 2:  # the model pools by itself
        return states[0].astype(np.float64)
    tokens = states[0].astype(np.float64)
    if pooling == "first":
        return tokens[0]
    if pooling == "last":
        return tokens[-1]
    weights = mask[0].astype(np.float64)
    return (tokens * weights[:, None]).sum(axis=0) / max(float(weights.sum()), 1.0)


def _unit(vector: NDArray[np.float64]) -> list[float]:
    length = math.sqrt(float(vector @ vector))
    return [float(x) for x in vector / length] if length else [0.0] * len(vector)


def _session(model: Path) -> _Session:
    options = ort.SessionOptions()  # pyright: ignore[reportUnknownVariableType,reportUnknownMemberType] # untyped package
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    try:
        session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])  # pyright: ignore[reportUnknownArgumentType] # untyped package
    except Exception as error:
        raise _wrong(model, str(error)) from error
    return cast("_Session", session)


def _tokenizer(path: Path) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise _wrong(path, str(error)) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)  # pyright: ignore[reportUnknownMemberType] # untyped **kwargs
    return tokenizer


def _model_file(folder: Path) -> Path:
    found = sorted(folder.glob("model*.onnx"), key=lambda path: (not _is_small(path), path.name))
    if not found:
        raise _wrong(folder, "holds no model*.onnx")
    return found[0]


def _is_small(path: Path) -> bool:
    return any(word in path.name for word in ("int8", "quant", "uint8"))


def _width(folder: Path) -> int:
    path = _file(folder, "config.json")
    width = _json(path).get("hidden_size")
    if not isinstance(width, int) or width < 1:
        raise _wrong(path, f"hidden_size is {width!r}, not a number of numbers")
    return width


def _pooling(folder: Path) -> Pooling | None:
    """Sentence-transformers' own note beside the model; None where there is none."""
    path = folder / _POOLING
    if not path.is_file():
        return None
    modes = [name for name, wanted in _json(path).items() if name.startswith("pooling_mode_") and wanted]
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise _wrong(path, f"pools by {' and '.join(modes) or 'nothing'}; one of {', '.join(_POOLINGS)} is known here")
    return _POOLINGS[modes[0]]


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise _wrong(path, "is missing")
    return path


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _wrong(path, f"is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise _wrong(path, "is no JSON object")
    return cast("dict[str, Any]", value)


def _wrong(path: Path, problem: str) -> ConfigurationError:
    return ConfigurationError(f"SMARTBRAIN_EMBEDDING_DIR: {path}: {problem}")


def _digest(model: Path, tokenizer: Path, pooling: Pooling | None) -> str:
    """The same for what makes the same vectors: weights, those beside the model too, tokenizer and pooling."""
    digest = hashlib.sha256(f"pooling {pooling}".encode())
    for path in (*sorted(model.parent.glob(f"{model.name}*")), tokenizer):
        with path.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()[:12]
