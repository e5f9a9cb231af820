"""The fence: separates observations that an erasure covers from those that may be written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from schemas.events import EvolutionBlockedByErasure
from shared.db import Connection
from shared.domain.observations import ObservationRow
from shared.domain.subjects import Subject
from shared.erasure import rules
from shared.resolution.from_rows import statement_of
from shared.store.erasure import tombstones
from shared.store.erasure.tombstones import SuppressionProbe, Tombstone


@dataclass(frozen=True)
class Fence:
    """`waiting` observations are covered by an erasure that is under way: they are settled after it. `barred` ones say
    again, in a turn from before an erasure, what it has erased: they are never written.
    """

    waiting: Mapping[UUID, EvolutionBlockedByErasure] = field(default_factory=dict[UUID, EvolutionBlockedByErasure])
    barred: Mapping[UUID, EvolutionBlockedByErasure] = field(default_factory=dict[UUID, EvolutionBlockedByErasure])


OPEN = Fence()


async def of(conn: Connection, subject: Subject, due: Sequence[ObservationRow]) -> Fence:
    """Where these observations stand; the caller holds the transaction in which they would be written."""
    if not due:
        return OPEN
    under_way = [each for each in await tombstones.in_force(conn, subject) if rules.is_fenced(each.status)]
    waiting = {seen.observation_id: to_blocked(seen, each) for seen in due if (each := find_covering(seen, under_way))}
    probes = [
        SuppressionProbe(seen.observation_id, seen.turn_id, statement_of(seen).sense)
        for seen in due
        if seen.observation_id not in waiting
    ]
    # asked of the hashes themselves: a rebuild has these, and no tombstones
    barred = await tombstones.find_suppressed(conn, subject, probes)
    blocked = {
        id: EvolutionBlockedByErasure(observation_id=id, reason="erased", tombstone_id=tombstone, epoch=epoch)
        for id, (tombstone, epoch) in barred.items()
    }
    return Fence(waiting, blocked)


def find_covering(seen: ObservationRow, under_way: Sequence[Tombstone]) -> Tombstone | None:
    return next((each for each in under_way if each.covers(seen.session_id)), None)


def to_blocked(seen: ObservationRow, by: Tombstone) -> EvolutionBlockedByErasure:
    return EvolutionBlockedByErasure(
        observation_id=seen.observation_id, reason=by.status, tombstone_id=by.tombstone_id, epoch=by.epoch
    )
