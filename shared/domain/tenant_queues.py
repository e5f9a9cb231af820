"""Whose turns wait in the outbox, and who else is about."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TenantQueue:
    """A tenant of which turns wait: how many, counted only so far, and how many of its turns the workers have.

    `rested`: none of its turns was published in the last moment.
    """

    tenant_id: str
    waiting: int
    under_way: int
    rested: bool


@dataclass(frozen=True)
class TenantQueues:
    """The tenants that wait, and tenants of which a turn was published lately: enough to see whether another is.

    `busy`: those of them of which a turn that was published in the last moment is under way.
    """

    waiting: tuple[TenantQueue, ...]
    about: frozenset[str]
    busy: frozenset[str]
