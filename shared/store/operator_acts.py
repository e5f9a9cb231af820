"""audit_events of operators: act, actor and reason; for a dead letter or quarantined event once.

Written in the transaction of the act; deleted by governor after the retention years.
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
"""The owner of acts on a record whose owner is unknown; no user has this name."""
REDRIVEN: Literal["redriven"] = "redriven"
DROPPED: Literal["dropped"] = "dropped"
LOCAL_OPERATOR = "local"
"""The default actor if no key is required and nobody was named."""
NOTHING_MORE: Mapping[str, Any] = MappingProxyType({})


class OperatorOrder(Protocol):
    """A request for an act: the requester, and the reason if given."""

    @property
    def requested_by(self) -> str | None: ...

    @property
    def reason(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Operator:
    """Actor and reason, if the request itself is no `OperatorOrder`."""

    requested_by: str | None = None
    reason: str | None = None


UNNAMED = Operator()


@dataclass(frozen=True)
class OperatorAct:
    """The act, its time, and its actor and reason, if known."""

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
    """Records the act with actor and reason, without credentials and personal data.

    For an act allowed `once`: whether this is the first one about its object; it waits for a concurrent one.
    """
    identity = uuid7()
    reason = redact(order.reason, frozenset())[0] if order.reason else order.reason
    told = {"requested_by": order.requested_by or LOCAL_OPERATOR, "reason": reason, **details}
    params = {**subject.params, "id": identity, "kind": kind, "details": orjson.dumps(told).decode()}
    params["about"] = about if once else f"{about}:{identity}"
    return (await conn.execute(_PUT, params)).rowcount == 1


async def narrow(conn: Connection, subject: Subject) -> None:
    """Binds this transaction, which had no user, to the owner of the object."""
    await conn.execute(f"SET LOCAL ROLE {APP_ROLE}")
    await bind_subject(conn, "SELECT bind(%s, %s) AS epoch", subject)


_ONE: LiteralString = """
SELECT about, kind, at, details FROM audit_events
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND about = %(about)s
"""


async def find(conn: Connection, subject: Subject, about: str) -> OperatorAct | None:
    """The acts on it, with actor and reason."""
    row = await (await conn.execute(_ONE, {**subject.params, "about": about})).fetchone()
    return OperatorAct(**row) if row else None


_OF_QUARANTINE: LiteralString = """
SELECT about, kind, at, details FROM audit_events
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND tombstone_id IS NULL AND details ->> 'quarantine_id' = %(id)s
"""


async def find_of_quarantine(conn: Connection, subject: Subject, quarantine_id: UUID) -> OperatorAct | None:
    """The acts on the event quarantined under this id."""
    row = await (await conn.execute(_OF_QUARANTINE, {**subject.params, "id": str(quarantine_id)})).fetchone()
    return OperatorAct(**row) if row else None


_KINDS: LiteralString = "SELECT about, kind, at FROM audit_events WHERE about = ANY(%(about)s)"


async def find_all(conn: Connection, about: Iterable[str]) -> dict[str, OperatorAct]:
    """The acts on those of them that have any, whoever owns them, without actor and reason."""
    rows = await (await conn.execute(_KINDS, {"about": list(about)})).fetchall()
    return {row["about"]: OperatorAct(row["about"], row["kind"], row["at"], {}) for row in rows}


_PRUNE: LiteralString = """
DELETE FROM audit_events WHERE (tenant_id, user_id, audit_id) IN (SELECT tenant_id, user_id, audit_id
    FROM audit_events WHERE about IS NOT NULL AND at < now() - make_interval(years => %(years)s) LIMIT %(limit)s)
"""


async def prune(conn: Connection, years: int, limit: int) -> int:
    """Deletes acts older than this; their number."""
    return (await conn.execute(_PRUNE, {"years": years, "limit": limit})).rowcount
