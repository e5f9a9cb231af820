"""audit_events of operators: what was done, by whom and why; with a dead letter or a quarantined event once.

Written in the transaction of what the act does; removed by governor when its years are over.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, LiteralString, Protocol
from uuid import UUID

import orjson

from shared.clock import uuid7
from shared.db import APP_ROLE, Connection, bind_subject
from shared.domain.subjects import Subject
from shared.secrets import redact

NOBODY = Subject("", "")
"""Whose act it is that concerns a record of which nobody can tell whose it is: no user has this name."""
REDRIVEN: Literal["redriven"] = "redriven"
DROPPED: Literal["dropped"] = "dropped"
LOCAL_OPERATOR = "local"
"""Stands in the place of who acts where no key is needed and nobody was named."""
NOTHING_MORE: Mapping[str, Any] = MappingProxyType({})


class OperatorOrder(Protocol):
    """What asks for an act: who asks, and why where that was said."""

    @property
    def requested_by(self) -> str | None: ...

    @property
    def reason(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Operator:
    """Who acts, and why, where the request itself is no `OperatorOrder`."""

    requested_by: str | None = None
    reason: str | None = None


UNNAMED = Operator()


@dataclass(frozen=True)
class OperatorAct:
    """What became of it, and when; by whom and why as far as it is known."""

    about: str
    kind: str
    at: datetime
    details: Mapping[str, Any]


_PUT: LiteralString = """
INSERT INTO audit_events (tenant_id, user_id, audit_id, kind, about, item_count, details)
VALUES (%(tenant)s, %(user)s, %(id)s, %(kind)s, %(about)s, 1, %(details)s::jsonb)
ON CONFLICT (tenant_id, user_id, about) DO NOTHING
"""


async def note_act(
    conn: Connection,
    subject: Subject,
    about: str,
    kind: str,
    order: OperatorOrder,
    details: Mapping[str, Any] = NOTHING_MORE,
    *,
    once: bool = False,
) -> bool:
    """The act is on record with who and why; the reason without credentials and personal data.

    Of what is done `once`, whether this is the first act about it; where another is being done, it is waited for.
    """
    identity = uuid7()
    reason = redact(order.reason, frozenset())[0] if order.reason else order.reason
    told = {"requested_by": order.requested_by or LOCAL_OPERATOR, "reason": reason, **details}
    params = {**subject.params, "id": identity, "kind": kind, "details": orjson.dumps(told).decode()}
    params["about"] = about if once else f"{about}:{identity}"
    return (await conn.execute(_PUT, params)).rowcount == 1


async def narrow(conn: Connection, subject: Subject) -> None:
    """From here on this transaction, which was of nobody, sees and writes what is this subject's alone."""
    await conn.execute(f"SET LOCAL ROLE {APP_ROLE}")
    await bind_subject(conn, "SELECT bind(%s, %s) AS epoch", subject)


_ONE: LiteralString = """
SELECT about, kind, at, details FROM audit_events
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND about = %(about)s
"""


async def find(conn: Connection, subject: Subject, about: str) -> OperatorAct | None:
    """What was done about it, with who and why."""
    row = await (await conn.execute(_ONE, {**subject.params, "about": about})).fetchone()
    return OperatorAct(**row) if row else None


_OF_QUARANTINE: LiteralString = """
SELECT about, kind, at, details FROM audit_events
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL AND details ->> 'quarantine_id' = %(id)s
"""


async def find_of_quarantine(conn: Connection, subject: Subject, quarantine_id: UUID) -> OperatorAct | None:
    """What was done about the event that was in quarantine under this id."""
    row = await (await conn.execute(_OF_QUARANTINE, {**subject.params, "id": str(quarantine_id)})).fetchone()
    return OperatorAct(**row) if row else None


_KINDS: LiteralString = "SELECT about, kind, at FROM audit_events WHERE about = ANY(%(about)s)"


async def find_all(conn: Connection, about: Iterable[str]) -> dict[str, OperatorAct]:
    """What was done about those of them about which anything was, whosever they are: without who and why."""
    rows = await (await conn.execute(_KINDS, {"about": list(about)})).fetchall()
    return {row["about"]: OperatorAct(row["about"], row["kind"], row["at"], {}) for row in rows}


_PRUNE: LiteralString = """
DELETE FROM audit_events WHERE (tenant_id, user_id, audit_id) IN (SELECT tenant_id, user_id, audit_id
    FROM audit_events WHERE about IS NOT NULL AND at < now() - make_interval(years => %(years)s) LIMIT %(limit)s)
"""


async def prune(conn: Connection, years: int, limit: int) -> int:
    """How many acts of so long ago were forgotten."""
    return (await conn.execute(_PRUNE, {"years": years, "limit": limit})).rowcount
