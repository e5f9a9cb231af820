"""States, deadlines and alerts of erasures. Pure."""

from collections.abc import Collection
from datetime import date, datetime, timedelta
from typing import Literal

from schemas.vocabulary import TombstoneStatus
from shared import workdays
from shared.policy import ErasurePolicy, LegalProfile

Level = Literal["none", "warn", "critical", "overdue"]

NEXT: dict[TombstoneStatus, frozenset[TombstoneStatus]] = {
    "requested": frozenset({"verified", "escalated"}),
    "verified": frozenset({"tombstoned", "escalated"}),
    "tombstoned": frozenset({"queued", "escalated"}),
    "queued": frozenset({"processing", "escalated"}),
    "processing": frozenset({"completed", "failed", "escalated"}),
    "failed": frozenset({"retry_pending", "escalated"}),
    "retry_pending": frozenset({"processing", "escalated"}),
    "escalated": frozenset({"processing"}),
    "completed": frozenset(),
}
"""The allowed transitions. Escalation follows a passed deadline, and from `retry_pending` also used up attempts; only
an operator can end it."""


def may(before: TombstoneStatus, after: TombstoneStatus) -> bool:
    """Whether a tombstone in the one state may become the other."""
    return after in NEXT[before]


def is_fenced(status: TombstoneStatus) -> bool:
    """Whether nothing may be learnt from what the tombstone covers: always, until the erasure is completed."""
    return status != "completed"


def backoff(attempts: int, policy: ErasurePolicy) -> timedelta:
    """The pause after so many failed attempts, the first of which is 1; the last one repeats."""
    return timedelta(seconds=policy.retry_after_s[min(max(attempts, 1), len(policy.retry_after_s)) - 1])


def is_exhausted(attempts: int, policy: ErasurePolicy) -> bool:
    """Whether the attempts are used up."""
    return attempts > policy.attempts_max


def deadline(requested_at: datetime, profile: LegalProfile, holidays: Collection[date] = ()) -> datetime:
    """The deadline of the profile, at the time of day of the request. The day of the request does not count. Days begin
    and end in the zone of `requested_at`.
    """
    if profile.type == "calendar":
        return requested_at + timedelta(days=profile.days)
    last = workdays.add_workdays(requested_at.date(), profile.days, profile.calendar, holidays)
    return datetime.combine(last, requested_at.timetz())


def share_remaining(requested_at: datetime, deadline_at: datetime, now: datetime) -> float:
    """The remaining share of the time from request to deadline, below 0 after it. It counts calendar time in every
    profile, so that alerts are not late because of a weekend.
    """
    whole = (deadline_at - requested_at).total_seconds()
    return (deadline_at - now).total_seconds() / whole if whole > 0 else float(now < deadline_at)


def level(left: float, profile: LegalProfile) -> Level:
    """The alert at this remaining share: none, a ticket, a page; at 0 the deadline has passed."""
    if left <= 0:
        return "overdue"
    if left * 100 < profile.critical_pct:
        return "critical"
    return "warn" if left * 100 < profile.warn_pct else "none"
