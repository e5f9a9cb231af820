"""Erasure of single memories: finds their sources and blanks their words in log, search and summaries."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from shared.db import Connection
from shared.domain.subjects import Subject
from shared.erasure.blanking import TELLING, Blotter, needles
from shared.language import segment
from shared.language.patterns import to_pattern
from shared.metrics.turns import OUTCOME_SECONDS
from shared.store import chunks, observations, turn_states
from shared.store.erasure import blanking, extent, sayings
from shared.store.erasure.blanking import StoredEvent
from shared.store.erasure.extent import ErasureExtent
from shared.store.erasure.hide import HiddenCounts
from shared.store.erasure.sayings import NeighbourSpan, TextSpan

MADE_OF_IT = frozenset({"item"})
"""Event types whose whole text is the dictated memory, so that nothing of it stays."""
SPOKEN_BY_RULES = "rules"
_ENDED = to_pattern(r"\A(?=\s)[\s.,!?;。，！？；…]+")


async def of(conn: Connection, subject: Subject, memories: Sequence[UUID]) -> ErasureExtent:
    """The scope of an erasure of these memories: every version, merged memories, equal memories, and pending
    observations of the same statement. Also observations whose words overlap theirs, or repeat them in the same turn,
    with the memories that depend only on those: nothing stays known from blanked words.
    """
    covered = await extent.of_items(conn, subject, memories)
    while True:
        said = await sayings.contents(conn, subject, covered.memories)
        touched = {*covered.observations, *await list_touched(conn, subject, covered, said)}
        more = [
            *await sayings.find_memories_with_text(conn, subject, said),
            *await sayings.find_resting(conn, subject, touched),
        ]
        grown = covered
        if set(more) - set(covered.memories):
            grown = await extent.of_items(conn, subject, sorted({*memories, *covered.memories, *more}))
        grown = replace(grown, observations=tuple(sorted({*grown.observations, *touched})))
        if (set(grown.memories), set(grown.observations)) == (set(covered.memories), set(covered.observations)):
            return grown
        covered = grown


async def list_touched(conn: Connection, subject: Subject, covered: ErasureExtent, texts: Sequence[str]) -> list[UUID]:
    places = await sayings.places(conn, subject, covered.observations)
    blotter = Blotter(needles([*texts, *(text for p in places for text in _words(p))]))
    found = await sayings.load_beside(conn, subject, {p.turn_id for p in places})
    return await sayings.find_observed(conn, subject, texts) + [
        each.observation_id
        for each in found
        if any(_overlap(each, p) for p in places) or blotter.holds(each.text) or blotter.holds(each.old_value)
    ]


def _overlap(one: NeighbourSpan, other: TextSpan) -> bool:
    """Whether both share some of their source words."""
    same = (one.turn_id, one.ordinal) == (other.turn_id, other.ordinal)
    return same and max(one.span_start, other.span_start) < min(one.span_end, other.span_end)


async def blot(
    conn: Connection, subject: Subject, tombstone_id: UUID, covered: ErasureExtent, hidden: HiddenCounts
) -> None:
    """Blanks the source words of the memories everywhere; other words keep their positions. In turns that are not
    observed yet, distinctive texts are blanked, so that they are not observed later.
    """
    places = await sayings.places(conn, subject, covered.observations)
    said = [*await sayings.contents(conn, subject, covered.memories), *(text for p in places for text in _words(p))]
    there, telling = Blotter(needles(said)), needles(said, TELLING)
    blotter = Blotter(telling)
    turns = {p.turn_id for p in places}
    hidden.add("conversation_events", await _log(conn, subject, tombstone_id, turns, places, there))
    coming = await sayings.find_unobserved(conn, subject) - turns
    hidden.add("conversation_events", await _log(conn, subject, tombstone_id, coming, (), blotter))
    hidden.add("memory_chunks", await _search(conn, subject, turns, there, telling))
    summaries = await blanking.summaries(conn, subject)
    sessions = {p.session_id for p in places}
    touched = {
        each.session_id
        for each in summaries
        if blotter.holds(each.text)
        or blotter.holds(each.block_text)
        or blotter.value(each.summary_json) != each.summary_json
        or (each.session_id in sessions and not each.model_id.startswith(SPOKEN_BY_RULES))
    }
    if touched:
        hidden.add("session_summaries", await blanking.silence(conn, subject, tombstone_id, touched))
    await _metadata(conn, subject, sessions, there, blotter)
    hidden.add("entity_mentions", await blanking.delete_mentions(conn, subject, tombstone_id, places))
    await blanking.forget_answers(conn, subject, turns | coming, telling)
    quoted = [(each, trim_quote(there.text(each.quote))) for each in await blanking.quotes(conn, subject, turns)]
    await blanking.requote(conn, subject, [replace(each, quote=clean) for each, clean in quoted if clean != each.quote])


async def settle(conn: Connection, subject: Subject, covered: ErasureExtent) -> None:
    """Writes the outcome of turns whose last open observations were hidden."""
    found = await observations.load(conn, subject, covered.observations)
    for done in await turn_states.settle(conn, subject, {each.turn_id for each in found}):
        OUTCOME_SECONDS.observe(done.took_s)


def trim_quote(quote: str) -> str:
    """Without the marks that ended what stood before it, where that is gone."""
    return _ENDED.sub("", quote).rstrip()


def _words(place: TextSpan) -> tuple[str | None, ...]:
    """The words at a position of the log, and the texts derived from them."""
    content: dict[str, Any] = place.content or {}
    text = content.get("text")
    quoted = text[place.span_start : place.span_end] if isinstance(text, str) else None
    return quoted, place.text


async def _log(
    conn: Connection,
    subject: Subject,
    tombstone_id: UUID,
    turns: set[UUID],
    places: Sequence[TextSpan],
    blotter: Blotter,
) -> int:
    made = {(p.turn_id, p.ordinal) for p in places}
    changed: list[StoredEvent] = []
    for event in await blanking.events(conn, subject, turns):
        if event.event_type in MADE_OF_IT and (event.turn_id, event.ordinal) in made:
            changed.append(replace(event, content=None, meta=None))
            continue
        clean = replace(event, content=blotter.value(event.content), meta=blotter.value(event.meta))
        if clean != event:
            changed.append(clean)
    return await blanking.rewrite(conn, subject, tombstone_id, changed) if changed else 0


async def _metadata(conn: Connection, subject: Subject, sessions: set[str], there: Blotter, elsewhere: Blotter) -> None:
    """Blanks the words in data of the source sessions, and distinctive texts in other sessions."""
    stored = await blanking.load_metadata(conn, subject)
    clean = [
        replace(each, metadata=(there if each.session_id in sessions else elsewhere).value(each.metadata))
        for each in stored
    ]
    changed = [each for each, was in zip(clean, stored, strict=True) if each != was]
    if changed:
        await blanking.keep_metadata(conn, subject, changed)


async def _search(conn: Connection, subject: Subject, turns: set[UUID], there: Blotter, telling: Sequence[str]) -> int:
    """Blanks the words in chunks of the source turns, and distinctive texts in those of other turns."""
    elsewhere = Blotter(telling)
    changed: list[blanking.IndexedText] = []
    for chunk in await blanking.chunks(conn, subject, turns, telling):
        clean = (there if chunk.turn_id in turns else elsewhere).text(chunk.text)
        if clean != chunk.text:
            changed.append(replace(chunk, text=clean))
    said = [(chunk, segment.terms(chunk.text)) for chunk in changed]
    if said:
        await blanking.rechunk(conn, subject, said, vectors=await chunks.keep_vectors(conn))
    return len(said)
