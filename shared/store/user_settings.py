"""user_settings, tenant_settings: what a user or a tenant has chosen of how memory works for them. Written by compose.

Every change is notified when it is committed: a process that keeps what it has read reads it again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, LiteralString

import orjson

from shared.clock import uuid7
from shared.db import Connection, Read
from shared.domain.subjects import Subject
from shared.store import operator_acts

CHANNEL = "smartbrain_settings"
"""Each change is notified here by its transaction: tenant and user, or tenant and nobody."""
OF_TENANT = ""
"""In the place of a user: the tenant itself. No user has this name."""
CHANGED = "settings_changed"


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """What the tenant and what the user has chosen."""

    tenant: Mapping[str, Any] = field(default_factory=dict[str, Any])
    user: Mapping[str, Any] = field(default_factory=dict[str, Any])


_LOAD: LiteralString = """
SELECT (SELECT chosen FROM tenant_settings WHERE tenant_id = %(tenant)s) AS tenant,
    (SELECT chosen FROM user_settings WHERE tenant_id = %(tenant)s AND user_id = %(user)s) AS user_
"""


def load(owner: Subject) -> Read[ChosenSettings]:
    """What was chosen of this user and of their tenant."""
    return Read(_LOAD, owner.params, lambda rows: ChosenSettings(rows[0]["tenant"] or {}, rows[0]["user_"] or {}))


_KEEP_USER: LiteralString = """
INSERT INTO user_settings AS s (tenant_id, user_id, chosen) VALUES (%(tenant)s, %(user)s, %(chosen)s::jsonb)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET chosen = (s.chosen || excluded.chosen) - %(dropped)s::text[],
    changed_at = now(), epoch = current_setting('app.epoch')::integer
"""
_KEEP_TENANT: LiteralString = """
INSERT INTO tenant_settings AS s (tenant_id, chosen) VALUES (%(tenant)s, %(chosen)s::jsonb)
ON CONFLICT (tenant_id) DO UPDATE SET chosen = (s.chosen || excluded.chosen) - %(dropped)s::text[], changed_at = now()
"""
_NOTIFY: LiteralString = "SELECT pg_notify(%(channel)s, %(whose)s)"


async def change(conn: Connection, owner: Subject, changes: Mapping[str, Any], changed_by: str) -> None:
    """The named settings are chosen so, or not chosen any more where they are null; it is on record and notified."""
    params = {
        **owner.params,
        "chosen": orjson.dumps({name: value for name, value in changes.items() if value is not None}).decode(),
        "dropped": [name for name, value in changes.items() if value is None],
    }
    await conn.execute(_KEEP_TENANT if owner.user_id == OF_TENANT else _KEEP_USER, params)
    details = {"changed": dict(changes), "by": changed_by}
    await operator_acts.put(conn, owner, f"settings:{uuid7()}", CHANGED, details)
    whose = orjson.dumps([owner.tenant_id, owner.user_id]).decode()
    await conn.execute(_NOTIFY, {"channel": CHANNEL, "whose": whose})
