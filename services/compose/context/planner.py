"""Plans the search of a message, and asks knowledge in parallel with the search of memory.

The rules always plan; a model adds queries if the policy asks for it and it answers in time. Knowledge has its own
deadline. Failures are reported, not raised.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from schemas.compose import ComposeRequest
from schemas.retrieval_plan import RetrievalPlan, RetrieveRequest
from services.compose import prompts
from services.compose.context.rerank import make_rerank_query
from services.compose.context.stages import (
    ROUTING,
    ArmReport,
    Call,
    ComposeState,
    MemoryState,
    Planner,
    PlanningResult,
    RankedList,
    SearchPart,
    StageReport,
)
from services.compose.rules.planning import plan as rules
from services.compose.rules.planning import subplan
from services.compose.rules.planning.plan import ExecutablePlan, Planned, PlanPolicy
from services.compose.rules.planning.rewrite import is_sure, merge_answer
from services.compose.rules.planning.subplan import SubPlan
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.knowledge.port import Bundle, KnowledgeUnavailable, Scope, to_answer_key
from shared.language.normalise import fold, normalise
from shared.metrics.packages import KNOWLEDGE_CALLS, PLAN_SECONDS, PLANS_ASKED
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.runtime import Runtime
from shared.secrets import redact
from shared.telemetry import frames, logger

FAILED = "query_rewrite_failed"
"""The model that was to be asked failed, so that the plan comes from the rules alone."""
RULES = PlanPolicy()
SHARE_OF_REQUEST = 0.4
"""The model's most share of the time left; search and packing need the rest."""


async def plan(rt: Runtime, call: Call, request: ComposeRequest, state: ComposeState) -> PlanningResult:
    """Plans the search. If the model fails, is late or returns nonsense, the rules' plan remains, and the report says
    so.

    Cached answers from an earlier epoch of the user are not used. An unknown or unavailable planner that an experiment
    asks for is ignored and reported.
    """
    experiment, session_id = request.experiment_context, request.session_id
    planner, ignored = choose_planner(rt, experiment.dimensions.brain_routing if experiment else None)
    recent = list_said_texts(state.window)
    planned = rules.plan_search(
        state.question, recent, call.at, _make_plan_policy(rt), call.request_id, session_id=session_id
    )
    if rt.policy.compose.reranker != "none":
        ranking = planned.plan.ranking.model_copy(update={"rerank": make_rerank_query(rt)})
        planned = replace(planned, plan=planned.plan.model_copy(update={"ranking": ranking}))
    if planner == "rules":
        return PlanningResult(planned, report=StageReport(ignored=ignored))
    if planned.intent == "small_talk" and is_sure(planned, state.question):
        return PlanningResult(planned, planner, StageReport((ArmReport("planner", "skipped"),), ignored=ignored))
    planned, report = await ask_planner_model(rt, call, planned, state.question, recent, state.memory.epoch)
    return PlanningResult(planned, planner, replace(report, ignored=ignored))


def list_said_texts(window: Sequence[Turn]) -> list[str]:
    return [
        event.content["text"]
        for turn in window
        for event in turn.events
        if event.event_type == "user_message" and event.content
    ]


def _make_plan_policy(rt: Runtime) -> PlanPolicy:
    """The planning policy; it can ask for knowledge only if knowledge is configured."""
    return replace(RULES, resources=rt.policy.knowledge.ask) if rt.knowledge.configured else RULES


def choose_planner(rt: Runtime, routing: str | None) -> tuple[Planner, tuple[str, ...]]:
    if routing == "rules" or (routing == "model" and rt.models.chat_model_id is not None):
        return routing, ()
    return rt.policy.compose.planner, (ROUTING,) if routing else ()


async def ask_planner_model(
    rt: Runtime, call: Call, planned: Planned, message: str, recent: Sequence[str], epoch: int
) -> tuple[Planned, StageReport]:
    """The plan with the model's additions, and a report about the model."""
    limits, subject = rt.policy.compose, call.subject
    wait_s = min(limits.planner_deadline_ms / 1000, max(call.left_s(), 0.0) * SHARE_OF_REQUEST)
    messages = (message[: 4 * prompts.MAX_MESSAGE_CHARS], *recent[-prompts.MAX_RECENT :])
    texts = [redact(text, rt.policy.personal_data.kinds_kept)[0] for text in messages]
    prompt = prompts.make_plan_prompt(texts[0], texts[1:], call.at.date())
    prompt = replace(prompt, deadline_s=max(limits.planner_late_ms / 1000, wait_s))
    question = "\0".join((f"{call.at:%Y-%m-%d}", str(epoch), *(fold_message(text) for text in texts)))
    owner = (subject.tenant_id, subject.user_id)
    began = time.perf_counter()
    try:
        answer = await rt.thoughts.ask(rt.models, owner, question, prompt, wait_s=wait_s)
    except (ModelUnavailable, MalformedAnswer) as error:
        late = isinstance(error, ModelUnavailable) and error.reason == "timeout"
        PLANS_ASKED.labels("late" if late else "failed").inc()
        arm = ArmReport("planner", "timeout" if late else "failed", took_ms=(time.perf_counter() - began) * 1000)
        return planned, StageReport((arm,), (FAILED,))
    finally:
        PLAN_SECONDS.observe(time.perf_counter() - began)
    PLANS_ASKED.labels("cached" if answer.kept else "answered").inc()
    better = merge_answer(planned, answer.value, message, recent, call.at, _make_plan_policy(rt))
    arm = ArmReport("planner", "ok", len(answer.value.queries), (time.perf_counter() - began) * 1000)
    return better, StageReport((arm,))


def fold_message(text: str) -> str:
    """The message without differences in case, spacing or final punctuation."""
    return fold(normalise(text)).rstrip(" .。!！?？~～…")


KNOWLEDGE = "knowledge"


@dataclass(frozen=True)
class KnowledgeAnswer:
    """The answer of knowledge: a bundle, or the reason why there is none."""

    bundle: Bundle | None
    arm: ArmReport
    degraded: str | None = None


def to_search_part(answer: KnowledgeAnswer, sub: SubPlan, plan: RetrievalPlan, weight: float) -> SearchPart:
    """The answer as a part of the search, with one list per query."""
    report = StageReport((answer.arm,), (answer.degraded,) if answer.degraded else (), sub.ignored)
    if answer.bundle is None:
        return SearchPart(report=report)
    lists = [RankedList(subplan.name_list(of), weight, plan.queries[of].mode, of) for of in sub.of]
    ignored = (*sub.ignored, *(f"knowledge: {name}" for name in answer.bundle.ignored))
    silent = {f"{name}@knowledge": 0.0 for name in ("vector", "text")}
    return SearchPart(
        candidates=subplan.to_candidates(answer.bundle.sections, sub, plan),
        weights={**silent, **{each.name: each.weight for each in lists}},
        lists={each.name: each.owner for each in lists},
        report=replace(report, ignored=ignored),
    )


@asynccontextmanager
async def ask_knowledge(
    rt: Runtime, memory: MemoryState, sub: SubPlan | None, plan: RetrievalPlan, left_s: float
) -> AsyncGenerator[asyncio.Task[SearchPart] | None]:
    """Asks knowledge while the block runs, and yields the running query; None if `sub` is None.

    Leaving the block cancels the query.
    """
    if sub is None:
        yield None
        return
    task = asyncio.create_task(_search_knowledge(rt, memory, sub, plan, left_s), name=KNOWLEDGE)
    try:
        yield task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def _search_knowledge(
    rt: Runtime, memory: MemoryState, sub: SubPlan, plan: RetrievalPlan, left_s: float
) -> SearchPart:
    """The answer of knowledge with its report."""
    policy = rt.policy.knowledge
    answer = await _wait_for_bundle(rt, memory.scope, memory.knowledge, sub, min(policy.deadline_ms / 1000, left_s))
    return to_search_part(answer, sub, plan, policy.weight)


def make_scope(rt: Runtime, request: ComposeRequest | RetrieveRequest) -> Scope:
    """For whom knowledge is asked; names the user only if the policy says so."""
    user_id = request.user_id if rt.policy.knowledge.send_user else ""
    return Scope(request.tenant_id, request.org_id or "", request.profile_id or "", user_id)


async def choose_query(rt: Runtime, planned: Planned, message: str, request_id: str) -> SubPlan | None:
    """What to ask knowledge for a message, if anything."""
    if not rt.knowledge.configured or not planned.resources_needed:
        return None
    modes = (await rt.knowledge.capabilities()).modes
    return subplan.make_own_subplan(planned.plan, message, rt.policy.knowledge.top_k, modes, request_id)


async def choose_given_query(
    rt: Runtime, request: RetrieveRequest, run: ExecutablePlan, request_id: str
) -> SubPlan | None:
    """What to ask knowledge for a given plan, wherever it allows that."""
    if not rt.knowledge.configured or rt.policy.knowledge.ask == "never":
        return None
    modes = (await rt.knowledge.capabilities()).modes
    return subplan.make_given_subplan(request, (step.of for step in run.steps), modes, request_id)


async def _wait_for_bundle(rt: Runtime, scope: Scope, version: int, sub: SubPlan, left_s: float) -> KnowledgeAnswer:
    began = time.perf_counter()
    owner, key = Subject(scope.tenant_id, scope.user_id), to_answer_key(scope, version, sub.plan)
    if (kept := rt.known.find(owner, key)) is not None:
        KNOWLEDGE_CALLS.labels("retrieve", "cached").inc()
        return KnowledgeAnswer(kept, _report_knowledge(began, len(kept.sections)))
    try:
        bundle = await rt.knowledge.retrieve(sub.plan, scope, deadline_s=max(left_s, 0.001))
    except KnowledgeUnavailable as error:
        logger().warning("knowledge_unavailable", reason=error.reason)
        late = error.reason == "timeout"
        arm = replace(_report_knowledge(began, 0), status="timeout" if late else "failed")
        return KnowledgeAnswer(None, arm, error.degraded)
    except Exception as error:  # noqa: BLE001 # memory is served whatever becomes of knowledge
        logger().error("knowledge_broke", **frames(error))
        return KnowledgeAnswer(
            None, replace(_report_knowledge(began, 0), status="failed"), "knowledge_stores_unavailable"
        )
    rt.known.put(owner, 0, key, bundle)
    return KnowledgeAnswer(bundle, _report_knowledge(began, len(bundle.sections)))


def _report_knowledge(began: float, count: int) -> ArmReport:
    return ArmReport(KNOWLEDGE, "ok", count, (time.perf_counter() - began) * 1000)
