"""api_keys: requesters and their rights, by the hash of a secret. Written by `smartbrain keys`, read by compose.

Every change is notified on commit, so that processes refresh their caches.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString

from psycopg.rows import DictRow

from schemas.vocabulary import AccessScope
from shared.db import KEYS, Connection
from shared.domain.subjects import Requester
from shared.errors import TransientError


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A stored key, without its secret."""

    tenant_id: str
    key_id: str
    name: str
    only_user: str | None
    only_users_from: str | None
    scopes: tuple[AccessScope, ...]
    secret_hash: str
    ends_at: datetime
    created_at: datetime | None = None
    former_hash: str | None = None
    former_until: datetime | None = None
    rotated_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def requester(self) -> Requester:
        """The requester: the key's only user, or the key's name."""
        name = f"key:{self.name}" if self.only_user is None else self.only_user
        return Requester(name, frozenset(self.scopes), self.tenant_id, self.only_user, self.only_users_from)

    def accepts_former_secret(self, at: datetime) -> bool:
        """Whether the secret from before the last rotation is still valid."""
        return self.former_until is not None and at < self.former_until

    def is_usable(self, at: datetime) -> bool:
        """Whether the key is valid now."""
        return self.revoked_at is None and at < self.ends_at


_COLUMNS: LiteralString = (
    "tenant_id, key_id, name, only_user, only_users_from, scopes, secret_hash, ends_at, created_at, former_hash,"
    " former_until, rotated_at, revoked_at"
)
_FIND: LiteralString = f"SELECT {_COLUMNS} FROM api_keys WHERE key_id = %(key_id)s"
_LIST: LiteralString = f"""
SELECT {_COLUMNS} FROM api_keys WHERE (%(tenant)s::text IS NULL OR tenant_id = %(tenant)s)
ORDER BY tenant_id, name, created_at
"""
_CREATE: LiteralString = """
INSERT INTO api_keys (tenant_id, key_id, name, only_user, only_users_from, scopes, secret_hash, ends_at)
VALUES (%(tenant_id)s, %(key_id)s, %(name)s, %(only_user)s, %(only_users_from)s, %(scopes)s, %(secret_hash)s,
    %(ends_at)s)
"""
_REVOKE: LiteralString = "UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE key_id = %(key_id)s"
_ROTATE: LiteralString = """
UPDATE api_keys SET secret_hash = %(hash)s, rotated_at = now(),
    former_hash = CASE WHEN %(overlap)s > interval '0' THEN secret_hash END,
    former_until = CASE WHEN %(overlap)s > interval '0' THEN now() + %(overlap)s END
WHERE key_id = %(key_id)s AND revoked_at IS NULL AND ends_at > now()
"""
_USABLE: LiteralString = "SELECT FROM api_keys WHERE revoked_at IS NULL AND ends_at > now() LIMIT 1"
_NOTIFY: LiteralString = "SELECT pg_notify(%(channel)s, %(key_id)s)"


async def find(conn: Connection, key_id: str) -> ApiKey | None:
    """The key with this id, revoked and expired ones included."""
    row = await (await conn.execute(_FIND, {"key_id": key_id})).fetchone()
    return _to_key(row) if row else None


async def list_keys(conn: Connection, tenant_id: str | None = None) -> list[ApiKey]:
    """All keys, or those of a tenant, revoked ones included."""
    rows = await (await conn.execute(_LIST, {"tenant": tenant_id})).fetchall()
    return [_to_key(row) for row in rows]


async def find_house_hash(conn: Connection) -> str:
    """The key with which services sign records on topics that clients write."""
    row = await (await conn.execute("SELECT secret_hash FROM house_secret")).fetchone()
    if row is None:
        raise TransientError("the internal signing key is missing")
    return row["secret_hash"]


async def has_any(conn: Connection) -> bool:
    """Whether any key was ever created."""
    return await (await conn.execute("SELECT FROM api_keys LIMIT 1")).fetchone() is not None


async def has_usable(conn: Connection) -> bool:
    """Whether any key is valid now."""
    return await (await conn.execute(_USABLE)).fetchone() is not None


async def create(conn: Connection, key: ApiKey) -> None:
    """Stores the key, which is valid from the end of this transaction."""
    await conn.execute(_CREATE, {**asdict(key), "scopes": list(key.scopes)})
    await _notify(conn, key.key_id)


async def revoke(conn: Connection, key_id: str) -> None:
    """Revokes the key permanently; a repeated call changes nothing."""
    await conn.execute(_REVOKE, {"key_id": key_id})
    await _notify(conn, key_id)


async def rotate(conn: Connection, key_id: str, secret_hash: str, overlap: timedelta) -> bool:
    """Replaces the key's secret; the old one stays valid for the overlap. False if the key is not valid."""
    changed = await conn.execute(_ROTATE, {"key_id": key_id, "hash": secret_hash, "overlap": overlap})
    await _notify(conn, key_id)
    return changed.rowcount > 0


async def _notify(conn: Connection, key_id: str) -> None:
    await conn.execute(_NOTIFY, {"channel": KEYS, "key_id": key_id})


def _to_key(row: DictRow) -> ApiKey:
    fields: dict[str, Any] = {**row, "scopes": tuple(row["scopes"])}
    return ApiKey(**fields)
