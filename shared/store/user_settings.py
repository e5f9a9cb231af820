"""user_settings, tenant_settings: choices of users and tenants about their memory. Written by compose.

Every change is notified on commit, so that processes refresh their caches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, LiteralString
from uuid import UUID

import orjson

from shared.clock import now
from shared.db import Connection, Read
from shared.domain.subjects import Subject
from shared.store.operator_acts import Operator, note_act

CHANNEL = "smartbrain_settings"
"""The channel of change notifications: tenant and user, or tenant and nobody."""
OF_TENANT = ""
"""Represents the tenant itself in place of a user; no user has this name."""
CHANGED = "settings_changed"
IN_WORDS = "words"
"""The actor in the audit of setting changes."""
LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """The choices of the tenant and of the user."""

    tenant: Mapping[str, Any] = field(default_factory=dict[str, Any])
    user: Mapping[str, Any] = field(default_factory=dict[str, Any])
    when: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Of the user's settings by name: `at`, and `turn_id` if a message stated it."""

    def find_since(self, name: str) -> datetime:
        """The time of the user's current choice of the setting, or of its removal."""
        told = self.when.get(name)
        return datetime.fromisoformat(told["at"]) if told else LONG_AGO

    def find_turn(self, name: str) -> UUID | None:
        """The turn whose message stated the setting."""
        told = self.when.get(name, {}).get("turn_id")
        return UUID(told) if told else None


_LOAD: LiteralString = """
SELECT (SELECT chosen FROM tenant_settings WHERE tenant_id = %(tenant)s) AS tenant,
    (SELECT jsonb_build_object('chosen', chosen, 'when', CASE WHEN chosen ? 'learning' THEN
            jsonb_build_object('learning', jsonb_build_object('at', changed_at)) ELSE '{}' END || chosen_when)
        FROM user_settings WHERE tenant_id = %(tenant)s AND user_id = %(user)s) AS user_
"""


def load(owner: Subject) -> Read[ChosenSettings]:
    """The choices of this user and of their tenant."""
    return Read(_LOAD, owner.params, _to_settings)


def _to_settings(rows: Sequence[Mapping[str, Any]]) -> ChosenSettings:
    own: Mapping[str, Any] = rows[0]["user_"] or {}
    return ChosenSettings(rows[0]["tenant"] or {}, own.get("chosen", {}), own.get("when", {}))


_KEEP_USER: LiteralString = """
INSERT INTO user_settings AS s (tenant_id, user_id, chosen, chosen_when)
VALUES (%(tenant)s, %(user)s, %(chosen)s::jsonb, %(when)s::jsonb)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET chosen = (s.chosen || excluded.chosen) - %(dropped)s::text[],
    chosen_when = s.chosen_when || excluded.chosen_when, changed_at = now(),
    epoch = current_setting('app.epoch')::integer
"""
_KEEP_TENANT: LiteralString = """
INSERT INTO tenant_settings AS s (tenant_id, chosen) VALUES (%(tenant)s, %(chosen)s::jsonb)
ON CONFLICT (tenant_id) DO UPDATE SET chosen = (s.chosen || excluded.chosen) - %(dropped)s::text[], changed_at = now()
"""
_NOTIFY: LiteralString = "SELECT pg_notify(%(channel)s, %(whose)s)"


async def change(conn: Connection, owner: Subject, changes: Mapping[str, Any], by: Operator) -> None:
    """Sets the named settings, or removes those that are null; audits and notifies the change."""
    params = {
        **owner.params,
        "chosen": orjson.dumps({name: value for name, value in changes.items() if value is not None}).decode(),
        "dropped": [name for name, value in changes.items() if value is None],
        "when": orjson.dumps({name: {"at": now()} for name in changes}).decode(),
    }
    await conn.execute(_KEEP_TENANT if owner.user_id == OF_TENANT else _KEEP_USER, params)
    await _tell(conn, owner, by, {"changed": dict(changes)})


_SAY: LiteralString = """
INSERT INTO user_settings AS s (tenant_id, user_id, chosen, chosen_when)
VALUES (%(tenant)s, %(user)s, jsonb_build_object('learning', %(learning)s::boolean),
    jsonb_build_object('learning', jsonb_build_object('at', %(at)s::timestamptz, 'turn_id', %(turn)s::text)))
ON CONFLICT (tenant_id, user_id) DO UPDATE SET chosen = s.chosen || excluded.chosen,
    chosen_when = s.chosen_when || excluded.chosen_when, changed_at = now(),
    epoch = current_setting('app.epoch')::integer
WHERE coalesce((s.chosen_when -> 'learning' ->> 'at')::timestamptz,
    CASE WHEN s.chosen ? 'learning' THEN s.changed_at END, '-infinity') <= %(at)s
"""


async def say_learning(conn: Connection, owner: Subject, learning: bool, turn_id: str, at: datetime) -> None:
    """Sets whether anything is learnt from the user, as a message of the turn states; a later choice stays."""
    params = {**owner.params, "learning": learning, "turn": turn_id, "at": at}
    if (await conn.execute(_SAY, params)).rowcount:
        await _tell(conn, owner, Operator(IN_WORDS), {"changed": {"learning": learning}, "turn_id": turn_id})


async def _tell(conn: Connection, owner: Subject, by: Operator, details: Mapping[str, Any]) -> None:
    """Audits the change, and notifies it on commit."""
    await note_act(conn, owner, "settings", CHANGED, by, details)
    whose = orjson.dumps([owner.tenant_id, owner.user_id]).decode()
    await conn.execute(_NOTIFY, {"channel": CHANNEL, "whose": whose})
