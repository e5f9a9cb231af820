"""The knowledge arm: asked beside the search of memory, under its own deadline; what fails is named, not raised."""

import asyncio
import time
from dataclasses import dataclass, replace

from schemas.compose import ComposeRequest
from schemas.retrieval_plan import RetrievalPlan
from schemas.retrieve import RetrieveRequest
from services.compose.context.hits import RankedList, SearchPart
from services.compose.context.stages import ArmReport, MemoryState, StageReport
from services.compose.rules.planning import subplan
from services.compose.rules.planning.execute import ExecutablePlan
from services.compose.rules.planning.plan import Planned
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
    """What came of asking: a bundle, or why there is none."""

    bundle: Bundle | None
    arm: ArmReport
    degraded: str | None = None


class KnowledgeQuery:
    """A question to knowledge that is under way, or none; leaving the block ends it."""

    def __init__(
        self, task: asyncio.Task[KnowledgeAnswer] | None, sub: SubPlan | None, plan: RetrievalPlan, weight: float
    ) -> None:
        self._task = task
        self._sub = sub
        self._plan = plan
        self._weight = weight

    async def __aenter__(self) -> "KnowledgeQuery":
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def wait(self) -> SearchPart:
        """What knowledge answered, and how it did; nothing where it was not asked."""
        if self._task is None or self._sub is None:
            return SearchPart()
        return to_search_part(await self._task, self._sub, self._plan, self._weight)


def to_search_part(answer: KnowledgeAnswer, sub: SubPlan, plan: RetrievalPlan, weight: float) -> SearchPart:
    """The answer as a part of the search: a list for every query of the plan that was asked."""
    report = StageReport((answer.arm,), (answer.degraded,) if answer.degraded else (), sub.ignored)
    if answer.bundle is None:
        return SearchPart(report=report)
    lists = [RankedList(subplan.arm(of), weight, plan.queries[of].mode, of) for of in sub.of]
    ignored = (*sub.ignored, *(f"knowledge: {name}" for name in answer.bundle.ignored))
    silent = {f"{name}@knowledge": 0.0 for name in ("vector", "text")}
    return SearchPart(
        candidates=subplan.candidates(answer.bundle.sections, sub, plan),
        weights={**silent, **{each.name: each.weight for each in lists}},
        lists={each.name: each.owner for each in lists},
        report=replace(report, ignored=ignored),
    )


def begin(rt: Runtime, memory: MemoryState, sub: SubPlan | None, plan: RetrievalPlan, left_s: float) -> KnowledgeQuery:
    """The question is on its way; without one nothing is, and costs nothing."""
    policy = rt.policy.knowledge
    if sub is None:
        return KnowledgeQuery(None, None, plan, policy.weight)
    asking = _ask(rt, memory.scope, memory.knowledge, sub, min(policy.deadline_ms / 1000, left_s))
    return KnowledgeQuery(asyncio.create_task(asking, name=ARM), sub, plan, policy.weight)


def scope_of(rt: Runtime, request: ComposeRequest | RetrieveRequest) -> Scope:
    """For whom knowledge is asked; the user is named only where policy says so."""
    user_id = request.user_id if rt.policy.knowledge.send_user else ""
    return Scope(request.tenant_id, request.org_id or "", request.profile_id or "", user_id)


async def choose_query(rt: Runtime, planned: Planned, message: str, request_id: str) -> SubPlan | None:
    """What knowledge is to be asked for a message, if it is."""
    if not rt.knowledge.configured or not planned.resources_needed:
        return None
    modes = (await rt.knowledge.capabilities()).modes
    return subplan.make_own_subplan(planned.plan, message, rt.policy.knowledge.top_k, modes, request_id)


async def choose_given_query(
    rt: Runtime, request: RetrieveRequest, run: ExecutablePlan, request_id: str
) -> SubPlan | None:
    """A caller's plan says itself what it wants: knowledge is asked wherever it may be."""
    if not rt.knowledge.configured or rt.policy.knowledge.ask == "never":
        return None
    modes = (await rt.knowledge.capabilities()).modes
    return subplan.make_given_subplan(request, (step.of for step in run.steps), modes, request_id)


async def _ask(rt: Runtime, scope: Scope, version: int, sub: SubPlan, left_s: float) -> KnowledgeAnswer:
    began = time.perf_counter()
    owner, key = Subject(scope.tenant_id, scope.user_id), to_answer_key(scope, version, sub.plan)
    if (kept := rt.known.find(owner, key)) is not None:
        KNOWLEDGE_CALLS.labels("retrieve", "cached").inc()
        return KnowledgeAnswer(kept, _arm(began, len(kept.sections)))
    try:
        bundle = await rt.knowledge.retrieve(sub.plan, scope, deadline_s=max(left_s, 0.001))
    except KnowledgeUnavailable as error:
        logger().warning("knowledge_unavailable", reason=error.reason)
        late = error.reason == "timeout"
        arm = replace(_arm(began, 0), status="timeout" if late else "failed")
        return KnowledgeAnswer(None, arm, error.degraded)
    except Exception as error:  # noqa: BLE001 # memory is served whatever becomes of knowledge
        logger().error("knowledge_broke", **frames(error))
        return KnowledgeAnswer(None, replace(_arm(began, 0), status="failed"), "knowledge_stores_unavailable")
    rt.known.put(owner, 0, key, bundle)
    return KnowledgeAnswer(bundle, _arm(began, len(bundle.sections)))


def _arm(began: float, count: int) -> ArmReport:
    return ArmReport(ARM, "ok", count, (time.perf_counter() - began) * 1000)
