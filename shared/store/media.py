"""media: written by compose for the scanner in front; read where messages name media."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString

from schemas.content import MediaType, SecurityStatus
from shared.db import Connection, Read
from shared.domain.subjects import Subject


@dataclass(frozen=True, slots=True)
class Registered:
    """What the scanner said last of one media."""

    media_id: str
    type: MediaType
    security_status: SecurityStatus
    checksum: str | None
    recognized_text: str | None
    created_at: datetime
    updated_at: datetime


_KNOWN: LiteralString = """
SELECT media_id, type, security_status, checksum, recognized_text, created_at, updated_at FROM media
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND media_id = ANY(%(ids)s)
"""


def load_known(subject: Subject, media_ids: Iterable[str]) -> Read[dict[str, Registered]]:
    """Those of the media that are registered, by id."""
    params = {"tenant": subject.tenant_id, "user": subject.user_id, "ids": list(media_ids)}
    return Read(_KNOWN, params, lambda rows: {row["media_id"]: Registered(**row) for row in rows})


_PUT: LiteralString = """
INSERT INTO media AS m (tenant_id, user_id, media_id, type, security_status, checksum, recognized_text)
VALUES (%(tenant)s, %(user)s, %(media)s, %(type)s, %(status)s, %(checksum)s, %(text)s)
ON CONFLICT (tenant_id, user_id, media_id) DO UPDATE SET security_status = excluded.security_status,
    checksum = coalesce(excluded.checksum, m.checksum),
    recognized_text = coalesce(excluded.recognized_text, m.recognized_text), updated_at = now()
WHERE m.type = excluded.type AND (m.checksum = excluded.checksum) IS NOT FALSE
RETURNING media_id, type, security_status, checksum, recognized_text, created_at, updated_at
"""


async def put(conn: Connection, subject: Subject, media_id: str, state: Mapping[str, Any]) -> Registered | None:
    """The media as it stands now; None where another type or checksum is registered under this id."""
    params = {"tenant": subject.tenant_id, "user": subject.user_id, "media": media_id, **state}
    row = await (await conn.execute(_PUT, params)).fetchone()
    return Registered(**row) if row else None
