"""The plan of a message: the rules always, and a model beside them where policy wants it and it is in time."""

import time
from collections.abc import Sequence
from dataclasses import replace

from schemas.compose import ComposeRequest
from services.compose import prompts
from services.compose.context.rerank import make_rerank_query
from services.compose.context.stages import ROUTING, ArmReport, Call, ComposeState, Planner, PlanningResult, StageReport
from services.compose.rules.planning import plan as rules
from services.compose.rules.planning.plan import Planned, PlanPolicy
from services.compose.rules.planning.rewrite import is_sure, merge_answer
from shared.domain.turns import Turn
from shared.language.normalise import fold, normalise
from shared.metrics.packages import PLAN_SECONDS, PLANS_ASKED
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.runtime import Runtime
from shared.secrets import redact

FAILED = "query_rewrite_failed"
"""The plan is the rules' alone though a model was to be asked (seed 004 section 4.1, step 0.5)."""
RULES = PlanPolicy()
SHARE_OF_REQUEST = 0.4
"""Of the time left, how much the model may have at most; searching and packing need the rest."""


async def plan(rt: Runtime, call: Call, request: ComposeRequest, state: ComposeState) -> PlanningResult:
    """What to look for; a model that is late, away or talks nonsense leaves the plan of the rules, and is named.

    Answers that were kept before an erasure of the user, in another epoch, are not used. Where an experiment wishes for
    a planner that is not known, or cannot be had, that is ignored and named.
    """
    experiment, session_id = request.experiment_context, request.session_id
    planner, ignored = choose_planner(rt, experiment.dimensions.brain_routing if experiment else None)
    recent = list_said_texts(state.window)
    planned = rules.plan(state.question, recent, call.at, _rules(rt), call.request_id, session_id=session_id)
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
    """What the user said in these turns."""
    return [
        event.content["text"]
        for turn in window
        for event in turn.events
        if event.event_type == "user_message" and event.content
    ]


def _rules(rt: Runtime) -> PlanPolicy:
    """Whether knowledge is wanted is policy's to say only where there is any."""
    return replace(RULES, resources=rt.policy.knowledge.ask) if rt.knowledge.configured else RULES


def choose_planner(rt: Runtime, routing: str | None) -> tuple[Planner, tuple[str, ...]]:
    if routing == "rules" or (routing == "model" and rt.models.chat_model_id is not None):
        return routing, ()
    return rt.policy.compose.planner, (ROUTING,) if routing else ()


async def ask_planner_model(
    rt: Runtime, call: Call, planned: Planned, message: str, recent: Sequence[str], epoch: int
) -> tuple[Planned, StageReport]:
    """The plan with what a model adds to it, and how the model did."""
    limits, subject = rt.policy.compose, call.subject
    wait_s = min(limits.planner_deadline_ms / 1000, max(call.left_s(), 0.0) * SHARE_OF_REQUEST)
    messages = (message[: 4 * prompts.MAX_MESSAGE_CHARS], *recent[-prompts.MAX_RECENT :])
    texts = [redact(text, rt.policy.personal_data.kinds_kept)[0] for text in messages]
    prompt = prompts.plan(texts[0], texts[1:], call.at.date())
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
    better = merge_answer(planned, answer.value, message, recent, call.at, _rules(rt))
    arm = ArmReport("planner", "ok", len(answer.value.queries), (time.perf_counter() - began) * 1000)
    return better, StageReport((arm,))


def fold_message(text: str) -> str:
    """The same for messages that differ in case, spacing or the mark at the end."""
    return fold(normalise(text)).rstrip(" .。!！?？~～…")
