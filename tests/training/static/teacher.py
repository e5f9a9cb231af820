"""The vectors of texts from a sentence encoder."""

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shared.models.local import LocalEncoder

MAX_CHARS = 600


class Teacher:
    """An encoder whose vectors are cached in `cache`, a file for each list of texts, if a folder is given."""

    def __init__(self, folder: Path, cache: Path | None) -> None:
        self._encoder = LocalEncoder(folder)
        self._cache = cache

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A unit vector for each text."""
        name = hashlib.sha256("\n".join((self._encoder.embedding_model_id, *texts)).encode()).hexdigest()[:16]
        path = self._cache / f"{name}.npy" if self._cache else None
        if path and path.exists():
            kept: NDArray[np.float32] = np.load(path)
            return kept
        cut = [text[:MAX_CHARS] for text in texts]
        vectors = np.array(asyncio.run(self._encoder.embed(cut, deadline_s=3600)), dtype=np.float32)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, vectors)
        return vectors
