"""Erasures from outside the database: rows of another one, events of `erasure.requested`, lines of a file."""

from collections.abc import AsyncIterable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from pydantic import TypeAdapter, ValidationError

from schemas.events import ErasureRequested
from shared.bus.delivery import Delivered, Record, parse
from shared.domain.subjects import Subject
from shared.erasure import rules
from shared.erasure.request import history
from shared.errors import ConfigurationError, PoisonError
from shared.policy import ErasurePolicy
from shared.store.erasure.tombstones import Tombstone

_TOMBSTONE: TypeAdapter[Tombstone] = TypeAdapter(Tombstone)
BY_TOPIC = "unknown: read from the topic"
"""The requester if only the event is left."""


@dataclass(frozen=True)
class KnownErasure:
    """A requested erasure, from any source."""

    subject: Subject
    tombstone: Tombstone


@dataclass
class Ledger:
    """Erasures by id, and the number from each source; the first source of an id counts."""

    known: dict[UUID, KnownErasure] = field(default_factory=dict[UUID, KnownErasure])
    sources: dict[str, int] = field(default_factory=dict[str, int])
    unreadable: int = 0

    def add(self, source: str, found: Iterable[KnownErasure]) -> None:
        """These too."""
        count = 0
        for count, each in enumerate(found, 1):  # noqa: B007 # how many there were
            self.known.setdefault(each.tombstone.tombstone_id, each)
        self.sources[source] = count

    def in_order(self) -> list[KnownErasure]:
        """As they were asked for."""
        return sorted(self.known.values(), key=lambda each: (each.tombstone.requested_at, each.tombstone.tombstone_id))


def of_row(row: Mapping[str, Any]) -> KnownErasure:
    """An erasure from a row of `tombstones` or its JSON; ConfigurationError names an invalid field."""
    try:
        return KnownErasure(Subject(str(row["tenant_id"]), str(row["user_id"])), _TOMBSTONE.validate_python(dict(row)))
    except KeyError as error:
        raise ConfigurationError(f"not an erasure: no {error.args[0]}") from error
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise ConfigurationError(f"not an erasure: {where}: {problem['msg']}") from error


def of_lines(text: str) -> list[KnownErasure]:
    """The erasures of a file, one JSON object per line; ConfigurationError names the first invalid line."""
    erasures: list[KnownErasure] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
            if not isinstance(row, dict):
                raise ConfigurationError("not an erasure: no object")
            erasures.append(of_row(row))  # pyright: ignore[reportUnknownArgumentType] # checked field by field
        except (orjson.JSONDecodeError, ConfigurationError) as error:
            raise ConfigurationError(f"line {number}: {error}") from error
    return erasures


def as_line(row: Mapping[str, Any]) -> bytes:
    """A row of `tombstones` as a line of such a file."""
    return orjson.dumps(dict(row)) + b"\n"


def of_event(event: Delivered, policy: ErasurePolicy) -> KnownErasure:
    """The erasure from its event; requester and idempotency key were lost with the database."""
    wish = event.read(ErasureRequested)
    profile = policy.profiles.get(wish.retention_policy) or policy.profiles[policy.profile]
    tombstone = Tombstone(
        tombstone_id=wish.tombstone_id,
        scope=wish.scope,
        session_ids=wish.session_ids,
        memory_ids=wish.item_ids,
        status="queued",
        requested_by=BY_TOPIC,
        reason=None,
        idempotency_key=event.envelope.idempotency_key,
        profile=wish.retention_policy,
        epoch=wish.epoch,
        item_count=0,
        row_count=0,
        attempts=0,
        error=None,
        history=history(event.envelope.occurred_at),
        proof=None,
        requested_at=wish.requested_at,
        deadline_at=rules.deadline(wish.requested_at, profile, policy.holidays),
        next_try_at=event.envelope.occurred_at,
    )
    return KnownErasure(event.subject, tombstone)


async def of_topic(records: AsyncIterable[Record], policy: ErasurePolicy, ledger: Ledger) -> None:
    """Adds the erasures of the topic to the ledger; unreadable records are counted."""
    erasures: list[KnownErasure] = []
    async for record in records:
        try:
            event = parse(record)
        except PoisonError:
            ledger.unreadable += 1
            continue
        if isinstance(event.payload, ErasureRequested):
            erasures.append(of_event(event, policy))
        else:
            ledger.unreadable += 1
    ledger.add("topic", erasures)
    ledger.sources["topic"] = len({each.tombstone.tombstone_id for each in erasures})
