"""A sentence encoder in a folder: `model*.onnx`, `tokenizer.json`, `config.json` and `1_Pooling/config.json`.

The maximum length and case sensitivity are read from `sentence_bert_config.json` and `tokenizer_config.json`, if
present. Only this module uses onnxruntime. An invalid folder prevents the start with the name of the faulty file.
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
from shared.telemetry import logger
from shared.vectors import LANGUAGES, Reals, Scale, Spoken, scale_of, sentences

USUAL_TOKENS = 256
MOST_TOKENS = 512
"""A higher limit would cost every text of a long conversation tens of milliseconds, whatever the model supports."""
TELLING = 0.5
"""A language in which paraphrases are separated at least half as well as in the best one counts as supported."""
LEAST_APART = 0.05
"""An encoder with less separation than this in every language gives no information about its languages."""
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
    """Embeds one text at a time in its own thread, so that a vector never depends on its batch.

    `languages` are those in which it separates paraphrases from other sentences, measured when it is loaded unless they
    are given; `scale` is that of its cosines there. ConfigurationError if a file is missing or the files do not match.
    """

    def __init__(self, folder: Path, language: Spoken | None = None) -> None:
        model, tokenizer = _model_file(folder), _file(folder, "tokenizer.json")
        notes = _notes(folder)
        self._lower = any(note.get("do_lower_case") is True for note in notes)
        self._tokenizer = _tokenizer(tokenizer, _most_tokens(notes))
        self._session = _session(model)
        self._inputs = frozenset(each.name for each in self._session.get_inputs())
        self._pooling: Pooling | None = read_pooling(folder)
        self.dimension = _width(folder)
        self._try_once(folder)
        self.languages, self.scale = self.measure_languages(folder, language)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="encoder")
        made_by = (model, tokenizer, self._pooling, self._lower)
        self.embedding_model_id = f"{folder.resolve().name}@{_digest(*made_by)}"

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text; other calls can run between two texts of a long list."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(deadline_s):
                return [await loop.run_in_executor(self._executor, self._encode, text) for text in texts]
        except TimeoutError as error:
            raise ModelUnavailable("timeout", f"{deadline_s:g} s") from error
        except Exception as error:  # errors of onnxruntime and tokenizers have no common base class
            raise ModelUnavailable("server_error", type(error).__name__) from error

    async def close(self) -> None:
        """Ends the thread after the current work."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def measure_languages(self, folder: Path, language: Spoken | None) -> tuple[tuple[Spoken, ...], Scale]:
        """The languages in which paraphrases are separated, or the given one, and their scale."""
        try:
            units: dict[Spoken, Reals] = {
                each: np.array([self._encode(s) for s in sentences((each,))], np.float32) for each in LANGUAGES
            }
        except Exception as error:
            raise refuse_folder(folder, f"cannot embed a sentence: {error}") from error
        scales = {each: scale_of(rows, [each]) for each, rows in units.items()}
        apart = {each: scale.alike - scale.unrelated for each, scale in scales.items()}
        best = max(apart.values())
        telling: list[Spoken] = [each for each in LANGUAGES if best < LEAST_APART or apart[each] >= TELLING * best]
        mine: list[Spoken] = [language] if language else telling
        return tuple(mine), scale_of(np.concatenate([units[each] for each in mine]), mine)

    def _encode(self, text: str) -> list[float]:
        states, mask = self._states(text)
        return _unit(pool_states(states, mask, self._pooling))

    def _states(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        encoding = self._tokenizer.encode(text.lower() if self._lower else text)
        mask = np.asarray([encoding.attention_mask], dtype=np.int64)
        feed = {
            "input_ids": np.asarray([encoding.ids], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        return self._session.run(None, {k: v for k, v in feed.items() if k in self._inputs})[0], mask

    def _try_once(self, folder: Path) -> None:
        """Runs tokenizer and model on a text to check that the output matches the other files."""
        try:
            states, _ = self._states("ready? 好")
        except Exception as error:
            raise refuse_folder(folder, f"model and tokenizer do not match: {error}") from error
        if states.shape[-1] != self.dimension:
            said = f"hidden_size is {self.dimension}, the model gives {states.shape[-1]} numbers"
            raise refuse_folder(folder / "config.json", said)
        if states.ndim == 3 and self._pooling is None:  # as in sentence-transformers
            self._pooling = "mean"
            logger().warning("encoder_pooling_assumed", missing=str(folder / _POOLING), pooling="mean")


def pool_states(states: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling | None) -> NDArray[np.float64]:
    if states.ndim == 2:  # the model includes pooling
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
        raise refuse_folder(model, str(error)) from error
    return cast("_Session", session)


def _tokenizer(path: Path, most: int) -> Tokenizer:
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise refuse_folder(path, str(error)) from error
    tokenizer.no_padding()
    if hasattr(tokenizer.model, "_resize_cache"):
        tokenizer.model._resize_cache(0)  # no user text is kept
    tokenizer.enable_truncation(most)  # pyright: ignore[reportUnknownMemberType] # untyped **kwargs
    return tokenizer


def _notes(folder: Path) -> list[dict[str, Any]]:
    """The configuration of sentence-transformers and transformers beside the model, the former first."""
    files = [folder / name for name in ("sentence_bert_config.json", "tokenizer_config.json")]
    return [_json(path) for path in files if path.is_file()]


def _most_tokens(notes: Sequence[Mapping[str, Any]]) -> int:
    """The maximum length of a text: from sentence-transformers' configuration or the default; at
    most the tokenizer's.
    """
    said = [note.get("max_seq_length") for note in notes] + [USUAL_TOKENS]
    bounds = [note.get("model_max_length") for note in notes]
    most = next(each for each in said if isinstance(each, int) and each > 0)
    return min([most, MOST_TOKENS, *(int(each) for each in bounds if isinstance(each, int | float) and each >= 1)])


def _model_file(folder: Path) -> Path:
    found = sorted(folder.glob("model*.onnx"), key=lambda path: (not _is_small(path), path.name))
    if not found:
        raise refuse_folder(folder, "contains no model*.onnx")
    return found[0]


def _is_small(path: Path) -> bool:
    return any(word in path.name for word in ("int8", "quant", "uint8"))


def _width(folder: Path) -> int:
    path = _file(folder, "config.json")
    width = _json(path).get("hidden_size")
    if not isinstance(width, int) or width < 1:
        raise refuse_folder(path, f"hidden_size is {width!r}, not a positive integer")
    return width


def read_pooling(folder: Path) -> Pooling | None:
    """Sentence-transformers' configuration beside the model; None if missing."""
    path = folder / _POOLING
    if not path.is_file():
        return None
    modes = [name for name, wanted in _json(path).items() if name.startswith("pooling_mode_") and wanted]
    if len(modes) != 1 or modes[0] not in _POOLINGS:
        raise refuse_folder(path, f"pools by {' and '.join(modes) or 'nothing'}; supported: {', '.join(_POOLINGS)}")
    return _POOLINGS[modes[0]]


def _file(folder: Path, name: str) -> Path:
    path = folder / name
    if not path.is_file():
        raise refuse_folder(path, "is missing")
    return path


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise refuse_folder(path, f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise refuse_folder(path, "is not a JSON object")
    return cast("dict[str, Any]", value)


def refuse_folder(path: Path, problem: str) -> ConfigurationError:
    return ConfigurationError(f"SMARTBRAIN_EMBEDDING_DIR: {path}: {problem}")


def _digest(model: Path, tokenizer: Path, pooling: Pooling | None, lower: bool) -> str:
    """The same id for everything that gives the same vectors: weights (external ones too),
    tokenizer, pooling and case.
    """
    digest = hashlib.sha256(f"pooling {pooling}{' lower' if lower else ''}".encode())
    for path in (*sorted(model.parent.glob(f"{model.name}*")), tokenizer):
        with path.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()[:12]
