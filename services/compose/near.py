"""What questions mean beside what chunks mean: an encoder's cosines where chunks have them, static ones elsewhere.

Where no encoder is configured, or it is late, static vectors serve for all: they need no model call.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from services.compose.rules.nearby import Lifts, decide_closer_look, merge_lifts, to_lifts
from shared.db import Subject
from shared.errors import TransientError
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.models.static import load_static_encoder
from shared.runtime import Runtime
from shared.store import search as store
from shared.store.search import Within
from shared.vectors import Reals, Scale, scale_of, sentences

Asked = Mapping[str, Sequence[float]]
"""A question's vectors by the models whose vectors they are compared with."""
NOTHING: Asked = {}


@dataclass(frozen=True)
class Near:
    """How near chunks are to each question, by its number; why an encoder's vectors are missing, if they are."""

    lifts: Mapping[int, Lifts] = field(default_factory=dict[int, Lifts])
    missing: str | None = None


@cache
def static_scale() -> Scale:
    """What cosines of static vectors are worth."""
    encoder = load_static_encoder()
    return scale_of(np.stack([encoder.encode(each) for each in sentences()]))


async def read_near(rt: Runtime, subject: Subject, texts: Mapping[int, str], within: Within) -> Near:
    """How near the user's chunks within the bounds are to each of these texts."""
    static = load_static_encoder()
    units = {n: static.encode(text) for n, text in texts.items()}
    missing: str | None = None
    if rt.models.embedding_model_id is not None:
        try:
            return Near(await _by_encoder(rt, subject, texts, units, within))
        except (ModelUnavailable, MalformedAnswer, TimeoutError):
            missing = "embedding_unavailable"
        except TransientError:
            missing = "pgvector_unavailable"
    known = {n: (unit, NOTHING) for n, unit in units.items() if unit.any()}
    return Near(await _looked(rt, subject, known, {static.model_id: static_scale()}, within, static.model_id), missing)


async def _by_encoder(
    rt: Runtime, subject: Subject, texts: Mapping[int, str], units: Mapping[int, Reals], within: Within
) -> dict[int, Lifts]:
    models, set_id = rt.models, str(rt.models.embedding_model_id)
    deadline_s = rt.policy.compose.embed_deadline_ms / 1000
    async with asyncio.timeout(deadline_s):
        scales = await models.scales(deadline_s=deadline_s)
        vectors = await models.embed(list(texts.values()), deadline_s=deadline_s)
    asked = {n: (units[n], models.views(vector)) for n, vector in zip(texts, vectors, strict=True)}
    return await _looked(rt, subject, asked, {**scales, load_static_encoder().model_id: static_scale()}, within, set_id)


async def _looked(
    rt: Runtime,
    subject: Subject,
    asked: Mapping[int, tuple[Reals, Asked]],
    scales: Mapping[str, Scale],
    within: Within,
    set_id: str,
) -> dict[int, Lifts]:
    """The lifts of all chunks; of those that stand in pages the nearest are looked at again with all their numbers."""
    found: dict[int, Lifts] = {}
    static_id = load_static_encoder().model_id
    once: list[store.Compared] | None = None
    for n, (unit, views) in asked.items():
        known = {static_id: unit} | {name: np.asarray(of, dtype=np.float32) for name, of in views.items()}
        rows = once
        if rows is None:
            (rows,) = await rt.db.read(subject, store.near(subject, static_id, views, within, set_id=set_id))
            once = None if views else rows  # without an encoder the same rows serve every question
        lifts = to_lifts(rows, known, scales)
        if any(each.codes for each in rows):
            ids = decide_closer_look(lifts)
            (closer,) = await rt.db.read(subject, store.near(subject, static_id, views, within, set_id=set_id, ids=ids))
            lifts = merge_lifts(lifts, to_lifts(closer, known, scales))
        found[n] = lifts
    return found
