"""The static encoder that ships with the product: a vector for each token, their sum for a text; both languages.

The folder `static_vectors` beside this file has Model2Vec's layout and says where the numbers come from. Chinese and
English tokens stand in one space, so that a mixed text is one vector and a question in one language comes near a text
in the other. `python -m tests.training.static` makes the folder again.
"""

import json
import re
import unicodedata
from functools import cache, cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from shared.cache import of_texts
from shared.vectors import Scale, scale_of, sentences

FOLDER = Path(__file__).with_name("static_vectors")
MAX_CHARS = 2000
"""What follows is not looked at: the sum of so many tokens hardly moves any more."""
Vector: TypeAlias = NDArray[np.float32]
_UNUSUAL = re.compile(r"[À-ɏḀ-ỿ０-ｚ]")
_ACCENTS = re.compile(r"[̀-ͯ]")


class StaticEncoder:
    """Texts to unit vectors, without a model call: some ten microseconds a sentence."""

    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.model_id: str = config["model_id"]
        self.dimension: int = config["hidden_dim"]
        self._tokenizer = _read_tokenizer(folder / "tokenizer.json")
        self._rows, self._weights = _read_tensors(folder / "model.safetensors")

    def encode(self, text: str) -> Vector:
        """The unit vector of the text, `dimension` numbers; zeros where it has no token that is known."""
        ids = self._tokenizer.encode_batch_fast([fold_text(text)], add_special_tokens=False)[0].ids
        summed = self._weights[ids] @ self._rows[ids]
        length = float(np.sqrt(summed @ summed))
        return summed / length if length else summed

    def cut(self, text: str) -> list[tuple[int, int, Vector]]:
        """The tokens of the text: where each begins and ends, and its unit vector."""
        tokens = self._tokenizer.encode(text, add_special_tokens=False)
        vectors = self._weights[tokens.ids][:, None] * self._rows[tokens.ids]
        lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
        vectors /= np.where(lengths, lengths, 1.0)
        return [(start, end, vector) for (start, end), vector in zip(tokens.offsets, vectors, strict=True)]

    @cached_property
    def scale(self) -> Scale:
        """What cosines of its vectors are worth."""
        return scale_of(np.stack([self.encode(each) for each in sentences()]))


def fold_text(text: str) -> str:
    """The beginning of the text as the tokenizer knows it: small letters, no accents, no full-width letters."""
    lower = text[:MAX_CHARS].lower()
    if _UNUSUAL.search(lower) is None:
        return lower
    return _ACCENTS.sub("", unicodedata.normalize("NFKD", lower)).lower()


@of_texts(64)
def encode(text: str) -> Vector:
    """The unit vector of a text, not to be written to: the sentences of a message are judged several times."""
    return load_static_encoder().encode(text)


@of_texts(2_048)
def encode_word(word: str) -> Vector:
    """The unit vector of a word, not to be written to."""
    return load_static_encoder().encode(word)


@cache
def load_static_encoder() -> StaticEncoder:
    """The encoder that ships with the product, read once a process; its numbers are mapped, not copied."""
    return StaticEncoder(FOLDER)


def _read_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer without its normaliser: `fold_text` does the same at a third of the cost.

    Texts that it has cut are not kept: that would save three microseconds of a text that comes again.
    """
    written = json.loads(path.read_text(encoding="utf-8"))
    written["normalizer"] = None
    tokenizer = Tokenizer.from_str(json.dumps(written, ensure_ascii=False))
    tokenizer.model._resize_cache(0)  # pyright: ignore[reportPrivateUsage] # it has no other name
    return tokenizer


def _read_tensors(path: Path) -> tuple[NDArray[np.int8], Vector]:
    """The rows of the tokens and what each is multiplied with, of a safetensors file."""
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int(mapped[:8].view("<u8")[0])
    tensors = json.loads(bytes(mapped[8:start]))

    def bytes_of(name: str) -> NDArray[np.uint8]:
        first, last = tensors[name]["data_offsets"]
        return np.asarray(mapped[start + first : start + last])

    rows = bytes_of("embeddings").view(np.int8).reshape(tensors["embeddings"]["shape"])
    return rows, bytes_of("weights").view("<f4")
