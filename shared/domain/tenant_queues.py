"""Whose turns wait in the outbox, and who else is about."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TenantQueue:
    """A tenant of which turns wait: how many, counted only so far, and how many of its turns the workers have.

    `rested_s`: for how many seconds none of its turns was published.
    """

    tenant_id: str
    waiting: int
    under_way: int
    rested_s: float


@dataclass(frozen=True)
class TenantQueues:
    """The tenants that wait, and tenants of which a turn was published lately: enough to see whether another is.

    `recent`: those of them of which a turn was published in the last moment; `busy`: how many turns that were are under
    way still, of tenants of which few wait. `crowding`: of which more turns are under way where all wait for each other
    than others shall wait for; two of them show whether another does.
    """

    waiting: tuple[TenantQueue, ...]
    about: frozenset[str]
    recent: frozenset[str]
    busy: int
    crowding: frozenset[str] = frozenset()
