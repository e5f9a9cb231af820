"""Experience of agents with their tools and with retrieval: a timer counts receipts. Writes agent_experience."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from services.evolver import learnt
from shared import clock
from shared.errors import TransientError
from shared.metrics.memory import EXPERIENCE_SECONDS
from shared.policy import Policy
from shared.runtime import Runtime
from shared.store import experience
from shared.store.experience import Counted, Experience
from shared.telemetry import logger


async def learn_forever(rt: Runtime) -> None:
    """A round every `evolution.every_s`, until cancelled."""
    while True:
        try:
            with EXPERIENCE_SECONDS.time():
                await learn(rt)
        except TransientError as error:
            logger().warning("experience_waits", error=str(error))
        await asyncio.sleep(rt.policy.evolution.every_s)


async def learn(rt: Runtime) -> int:
    """Replaces the experience of all tenants' agents; its size. Experience without receipts is deleted."""
    policy = rt.policy.evolution.experience
    async with rt.db.system() as conn:
        counted = await experience.count_receipts(conn, timedelta(days=policy.days), policy.share_users)
        if counted is None:
            return 0
        found = [each for each in learn_from_counts(counted, rt.policy) if each]
        await experience.keep(conn, found)
    return len(found)


def learn_from_counts(counted: Sequence[Counted], policy: Policy) -> list[Experience | None]:
    wholes = [each for each in counted if each.part is None]
    parts: dict[tuple[str, str | None, str], dict[str, Counted]] = {}
    for each in counted:
        if each.part is not None:
            parts.setdefault((each.tenant_id, each.user_id, each.about), {})[each.part] = each
    return [_one(each, parts.get((each.tenant_id, each.user_id, each.about), {}), policy) for each in wholes]


def _one(whole: Counted, parts: dict[str, Counted], policy: Policy) -> Experience | None:
    if whole.about.startswith("tool:"):
        counts = {intent: each.figures for intent, each in parts.items()}
        figures = learnt.of_tool(whole.figures, counts, policy.evolution.experience.least_calls)
    else:
        figures = learnt.of_retrieval(whole.figures)
    if figures is None:
        return None
    confidence = learnt.bound_share(figures["low"], figures["high"], policy.confidence.provenance_cap("analysis", ()))
    return Experience(clock.uuid7(), whole.tenant_id, whole.user_id, whole.about, figures, confidence)
