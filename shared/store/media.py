"""media: written by compose for the scanning gateway; read when messages name media."""

from collections.abc import Iterable, Mapping
from typing import Any, LiteralString

from schemas.content import MediaView
from shared.db import Connection, Read
from shared.domain.subjects import Subject

_KNOWN: LiteralString = """
SELECT media_id, type, security_status, checksum, recognized_text, created_at, updated_at FROM media
WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND media_id = ANY(%(ids)s)
"""


def load_known(subject: Subject, media_ids: Iterable[str]) -> Read[dict[str, MediaView]]:
    """The registered ones of the media, by id."""
    params = {**subject.params, "ids": list(media_ids)}
    return Read(_KNOWN, params, lambda rows: {row["media_id"]: MediaView(**row) for row in rows})


_PUT: LiteralString = """
INSERT INTO media AS m (tenant_id, user_id, media_id, type, security_status, checksum, recognized_text)
VALUES (%(tenant)s, %(user)s, %(media)s, %(type)s, %(status)s, %(checksum)s, %(text)s)
ON CONFLICT (tenant_id, user_id, media_id) DO UPDATE SET security_status = excluded.security_status,
    checksum = coalesce(excluded.checksum, m.checksum),
    recognized_text = coalesce(excluded.recognized_text, m.recognized_text), updated_at = now()
WHERE m.type = excluded.type AND (m.checksum = excluded.checksum) IS NOT FALSE
RETURNING media_id, type, security_status, checksum, recognized_text, created_at, updated_at
"""


async def put(conn: Connection, subject: Subject, media_id: str, state: Mapping[str, Any]) -> MediaView | None:
    """The media after the change; None if its id is registered with another type or checksum."""
    row = await (await conn.execute(_PUT, {**subject.params, "media": media_id, **state})).fetchone()
    return MediaView(**row) if row else None
