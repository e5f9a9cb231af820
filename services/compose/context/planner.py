"""One function for planning: the rules always, and a model beside them where policy wants it and it is in time."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from services.compose import prompts
from services.compose.context import rerank
from services.compose.context.hits import ArmReport, SearchResult
from services.compose.rules.planning import plan as rules
from services.compose.rules.planning.plan import Planned, PlanPolicy
from services.compose.rules.planning.rewrite import is_sure, merge_answer
from shared.domain.subjects import Subject
from shared.language.normalise import fold, normalise
from shared.metrics.packages import PLAN_SECONDS, PLANS_ASKED
from shared.models.errors import MalformedAnswer, ModelUnavailable
from shared.runtime import Runtime
from shared.secrets import redact

FAILED = "query_rewrite_failed"
"""The plan is the rules' alone though a model was to be asked (seed 004 section 4.1, step 0.5)."""
ROUTING = "experiment_context.dimensions.brain_routing"
Planner = Literal["rules", "model"]
RULES = PlanPolicy()
SHARE_OF_REQUEST = 0.4
"""Of the time left, how much the model may have at most; searching and packing need the rest."""


@dataclass(frozen=True)
class PlanningResult:
    """A plan, who was to make it, how the model did, what was missing, and what of an experiment was not known."""

    planned: Planned
    planner: Planner = "rules"
    arms: tuple[ArmReport, ...] = ()
    degraded: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def question(self, message: str) -> str:
        """The message, with what it is about where it only points back to that: what a reranker is to compare with."""
        others = [each.text for each in self.planned.plan.queries[1:] if each.mode not in ("exact", "relational")]
        return f"{message} ({others[0]})" if others and rules.points_back(normalise(message)) else message

    def tell(self, found: SearchResult) -> None:
        """What was found says how it was looked for."""
        found.arms[:0] = self.arms
        found.degraded[:0] = self.degraded
        found.ignored += self.ignored


async def plan(
    rt: Runtime,
    subject: Subject,
    message: str,
    recent: Sequence[str],
    at: datetime,
    request_id: str,
    session_id: str,
    left_s: float,
    epoch: int,
    routing: str | None = None,
) -> PlanningResult:
    """What to look for; a model that is late, away or talks nonsense leaves the plan of the rules, and is named.

    Answers that were kept before an erasure of the user, in another `epoch`, are not used.
    `routing` is an experiment's wish for one planner; one that is not known, or cannot be had, is ignored and named.
    """
    planner, ignored = choose_planner(rt, routing)
    planned = rules.plan(message, recent, at, _rules(rt), request_id, session_id=session_id)
    if rt.policy.compose.reranker != "none":
        ranking = planned.plan.ranking.model_copy(update={"rerank": rerank.make_rerank_query(rt)})
        planned = replace(planned, plan=planned.plan.model_copy(update={"ranking": ranking}))
    if planner == "rules":
        return PlanningResult(planned, ignored=ignored)
    if planned.intent == "small_talk" and is_sure(planned, message):
        return PlanningResult(planned, planner, (ArmReport("planner", "skipped"),), ignored=ignored)
    thought = await ask_planner_model(rt, subject, planned, message, recent, at, left_s, epoch)
    return replace(thought, planner=planner, ignored=ignored)


def _rules(rt: Runtime) -> PlanPolicy:
    """Whether knowledge is wanted is policy's to say only where there is any."""
    return replace(RULES, resources=rt.policy.knowledge.ask) if rt.knowledge.configured else RULES


def choose_planner(rt: Runtime, routing: str | None) -> tuple[Planner, tuple[str, ...]]:
    if routing == "rules" or (routing == "model" and rt.models.chat_model_id is not None):
        return routing, ()
    return rt.policy.compose.planner, (ROUTING,) if routing else ()


async def ask_planner_model(
    rt: Runtime,
    subject: Subject,
    planned: Planned,
    message: str,
    recent: Sequence[str],
    at: datetime,
    left_s: float,
    epoch: int,
) -> PlanningResult:
    limits = rt.policy.compose
    wait_s = min(limits.planner_deadline_ms / 1000, max(left_s, 0.0) * SHARE_OF_REQUEST)
    said = [redact(text)[0] for text in (message[: 4 * prompts.MAX_MESSAGE_CHARS], *recent[-prompts.MAX_RECENT :])]
    prompt = prompts.plan(said[0], said[1:], at.date())
    prompt = replace(prompt, deadline_s=max(limits.planner_late_ms / 1000, wait_s))
    question = "\0".join((f"{at:%Y-%m-%d}", str(epoch), *(fold_message(text) for text in said)))
    owner = (subject.tenant_id, subject.user_id)
    began = time.perf_counter()
    try:
        thought = await rt.thoughts.ask(rt.models, owner, question, prompt, wait_s=wait_s)
    except (ModelUnavailable, MalformedAnswer) as error:
        late = isinstance(error, ModelUnavailable) and error.reason == "timeout"
        PLANS_ASKED.labels("late" if late else "failed").inc()
        arm = ArmReport("planner", "timeout" if late else "failed", took_ms=_since(began))
        return PlanningResult(planned, arms=(arm,), degraded=(FAILED,))
    finally:
        PLAN_SECONDS.observe(time.perf_counter() - began)
    PLANS_ASKED.labels("cached" if thought.kept else "answered").inc()
    better = merge_answer(planned, thought.value, message, recent, at, _rules(rt))
    found = len(thought.value.queries)
    return PlanningResult(better, arms=(ArmReport("planner", "ok", found, _since(began)),))


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def fold_message(text: str) -> str:
    """The same for messages that differ in case, spacing or the mark at the end."""
    return fold(normalise(text)).rstrip(" .。!！?？~～…")
