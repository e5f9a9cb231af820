"""API keys for tests, created as `smartbrain keys` creates them."""

from collections.abc import Iterable
from datetime import timedelta
from uuid import uuid4

from schemas.vocabulary import AccessScope
from shared import clock
from shared.access.secrets import KeyText, hash_secret, make_key_id, make_secret
from shared.db import Database
from shared.domain.subjects import SCOPES
from shared.store import api_keys
from shared.store.api_keys import ApiKey

Headers = dict[str, str]


async def add_key(
    db: Database,
    tenant_id: str,
    *,
    scopes: Iterable[AccessScope] = SCOPES,
    user: str | None = None,
    users_from: str | None = None,
    days: float = 1,
    name: str | None = None,
) -> KeyText:
    """The key, with a unique name unless one is given."""
    text = KeyText(make_key_id(), make_secret())
    ends_at = clock.now() + timedelta(days=days)
    called = name or uuid4().hex[:12]
    key = ApiKey(tenant_id, text.key_id, called, user, users_from, tuple(scopes), hash_secret(text.secret), ends_at)
    async with db.system() as conn:
        await api_keys.create(conn, key)
    return text


def with_key(key: KeyText | str) -> Headers:
    """The header with the key."""
    return {"authorization": f"Bearer {key}"}
