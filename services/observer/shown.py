"""The parts of turns that memory had shown before: looked up among the sentences of recent packages."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.extraction.recalled import ShownSentence, find_recalled, sentences
from shared.extraction.turn_texts import SPOKEN, render_result
from shared.store import contexts


async def mark_recalled(conn: Connection, subject: Subject, turns: Sequence[Turn]) -> list[Turn]:
    """The turns with the spans that were recalled; one read, none where nothing is long enough to be known again."""
    sentences_of = {turn.turn_id: list(list_sentences(turn)) for turn in turns}
    prints_of = {turn_id: await asyncio.to_thread(sentences, each) for turn_id, each in sentences_of.items()}
    hashes = {print.hash for each in prints_of.values() for prints in each.values() for print in prints}
    named = [turn.context_id for turn in turns if turn.context_id]
    shown: dict[int, set[tuple[UUID, int]]] = {}
    for each in await contexts.find_recalled(conn, subject, list(hashes), named):
        shown.setdefault(each.hash, set()).add((each.context_id, each.piece))
    if not shown:
        return list(turns)
    pieces = {hash: frozenset(places) for hash, places in shown.items()}
    return [
        with_spans(turn, find_recalled(sentences_of[turn.turn_id], prints_of[turn.turn_id], pieces)) for turn in turns
    ]


def with_spans(turn: Turn, spans: dict[int, list[tuple[int, int]]]) -> Turn:
    return replace(turn, recalled={str(ordinal): each for ordinal, each in spans.items()}) if spans else turn


def list_sentences(turn: Turn) -> Iterable[ShownSentence]:
    last = max((e.ordinal for e in turn.events if e.event_type == "user_message"), default=-1)
    for event in turn.events:
        if event.content is None:
            continue
        if "text" in event.content and event.event_type in (*SPOKEN, "tool_result"):
            yield ShownSentence(event.ordinal, event.content["text"], event.ordinal == last)
        elif event.event_type == "tool_result":
            yield ShownSentence(event.ordinal, render_result(event.content.get("result")), stated=False)
