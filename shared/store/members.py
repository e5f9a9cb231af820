"""service_members: the processes of each service, and their problems. Written by every service."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import LiteralString
from uuid import UUID

from shared.db import Connection

KEPT = timedelta(hours=1)
"""A process without a report for this long is forgotten."""
_REPORT: LiteralString = """
INSERT INTO service_members (service, member_id, problems) VALUES (%(service)s, %(member)s, %(problems)s)
ON CONFLICT (service, member_id) DO UPDATE SET seen_at = now(), problems = excluded.problems
"""
_FORGET: LiteralString = "DELETE FROM service_members WHERE seen_at < now() - %(kept)s"
_LEAVE: LiteralString = "DELETE FROM service_members WHERE member_id = %(member)s"
_SEEN: LiteralString = "SELECT service, problems FROM service_members WHERE seen_at > now() - %(silent)s"


async def report(conn: Connection, member: UUID, problems: Mapping[str, Iterable[str]]) -> None:
    """Reports the services of this process with their problems; silent processes are forgotten."""
    for service, found in problems.items():
        await conn.execute(_REPORT, {"service": service, "member": member, "problems": list(found)})
    await conn.execute(_FORGET, {"kept": KEPT})


async def leave(conn: Connection, member: UUID) -> None:
    """Removes this process."""
    await conn.execute(_LEAVE, {"member": member})


async def load_problems(conn: Connection, within: timedelta) -> dict[str, list[Sequence[str]]]:
    """By service the problems of each process that has reported within this time."""
    found: dict[str, list[Sequence[str]]] = {}
    for row in await (await conn.execute(_SEEN, {"silent": within})).fetchall():
        found.setdefault(row["service"], []).append(row["problems"])
    return found
