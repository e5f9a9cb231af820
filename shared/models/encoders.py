"""Local encoders, each for certain languages: a text goes to those of its language, a question to all.

A text with several encoders has their vectors one after the other under their ids joined by `+`. A question has those
of all, so that it can be compared with any text.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from shared.errors import ConfigurationError
from shared.language.normalise import list_languages
from shared.models.errors import ModelUnavailable
from shared.models.local import LocalEncoder
from shared.models.none import NoChat
from shared.models.provider import Capabilities, StoredVector
from shared.vectors import LANGUAGES, Scale, Spoken

PROBE_S = 30.0


def load_encoders(named: str) -> "Encoders":
    """The encoders in these folders; ConfigurationError names the invalid file or folder."""
    return Encoders([LocalEncoder(folder, language) for language, folder in folders(named)])


def folders(named: str) -> list[tuple[Spoken | None, Path]]:
    """The folders between `os.pathsep`, each with an optional language prefix, as in `zh=folder`."""
    placed: list[tuple[Spoken | None, Path]] = []
    for each in filter(None, (part.strip() for part in named.split(os.pathsep))):
        language: Spoken | None = next((known for known in LANGUAGES if each.startswith(f"{known}=")), None)
        path = Path(each.partition("=")[2] if language else each)
        if not path.is_dir():
            raise ConfigurationError(f"SMARTBRAIN_EMBEDDING_DIR: {path}: is not a folder")
        placed.append((language, path))
    if not placed:
        raise ConfigurationError("SMARTBRAIN_EMBEDDING_DIR: contains no folder")
    return placed


class Encoders(NoChat):
    """Several encoders as one provider of vectors; a single one serves every text in its languages."""

    def __init__(self, encoders: Sequence[LocalEncoder]) -> None:
        self._encoders = tuple(encoders)
        ids = [each.embedding_model_id for each in self._encoders]
        if len(set(ids)) < len(ids):
            raise ConfigurationError("SMARTBRAIN_EMBEDDING_DIR: names the same encoder twice")
        self._ends = list(accumulate(each.dimension for each in self._encoders))
        self.dimension = self._ends[-1]
        every = tuple(range(len(self._encoders)))
        readers = [*(self._readers([each]) for each in LANGUAGES), self._readers(LANGUAGES)]
        self._parts = {self._name(of): of for of in dict.fromkeys([*filter(None, readers), every])}
        self.embedding_model_id = self._name(every)

    @property
    def embedding_model_ids(self) -> frozenset[str]:
        """The possible ids of texts' vectors."""
        return frozenset(self._parts)

    async def embed(self, texts: Sequence[str], *, deadline_s: float) -> list[list[float]]:
        """One unit vector per text, of all encoders."""
        made = await asyncio.gather(*(each.embed(texts, deadline_s=deadline_s) for each in self._encoders))
        return [join_vectors(vectors) for vectors in zip(*made, strict=True)]

    async def embed_kept(self, texts: Sequence[str], *, deadline_s: float) -> list[StoredVector]:
        """The vector of each text by the encoders of its language; None without such an encoder."""
        readers = [self._readers(list_languages(text)) for text in texts]
        mine = [[n for n, of in enumerate(readers) if place in of] for place in range(len(self._encoders))]
        vectors_of = await asyncio.gather(
            *(
                each.embed([texts[n] for n in which], deadline_s=deadline_s)
                for each, which in zip(self._encoders, mine, strict=True)
            )
        )
        vectors = [dict(zip(which, of, strict=True)) for which, of in zip(mine, vectors_of, strict=True)]
        return [
            StoredVector(self._name(of), join_vectors([vectors[place][n] for place in of]))
            if of
            else StoredVector(self.embedding_model_id, None)
            for n, of in enumerate(readers)
        ]

    def views(self, vector: Sequence[float]) -> Mapping[str, Sequence[float]]:
        """The parts of a question's vector that are compared with texts, by the ids of their vectors."""
        starts = [0, *self._ends]
        parts = [vector[starts[place] : end] for place, end in enumerate(self._ends)]
        return {name: join_vectors([parts[place] for place in of]) for name, of in self._parts.items()}

    async def scales(self, *, deadline_s: float) -> Mapping[str, Scale]:
        """The scale of cosines, by id; of several encoders together the mean."""
        del deadline_s
        return {name: _mean([self._encoders[place].scale for place in of]) for name, of in self._parts.items()}

    async def probe(self) -> Capabilities:
        """Whether all work now, and their dimensions."""
        try:
            (vector,) = await self.embed(["ready?"], deadline_s=PROBE_S)
        except ModelUnavailable as error:
            return Capabilities(False, None, False, (f"embedding: {error.reason}", "chat: not_configured"))
        return Capabilities(True, len(vector), False, ("chat: not_configured",))

    async def close(self) -> None:
        """Ends their threads after the current work."""
        for each in self._encoders:
            await each.close()

    def _readers(self, languages: Sequence[Spoken]) -> tuple[int, ...]:
        """The positions of the encoders of these languages; of all for a text without a language."""
        every = range(len(self._encoders))
        return tuple(n for n in every if not languages or set(languages) & set(self._encoders[n].languages))

    def _name(self, of: Sequence[int]) -> str:
        return "+".join(self._encoders[place].embedding_model_id for place in of)


def join_vectors(vectors: Sequence[Sequence[float]]) -> list[float]:
    """Unit vectors one after the other, scaled to length one together."""
    every = np.concatenate([np.asarray(each, dtype=np.float64) for each in vectors])
    length = float(np.sqrt(every @ every))
    return (every / (length or 1.0)).tolist()


def _mean(scales: Sequence[Scale]) -> Scale:
    return Scale(sum(each.unrelated for each in scales) / len(scales), sum(each.alike for each in scales) / len(scales))
