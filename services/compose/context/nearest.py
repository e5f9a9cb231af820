"""What questions mean beside what chunks mean: an encoder's cosines where chunks have them, static ones elsewhere.

Where no encoder is configured, or it is late, static vectors serve for all: they need no model call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from uuid import UUID

import numpy as np

from services.compose.rules.searching.nearness import Lifts, to_lifts
from shared.classifiers.static_encoder import load_static_encoder
from shared.domain.subjects import Subject
from shared.errors import TransientError
from shared.language.patterns import to_pattern
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.runtime import Runtime
from shared.store import search_meaning, search_words
from shared.store.search_meaning import Compared, Meant, Pages
from shared.store.search_scope import SearchScope
from shared.vectors import Scale, scale_of, sentences

Texts = Callable[[Sequence[str]], Mapping[int, str]]
"""What each question asks, by its number, once the names are known that are not part of it."""


SENTENCES = 8
"""Of a message so many sentences are compared each by itself."""
_SENTENCE = to_pattern(r"(?<=[.!?。！？\n])")


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


def nearness_to(message: str) -> Callable[[str], float]:
    """How near a text is to the message or to one of its sentences, by static vectors; 0: about other things."""
    encoder, scale = load_static_encoder(), static_scale()
    parts = [message, *[each for each in _SENTENCE.split(message) if each.strip()][:SENTENCES]]
    units = np.stack([encoder.encode(each) for each in dict.fromkeys(parts)])
    return lambda text: float(scale.lift(units @ encoder.encode(text)).max())


def nearness_between(one: str, other: str) -> float:
    """How near two texts are to each other, as `nearness_to`."""
    encoder = load_static_encoder()
    return float(static_scale().lift(np.asarray([encoder.encode(one) @ encoder.encode(other)]))[0])


async def read_near(rt: Runtime, subject: Subject, texts: Texts, within: SearchScope) -> Near:
    """How near the user's chunks within the bounds are to what is asked."""
    missing: str | None = None
    if rt.models.embedding_model_id is not None:
        try:
            return Near(await _by_encoder(rt, subject, texts, within))
        except (ModelUnavailable, MalformedAnswer):
            missing = "embedding_unavailable"
        except TransientError:
            missing = "pgvector_unavailable"
    static = load_static_encoder()
    held = rt.pages.find(subject, static.model_id)
    reading = search_meaning.load_near(
        subject, static.model_id, {}, within, set_id=static.model_id, known=_version(held)
    )
    names, meant = await rt.db.read(subject, search_words.names(subject), reading)
    rows = load_pages(rt, subject, static.model_id, held, meant)
    units = {n: static.encode(text) for n, text in texts(names).items()}
    scales = {static.model_id: static_scale()}
    return Near({n: to_lifts(rows, {static.model_id: unit}, scales) for n, unit in units.items()}, missing)


async def _by_encoder(rt: Runtime, subject: Subject, texts: Texts, within: SearchScope) -> dict[int, Lifts]:
    models, set_id, static = rt.models, str(rt.models.embedding_model_id), load_static_encoder()
    (names,) = await rt.db.read(subject, search_words.names(subject))
    wanted = texts(names)
    deadline_s = rt.policy.compose.embed_deadline_ms / 1000
    scales = {**await models.scales(deadline_s=deadline_s), static.model_id: static_scale()}
    vectors = await models.embed(list(wanted.values()), deadline_s=deadline_s)
    lifts: dict[int, Lifts] = {}
    for (n, text), vector in zip(wanted.items(), vectors, strict=True):
        views = models.views(vector)
        held = rt.pages.find(subject, set_id)
        reading = search_meaning.load_near(subject, static.model_id, views, within, set_id=set_id, known=_version(held))
        (meant,) = await rt.db.read(subject, reading)
        rows = load_pages(rt, subject, set_id, held, meant)
        units = {name: np.asarray(of, dtype=np.float32) for name, of in views.items()}
        lifts[n] = to_lifts(rows, {**units, static.model_id: static.encode(text)}, scales)
    return lifts


def _version(held: Pages | None) -> UUID | None:
    return held.version if held else None


def load_pages(rt: Runtime, subject: Subject, set_id: str, held: Pages | None, meant: Meant) -> list[Compared]:
    """The pages, which are kept for the next question, and what is newer than they are."""
    pages = meant.pages
    if pages is None:
        return list(meant.newer)
    if held is not None and held.version == pages.version:
        pages = held
    else:
        rt.pages.put(subject, pages.epoch, set_id, pages)
    return [*pages.of, *meant.newer]
