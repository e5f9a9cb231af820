"""The knowledge arm: asked beside the search of memory, under its own deadline; what fails is named, not raised."""

import asyncio
import time
from dataclasses import dataclass, replace

from schemas.compose import ComposeRequest
from schemas.retrieval_plan import RetrievalPlan
from schemas.retrieve import RetrieveRequest
from services.compose.context.hits import ArmReport, RankedList, SearchResult, note
from services.compose.rules.planning import subplan
from services.compose.rules.planning.subplan import SubPlan
from shared.domain.subjects import Subject
from shared.knowledge.errors import KnowledgeUnavailable
from shared.knowledge.port import Bundle, Scope, to_answer_key
from shared.metrics.packages import KNOWLEDGE_CALLS
from shared.runtime import Runtime
from shared.telemetry import frames, logger

ARM = "knowledge"


@dataclass(frozen=True)
class KnowledgeAnswer:
    """What came of asking: a bundle, or why there is none; or that nobody was to be asked."""

    sub: SubPlan
    bundle: Bundle | None
    arm: ArmReport
    degraded: str | None = None


class KnowledgeQuery:
    """A question to knowledge that is under way, or none; leaving the block ends it."""

    def __init__(self, task: asyncio.Task[KnowledgeAnswer] | None, plan: RetrievalPlan, weight: float) -> None:
        self._task = task
        self._plan = plan
        self._weight = weight

    async def __aenter__(self) -> "KnowledgeQuery":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def tell(self, found: SearchResult) -> None:
        """What was found holds what knowledge answered, and how it did."""
        if self._task is None:
            return
        asked = await self._task
        found.arms.append(asked.arm)
        found.ignored += asked.sub.ignored
        if asked.degraded:
            found.degraded.append(asked.degraded)
        if asked.bundle is None:
            return
        found.ignored += [f"knowledge: {name}" for name in asked.bundle.ignored]
        found.weights |= {f"{name}@knowledge": 0.0 for name in ("vector", "text")}
        for of in asked.sub.of:
            note(found, RankedList(subplan.arm(of), self._weight, self._plan.queries[of].mode, of))
        found.candidates += subplan.candidates(asked.bundle.sections, asked.sub, self._plan)


def begin(
    rt: Runtime, scope: Scope, version: int, sub: SubPlan | None, plan: RetrievalPlan, left_s: float
) -> KnowledgeQuery:
    """The question is on its way; without one nothing is, and costs nothing."""
    policy = rt.policy.knowledge
    if sub is None:
        return KnowledgeQuery(None, plan, policy.weight)
    left_s = min(policy.deadline_ms / 1000, left_s)
    return KnowledgeQuery(asyncio.create_task(_ask(rt, scope, version, sub, left_s), name=ARM), plan, policy.weight)


def scope(rt: Runtime, asked: ComposeRequest | RetrieveRequest) -> Scope:
    """For whom knowledge is asked; the user is named only where policy says so."""
    user_id = asked.user_id if rt.policy.knowledge.send_user else ""
    return Scope(asked.tenant_id, asked.org_id or "", asked.profile_id or "", user_id)


async def _ask(rt: Runtime, scope: Scope, version: int, sub: SubPlan, left_s: float) -> KnowledgeAnswer:
    began = time.perf_counter()
    owner, key = Subject(scope.tenant_id, scope.user_id), to_answer_key(scope, version, sub.plan)
    if (kept := rt.known.find(owner, key)) is not None:
        KNOWLEDGE_CALLS.labels("retrieve", "cached").inc()
        return KnowledgeAnswer(sub, kept, _arm(began, len(kept.sections)))
    try:
        bundle = await rt.knowledge.retrieve(sub.plan, scope, deadline_s=max(left_s, 0.001))
    except KnowledgeUnavailable as error:
        logger().warning("knowledge_unavailable", reason=error.reason)
        late = error.reason == "timeout"
        arm = replace(_arm(began, 0), status="timeout" if late else "failed")
        return KnowledgeAnswer(sub, None, arm, error.degraded)
    except Exception as error:  # noqa: BLE001 # memory is served whatever becomes of knowledge
        logger().error("knowledge_broke", **frames(error))
        return KnowledgeAnswer(sub, None, replace(_arm(began, 0), status="failed"), "knowledge_stores_unavailable")
    rt.known.put(owner, 0, key, bundle)
    return KnowledgeAnswer(sub, bundle, _arm(began, len(bundle.sections)))


def _arm(began: float, count: int) -> ArmReport:
    return ArmReport(ARM, "ok", count, (time.perf_counter() - began) * 1000)
