"""The memories of a user that a turn may confirm or change: the model sees them beside the turn."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from schemas.vocabulary import MemoryType
from services.observer.prompts import KnownMemory
from shared.db import Connection
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.language import segment
from shared.secrets import redact
from shared.store import memory, search, user_state
from shared.store.search import SearchScope

TERMS = 40


async def load_known(
    conn: Connection, subject: Subject, turns: Sequence[Turn], most: int
) -> Mapping[UUID, tuple[KnownMemory, ...]]:
    """By turn at most so many active memories: first half those that share words with it, then the core ones."""
    if not turns or most == 0:
        return {}
    core = await user_state.core(subject, most).on(conn)
    terms = [segment.query_terms(" ".join(list_said(turn)), TERMS) for turn in turns]
    hits = await search.by_text(conn, subject, terms, most, SearchScope())
    ids = {hit.memory_id for near_turn in hits for hit in near_turn if hit.memory_id}
    active = {
        m.memory_id: m
        for m in await memory.by_ids(conn, subject, ids)
        if m.status == "active" and (m.type != "entity" or m.key is None)
    }
    every = {each.memory_id: to_known(each.memory_id, each.type, each.content_text) for each in core}
    every |= {m.memory_id: to_known(m.memory_id, m.type, m.content_text) for m in active.values()}
    shown: dict[UUID, tuple[KnownMemory, ...]] = {}
    for turn, found in zip(turns, hits, strict=True):
        near = [hit.memory_id for hit in found if hit.memory_id and hit.memory_id in active]
        order = dict.fromkeys([*near[: most // 2], *(each.memory_id for each in core), *near])
        shown[turn.turn_id] = tuple(every[memory_id] for memory_id in list(order)[:most])
    return shown


def to_known(memory_id: UUID, kind: MemoryType, text: str) -> KnownMemory:
    return KnownMemory(str(memory_id), kind, redact(text)[0])


def list_said(turn: Turn) -> list[str]:
    return [e.content["text"] for e in turn.events if e.event_type == "user_message" and e.content]
