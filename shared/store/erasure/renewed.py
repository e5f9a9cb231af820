"""Applies an erasure from before a restore to the restored rows. Role smartbrain_erasure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import LiteralString
from uuid import UUID

from psycopg import sql

from shared.db import Connection
from shared.domain.subjects import Subject
from shared.store.erasure.residue import catalog


@dataclass(frozen=True)
class Parted:
    """The turns up to a time, and their sessions; `more` if there are later ones."""

    turns: tuple[UUID, ...]
    sessions: tuple[str, ...]
    more: bool


_TURNS: LiteralString = """
SELECT turn_id, session_id, committed_at <= %(until)s AS older FROM turns
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
    AND (%(sessions)s::text[] IS NULL OR session_id = ANY(%(sessions)s))
"""


async def load_turns_until(
    conn: Connection, subject: Subject, until: datetime, sessions: Sequence[str] | None
) -> Parted:
    """The turns of the user up to this time, in these sessions or in all."""
    named = list(sessions) if sessions is not None else None
    turns = await (await conn.execute(_TURNS, {**subject.params, "until": until, "sessions": named})).fetchall()
    older = [row for row in turns if row["older"]]
    return Parted(
        tuple(row["turn_id"] for row in older),
        tuple(dict.fromkeys(row["session_id"] for row in older)),
        len(older) < len(turns),
    )


_UNREAD: LiteralString = """
SELECT turn_id FROM turns WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL
    AND observed_at IS NULL
"""
_DERIVED: LiteralString = """
SELECT memory_id AS id FROM memory_items
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND memory_id = ANY(%(ids)s)
UNION
SELECT observation_id FROM observations
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND observation_id = ANY(%(ids)s)
"""


async def load_unread(conn: Connection, subject: Subject) -> list[UUID]:
    """Turns that were not observed when the backup was made."""
    return [row["turn_id"] for row in await (await conn.execute(_UNREAD, subject.params)).fetchall()]


async def find_derived(conn: Connection, subject: Subject, ids: Sequence[UUID]) -> set[UUID]:
    """Those of these memories that existed when the backup was made, at least as observations."""
    params = {**subject.params, "ids": list(ids)}
    return {row["id"] for row in await (await conn.execute(_DERIVED, params)).fetchall()}


async def keep(conn: Connection, subject: Subject) -> None:
    """Sets the transaction's epoch on all rows that no erasure covers: they are later than all erasures."""
    for table in await catalog(conn):
        if not {"tenant_id", "epoch"} <= table.columns.keys() or table.name in ("tombstones", *_NUMBERED):
            continue
        hidden = sql.SQL(" AND tombstone_id IS NULL" if "tombstone_id" in table.columns else "")
        await conn.execute(
            sql.SQL(
                "UPDATE {} SET epoch = current_setting('app.epoch')::integer WHERE tenant_id = %(tenant)s"
                " AND user_id = %(user)s AND epoch < current_setting('app.epoch')::integer{}"
            ).format(sql.Identifier(table.name), hidden),
            subject.params,
        )


_NUMBERED = ("erasure_epochs", "erasure_suppressions")
"""Tables in which the epoch is part of the content."""
