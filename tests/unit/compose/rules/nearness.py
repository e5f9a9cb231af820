"""The similarity of two texts as packages compute it without an encoder."""

from functools import cache

import numpy as np

from shared.classifiers.static_encoder import load_static_encoder
from shared.vectors import Scale, scale_of, sentences


@cache
def _scale() -> Scale:
    encoder = load_static_encoder()
    return scale_of(np.stack([encoder.encode(each) for each in sentences()]))


def nearness_between(one: str, other: str) -> float:
    """Scaled so that paraphrases are at 1 and unrelated texts at 0."""
    encoder = load_static_encoder()
    return float(_scale().lift(np.asarray([encoder.encode(one) @ encoder.encode(other)]))[0])
