"""Identifies requesters over HTTP and Kafka, and checks the owner that a body names. The header of a request has a key
or a token of an issuer; a record is signed with a key.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from cachetools import TTLCache
from pydantic import BaseModel

from schemas.topics import Topic
from shared import clock, parsing
from shared.access.loopback import is_loopback
from shared.access.refusals import HEADER, refuse_denied, refuse_stranger
from shared.access.secrets import KeyText, fits, hash_secret, parse_key
from shared.access.tokens import TokenCheck
from shared.db import KEYS, Connection, Database
from shared.domain.signatures import HOUSE, SIGNATURE, SIGNED_MS, SentRecord, is_signed_with
from shared.domain.subjects import (
    LOCAL,
    Denial,
    Requester,
    Subject,
    find_name_denial,
    find_owner_denial,
    find_scope_denial,
    find_tenant_denial,
    find_user_denial,
)
from shared.errors import ConfigurationError
from shared.policy import AccessPolicy
from shared.single_flight import SingleFlight
from shared.store import api_keys
from shared.store.api_keys import ApiKey

MOST_KEYS = 10_000
NOBODY = hash_secret("")
"""A dummy hash for unknown keys, so that they take as long as known ones."""
Found = TypeVar("Found")
_ANY = "whether a key was ever made"


class KeptReads(Generic[Found]):
    """What was read from the database, for a time, and what is being read."""

    def __init__(self, most: int, keep_s: float, monotonic: Callable[[], float]) -> None:
        self.kept = TTLCache[str, tuple[Found]](most, keep_s, monotonic)
        self.under_way = SingleFlight[tuple[str, int], Found]()


class Authenticator:
    """Identifies requesters. If only this machine can reach it, no key is required until one exists or an issuer is
    configured. Cached keys are at most `key_cache_s` old, and dropped when a change is notified; while the connection
    for notifications is broken, keys are read for every request.
    """

    def __init__(
        self, db: Database, policy: AccessPolicy, host: str, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._db = db
        self._tokens = TokenCheck(policy.issuers)
        self._may_be_open = is_loopback(host) and not policy.issuers
        self._keys = KeptReads[ApiKey | None](MOST_KEYS, policy.key_cache_s, monotonic)
        self._any_key = KeptReads[bool](1, policy.key_cache_s, monotonic)
        self._house = KeptReads[str](1, policy.key_cache_s, monotonic)
        self._trusts_kafka = policy.kafka == "trusted"
        self._changes = 0
        self._deaf = False

    async def identify(self, header: str | None) -> Requester:
        """The requester; RefusedError 401 if unknown."""
        if header is None:
            if await self.is_open():
                return LOCAL
            raise refuse_stranger("is missing; send `Authorization: Bearer` with a key")
        kind, _, given = header.partition(" ")
        if kind.lower() != "bearer" or not given.strip():
            raise refuse_stranger("must be `Bearer` and a key")
        key = parse_key(given.strip())
        return await self._identify_key(key) if key else await self._tokens.identify(given.strip())

    async def identify_sender(self, sent: SentRecord) -> Requester:
        """The sender of the record, by its signature; RefusedError 401 if unknown."""
        if not (sent.key_id or sent.headers.get(SIGNATURE)):
            if self._trusts_kafka or await self.is_open():
                return LOCAL
            raise refuse_stranger("is missing; sign the record with a key", SIGNATURE)
        if sent.signed_ms is None:
            raise refuse_stranger("is missing, or not a time in milliseconds", SIGNED_MS)
        if sent.key_id == HOUSE:
            if is_signed_with(sent, await self._find_house_hash()):
                return LOCAL
            raise refuse_stranger("is not a signature of SmartBrain's own services", SIGNATURE)
        key = await self._find_key(sent.key_id)
        return _admit_holder(key, partial(is_signed_with, sent), SIGNATURE)

    async def is_open(self) -> bool:
        """Whether no key is required: only this machine can reach it, and there is neither a key nor an issuer yet."""
        return self._may_be_open and not await self._has_any_key()

    async def listen(self) -> None:
        """Listens for changes of keys until cancelled."""
        await self._db.follow(KEYS, self.forget, self.note_deaf)

    def note_deaf(self) -> None:
        """Clears the cache, because notifications have stopped."""
        self.forget(None)
        self._deaf = True

    def forget(self, key_id: str | None) -> None:
        """Drops the key, or all keys, from the cache; reads in progress are not cached either."""
        self._changes += 1
        self._deaf = False
        self._any_key.kept.clear()
        if key_id is None:
            self._keys.kept.clear()
        else:
            self._keys.kept.pop(key_id, None)

    async def _identify_key(self, given: KeyText) -> Requester:
        return _admit_holder(await self._find_key(given.key_id), partial(fits, given.secret), HEADER)

    async def _find_house_hash(self) -> str:
        return await self._find(self._house, HOUSE, api_keys.find_house_hash, changes=None)

    async def _find_key(self, key_id: str) -> ApiKey | None:
        return await self._find(self._keys, key_id, lambda conn: api_keys.find(conn, key_id), changes=self._changes)

    async def _has_any_key(self) -> bool:
        return await self._find(self._any_key, _ANY, api_keys.has_any, changes=self._changes)

    async def _find(
        self,
        reads: "KeptReads[Found]",
        what: str,
        look: Callable[[Connection], Awaitable[Found]],
        *,
        changes: int | None,
    ) -> Found:
        """The kept value, or it is read once for all waiting requests, but not for requests after a change."""
        if kept := reads.kept.get(what):
            return kept[0]

        async def ask() -> Found:
            async with self._db.system_single() as conn:
                return await look(conn)

        asked = what, changes or 0
        value = await asyncio.shield(
            reads.under_way.find(asked) or reads.under_way.start(asked, ask(), name="read a key")
        )
        # else some key has changed since it was asked for, perhaps this one
        if changes is None or (changes == self._changes and not self._deaf):
            reads.kept[what] = (value,)
        return value


def _admit_holder(key: ApiKey | None, proves: Callable[[str], bool], header: str) -> Requester:
    """The holder of the key, checked against the stored hash; RefusedError 401."""
    now = clock.now()
    by_newest = proves(key.secret_hash if key else NOBODY)
    by_former = proves((key and key.former_hash) or NOBODY)
    if key is None or not (by_newest or (by_former and key.accepts_former_secret(now))):
        raise refuse_stranger("the key is not known", header)
    if key.revoked_at is not None:
        raise refuse_stranger("the key was revoked", header)
    if now >= key.ends_at:
        raise refuse_stranger(f"the key expired on {key.ends_at.date()}", header)
    return key.requester


async def refuse_unguarded(db: Database, policy: AccessPolicy, host: str) -> None:
    """Raises ConfigurationError if others could reach compose and neither a key nor an issuer exists."""
    if is_loopback(host) or policy.issuers:
        return
    async with db.system() as conn:
        if not await api_keys.has_usable(conn):
            raise ConfigurationError(
                f"compose would listen without a key on {host or 'every address'}: create a key with "
                "`smartbrain keys create`, name an issuer (access.issuers in brain.yml), or leave"
                " SMARTBRAIN_HTTP_HOST at 127.0.0.1"
            )


async def require_guard(dsn: str, policy: AccessPolicy, host: str) -> bool:
    """Whether requests need a key; ConfigurationError as in `refuse_unguarded`."""
    async with Database(dsn, size=1) as db:
        await refuse_unguarded(db, policy, host)
        return not await Authenticator(db, policy, host).is_open()


Model = TypeVar("Model", bound=BaseModel)
CLAIMS: Mapping[str, Callable[[Requester, str], Denial | None]] = {
    "tenant_id": find_tenant_denial,
    "user_id": find_user_denial,
    "requested_by": find_name_denial,
}
"""The fields of a body that name owner and requester, and their checks."""


def apply_key(requester: Requester, model: type[BaseModel], raw: dict[str, Any]) -> dict[str, Any]:
    """The body with tenant and name of the key filled in; RefusedError 403 if it names others."""
    body = parsing.unwrap_turn(raw)
    for name, find_denial in CLAIMS.items():
        if isinstance(claim := body.get(name), str) and (denial := find_denial(requester, claim)):
            raise refuse_denied(denial)
    of_key = {"tenant_id": requester.tenant_id, "requested_by": requester.name or None}
    missing = {name: value for name, value in of_key.items() if value and body.get(name) is None}
    return {**raw, **{name: value for name, value in missing.items() if name in model.model_fields}}


def find_owner(requester: Requester, message: BaseModel) -> Subject | None:
    """The user in the message, if any. RefusedError 403 if the requester may not act for that user or tenant."""
    tenant_id, user_id = getattr(message, "tenant_id", None), getattr(message, "user_id", None)
    if tenant_id is None:
        return None
    if denial := find_owner_denial(requester, tenant_id, user_id):
        raise refuse_denied(denial)
    return None if user_id is None else Subject(tenant_id, user_id)


def read_record(requester: Requester, topic: Topic, model: type[Model], body: bytes) -> tuple[Model, tuple[str, ...]]:
    """The message of a record and its ignored fields; RefusedError 403 as over HTTP, 422 and 413. A record without a
    tenant belongs to the tenant `default`, whatever its key, because an erasure finds it by its content.
    """
    if denial := find_scope_denial(requester, topic.scope_of(model)):
        raise refuse_denied(denial)
    raw = parsing.read_object(body)
    if requester.tenant_id is not None and parsing.unwrap_turn(raw).get("tenant_id") is None:
        raw = {**raw, "tenant_id": model.model_fields["tenant_id"].default}
    message, ignored = parsing.validate(model, apply_key(requester, model, raw))
    find_owner(requester, message)
    return message, ignored
