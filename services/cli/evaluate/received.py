"""The confidence of a statement under simulated reception: the evolver's rules and a simulated person. Pure. The
simulation knows which statement is correct; the rules see only the reactions. A correct memory is confirmed or used in
silence, a wrong one is corrected; at fixed rates people say nothing, or the opposite.
"""

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from schemas.events import FeedbackRecorded
from services.cli.evaluate.stated import Stated
from services.evolver import rules
from services.evolver.rules import due
from shared.domain.decay import MemoryStats
from shared.policy import Policy

AT = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ReceptionModel:
    """How memories are received: packages each, a round of upkeep after so many of them, and the rates of noise."""

    packages: int = 20
    round_every: int = 5
    silent: float = 0.3
    mistaken: float = 0.05
    seed: int = 11


@dataclass(frozen=True, slots=True)
class After:
    """A statement after all receptions; a hidden one is no longer used."""

    stated: Stated
    shown: bool


def simulate_receptions(stated: Sequence[Stated], how: ReceptionModel, policy: Policy) -> tuple[After, ...]:
    """The statements with their confidence after receptions and upkeep."""
    dice = random.Random(how.seed)  # noqa: S311 # a person, not a secret
    return tuple(simulate_reception(n, each, how, policy, dice) for n, each in enumerate(stated))


def simulate_reception(number: int, stated: Stated, how: ReceptionModel, policy: Policy, dice: random.Random) -> After:
    stats = to_stats(number, stated)
    for package in range(1, how.packages + 1):
        if not stats.shown:
            break
        for feedback in draw_feedback(stats, stated.right, how, dice):
            effect = asdict(rules.effect_of(feedback))
            stats = due.apply_job(stats, "feedback", {"effect": effect, "told_at": AT.isoformat()}, AT, policy)
        if fused := due.fuse(stats, policy):
            stats = due.apply_job(stats, fused.job, fused.detail, AT, policy)
        if package % how.round_every == 0:
            stats = _round(stats, policy)
    return After(replace(stated, confidence=stats.confidence), stats.shown)


def draw_feedback(kept: MemoryStats, right: bool, how: ReceptionModel, dice: random.Random) -> list[FeedbackRecorded]:
    """The answer used it; then the next message says so, or the opposite, or nothing."""
    used = FeedbackRecorded(
        memory_ids=(kept.memory_id,), judged_by="reply", utilized=True, utilization_signal="keyword_match"
    )
    if dice.random() < how.silent:
        return [used]
    praised = right != (dice.random() < how.mistaken)
    said = used.model_copy(
        update={"judged_by": "message", "signal": "positive_confirm" if praised else "correction"},
    )
    return [used, said]


def _round(stats: MemoryStats, policy: Policy) -> MemoryStats:
    """Applies all due changes, as in a round of upkeep."""
    while stats.status == "active" and (wish := due.decide_due(stats, AT, policy)) is not None:
        stats = due.apply_job(stats, wish.job, wish.detail, AT, policy)
    return stats


def to_stats(number: int, stated: Stated) -> MemoryStats:
    memory_id = UUID(int=number + 1)
    return MemoryStats(
        memory_id=memory_id,
        root_id=memory_id,
        version=1,
        type="note",
        key=None,
        status="active",
        confidence=stated.confidence,
        provenance_class=stated.provenance,
        epistemic_type="fact",
        epistemic_prev=None,
        flags=stated.flags,
        pinned=False,
        superseded_by=None,
        valid_at=AT,
        invalid_at=None,
        valid_until=None,
        last_validated_at=AT,
        created_at=AT,
    )
