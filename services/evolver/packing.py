"""Builds pages from vectors. Pure."""

from collections.abc import Sequence

import numpy as np

from shared.store.pages import Gathered, Packable, Page
from shared.vectors import code_size, from_bytes, to_codes, to_units

PAGE = 4096
ID_BYTES = 16


def pack_all(gathered: Gathered, static_id: str, static_dimension: int) -> list[Page]:
    """The pages of all models; an empty one without vectors records the time until which there were none."""
    made = [page for of in gathered.of for page in _pack(of, static_id, static_dimension)]
    return made or [Page(static_id, 0, b"", b"")]


def _pack(of: Packable, static_id: str, static_dimension: int) -> Sequence[Page]:
    count = len(of.ids) // ID_BYTES
    if of.model_id is None:
        units = to_units(from_bytes(of.vectors, static_dimension))
    else:
        units = to_units(np.frombuffer(of.vectors, dtype=">f2").astype(np.float16).reshape(count, -1))
    size = code_size(units.shape[1])
    codes = to_codes(units)
    return [
        Page(
            of.model_id or static_id,
            n,
            of.ids[start * ID_BYTES : (start + PAGE) * ID_BYTES],
            codes[start * size : (start + PAGE) * size],
        )
        for n, start in enumerate(range(0, count, PAGE))
    ]
