"""Single memories with all that said them: found, and their words taken out of the log, of search and of summaries."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from shared.db import Connection, Subject
from shared.store import blotting, chunks, hide
from shared.store.blotting import Event, Place
from shared.store.hide import Covered, Hidden
from shared.text import segment
from shared.text.blot import TELLING, Blotter, needles

MADE_OF_IT = frozenset({"item"})
"""Events that are what they dictate: nothing is left of one whose memory is erased."""
SPOKEN_BY_RULES = "rules"


async def of(conn: Connection, subject: Subject, memories: Sequence[UUID]) -> Covered:
    """What an erasure of these memories covers: every version, what was merged with them, what says the same.

    And what rests on words within theirs alone.
    """
    covered = await hide.of_items(conn, subject, memories)
    said = await blotting.contents(conn, subject, covered.memories)
    more = await blotting.saying(conn, subject, said)
    more += await blotting.within(conn, subject, covered.observations)
    if set(more) - set(covered.memories):
        covered = await hide.of_items(conn, subject, [*memories, *covered.memories, *more])
    return covered


async def blot(conn: Connection, subject: Subject, tombstone_id: UUID, covered: Covered, hidden: Hidden) -> None:
    """The words that the memories came from are nowhere any more; what else was said with them stays where it stood."""
    places = await blotting.places(conn, subject, covered.observations)
    said = [*await blotting.contents(conn, subject, covered.memories), *(text for p in places for text in _words(p))]
    there, telling = Blotter(needles(said)), needles(said, TELLING)
    blotter = Blotter(telling)
    turns = {*(p.turn_id for p in places), *covered.unread}
    hidden.add("conversation_events", await _log(conn, subject, tombstone_id, turns, places, there))
    hidden.add("memory_chunks", await _search(conn, subject, turns, there, telling))
    found = await blotting.summaries(conn, subject)
    sessions = {p.session_id for p in places}
    touched = {
        each.session_id
        for each in found
        if blotter.holds(each.text)
        or blotter.holds(each.block_text)
        or blotter.value(each.summary_json) != each.summary_json
        or (each.session_id in sessions and not each.model_id.startswith(SPOKEN_BY_RULES))
    }
    if touched:
        hidden.add("session_summaries", await blotting.silence(conn, subject, tombstone_id, touched))
    hidden.add("entity_mentions", await blotting.unmention(conn, subject, tombstone_id, places))
    await blotting.forget_answers(conn, subject, turns)
    quoted = [(each, there.text(each.quote)) for each in await blotting.quotes(conn, subject, turns)]
    await blotting.requote(conn, subject, [replace(each, quote=clean) for each, clean in quoted if clean != each.quote])


def _words(place: Place) -> tuple[str | None, ...]:
    """What was said at a place: the words of the log, and what was made of them."""
    content: dict[str, Any] = place.content or {}
    text = content.get("text")
    quoted = text[place.span_start : place.span_end] if isinstance(text, str) else None
    return quoted, place.text


async def _log(
    conn: Connection, subject: Subject, tombstone_id: UUID, turns: set[UUID], places: Sequence[Place], blotter: Blotter
) -> int:
    made = {(p.turn_id, p.ordinal) for p in places}
    changed: list[Event] = []
    for event in await blotting.events(conn, subject, turns):
        if event.event_type in MADE_OF_IT and (event.turn_id, event.ordinal) in made:
            changed.append(replace(event, content=None))
        elif (clean := blotter.value(event.content)) != event.content:
            changed.append(replace(event, content=clean))
    return await blotting.rewrite(conn, subject, tombstone_id, changed) if changed else 0


async def _search(conn: Connection, subject: Subject, turns: set[UUID], there: Blotter, telling: Sequence[str]) -> int:
    """Chunks of the turns without any of the words, those of other turns without what is hardly said by chance."""
    elsewhere = Blotter(telling)
    changed: list[blotting.Text] = []
    for chunk in await blotting.chunks(conn, subject, turns, telling):
        clean = (there if chunk.turn_id in turns else elsewhere).text(chunk.text)
        if clean != chunk.text:
            changed.append(replace(chunk, text=clean))
    said = [(chunk, segment.terms(chunk.text)) for chunk in changed]
    if said:
        await blotting.rechunk(conn, subject, said, vectors=await chunks.keep_vectors(conn))
    return len(said)
