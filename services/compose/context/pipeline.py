"""compose_context and retrieve: load, plan, search, rank, resolve and package, each a function with a frozen result."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage, PackageDebug, TokenBudget
from schemas.evidence_pack import EvidencePack
from schemas.explain import Explain
from schemas.retrieve import RetrieveRequest
from services.compose.context import explain
from services.compose.context.evidence import evidence_pack
from services.compose.context.load import check_message, load, load_memory
from services.compose.context.package import begin_hints, package
from services.compose.context.planner import choose_given_query, choose_query, plan
from services.compose.context.rank import rank, rank_plan, resolve, resolve_plan
from services.compose.context.search import all_together, search
from services.compose.context.stages import (
    ArmReport,
    Call,
    ComposeState,
    Composition,
    PlanExecution,
    PlanningResult,
    SearchRequest,
    report_package,
)
from services.compose.rules.candidates import HeldBack
from services.compose.rules.packing.budget import COMPRESSIBLE, Allocation
from services.compose.rules.planning.execute import execute_composed, execute_given
from shared import clock
from shared.domain.subjects import Subject
from shared.metrics.composition import ARM_CANDIDATES, ARM_RUNS, ARM_SECONDS, PACKAGE_CUT, PACKAGE_SHARE, PACKAGE_TOKENS
from shared.metrics.packages import COMPOSE_DEGRADED, TEXTS_HELD_BACK
from shared.runtime import Runtime
from shared.telemetry import logger


async def compose_package(
    request: ComposeRequest, rt: Runtime, *, ignored: Sequence[str] = (), now: datetime | None = None
) -> ContextPackage:
    """As `compose_context`: the package alone."""
    return (await compose_context(request, rt, ignored=ignored, now=now)).package


async def compose_context(
    request: ComposeRequest, rt: Runtime, *, ignored: Sequence[str] = (), now: datetime | None = None
) -> Composition:
    """The package for one message, within the request's token limit and deadline, and how it came about.

    An arm that is missing or late is named in `degraded_reason`. RefusedError `user_message_too_long` names the field,
    `media_security_blocked` all media of the message that is not safe. TransientError: memory itself is away, or did
    not answer within the deadline.
    """
    composition = await compose_unnoted(request, rt, now=now)
    _note_package(composition)
    return with_debug(composition, ignored) if request.debug else composition


async def compose_unnoted(request: ComposeRequest, rt: Runtime, *, now: datetime | None = None) -> Composition:
    """As `compose_context`, neither counted nor in the log: whoever only looks leaves no trace."""
    call = _begin(rt, request, rt.policy.compose.seconds(request.deadline_ms), now)
    check_message(request, rt.policy.compose)
    begin_hints(rt, call.subject)
    rt, state = await load(rt, call, request)
    loaded = time.perf_counter()
    planning = await plan(rt, call, request, state)
    wanted = await _to_search_request(rt, call, state, planning)
    planned = time.perf_counter()
    search_result = await search(rt, call, wanted)
    searched = time.perf_counter()
    ranking = await rank(rt, call, request, state, planning, search_result)
    ranked = time.perf_counter()
    resolution = resolve(rt, state, planning, ranking)
    resolved = time.perf_counter()
    report = report_package(planning, search_result, ranking)
    packaged = package(rt, call, request, state, planning, resolution, report.degraded)
    return Composition(
        request=request,
        package=packaged.package,
        planning=planning,
        wanted=wanted,
        search=search_result,
        ranking=ranking,
        resolution=resolution,
        packaged=packaged,
        report=report,
        took_ms=call.took_ms(),
        epoch=state.memory.epoch,
        ended=(call.began, loaded, planned, searched, ranked, resolved, time.perf_counter()),
        personal=rt.policy.personal_data,
    )


async def retrieve(request: RetrieveRequest, rt: Runtime, *, ignored: Sequence[str] = ()) -> EvidencePack:
    """As `execute_plan`: the pack alone."""
    return (await execute_plan(request, rt, ignored=ignored)).pack


async def execute_plan(request: RetrieveRequest, rt: Runtime, *, ignored: Sequence[str] = ()) -> PlanExecution:
    """What a plan finds in memory, in its final order, with what was ignored (seed 001 section 9)."""
    call = _begin(rt, request, rt.policy.compose.seconds(None), None)
    rt, memory = await load_memory(rt, call, request)
    run = execute_given(request, await all_together(rt, call.subject, request, call.left_s() / 4))
    knowledge = await choose_given_query(rt, request, run, call.request_id)
    search_result = await search(rt, call, SearchRequest(run, memory, knowledge))
    ranking = await rank_plan(rt, call, request, search_result)
    resolution = resolve_plan(rt, request, run, ranking)
    _count_held_back(resolution.held_back)
    _count_arms((*search_result.report.arms, *ranking.report.arms))
    sanitize = rt.policy.compose.sanitize
    pack = evidence_pack(request, call, run, search_result, ranking, resolution, ignored, sanitize)
    logger().info(
        "plan_executed",
        tenant_id=call.subject.tenant_id,
        plan_id=pack.plan_id,
        request_id=call.request_id,
        evidence=len(pack.evidences),
        took_ms=round(call.took_ms(), 2),
        degraded=pack.explain.degraded_reason,
    )
    return PlanExecution(request, pack, memory.epoch, rt.policy.personal_data)


def _begin(rt: Runtime, request: ComposeRequest | RetrieveRequest, most_s: float, now: datetime | None) -> Call:
    """The request is being answered from this moment on, for so long at most."""
    began = time.perf_counter()
    subject = Subject(request.tenant_id, request.user_id)
    return Call(subject, request.request_id or clock.uuid7().hex, now or clock.now(), began, began + most_s)


async def _to_search_request(rt: Runtime, call: Call, state: ComposeState, planning: PlanningResult) -> SearchRequest:
    """The plan of a message as it is searched for, in memory and in knowledge."""
    planned = planning.planned
    knowledge = await choose_query(rt, planned, state.question, call.request_id)
    return SearchRequest(
        execute_composed(planned.plan, state.joined), state.memory, knowledge, state.shown, state.hidden
    )


def _note_package(composition: Composition) -> None:
    """The package is counted and stands in the log."""
    package, packaged = composition.package, composition.packaged
    for reason in package.degraded_reason:
        COMPOSE_DEGRADED.labels(reason).inc()
    _count_held_back(packaged.held_back)
    _count_arms(composition.report.arms)
    _count_tokens(package.constraints.token_budget, packaged.allocation)
    logger().info(
        "context_composed",
        tenant_id=composition.request.tenant_id,
        context_id=package.context_id,
        request_id=package.request_id,
        evidence=len(package.evidence),
        took_ms=round(composition.took_ms, 2),
        degraded=package.degraded_reason,
        conflicts=[{"memory": each.memory, "with": each.knowledge, "rule": each.rule} for each in packaged.conflicts],
    )


def _count_held_back(texts: Iterable[HeldBack]) -> None:
    for each in texts:
        TEXTS_HELD_BACK.labels(each.source, each.rule).inc()


def _count_arms(arms: Iterable[ArmReport]) -> None:
    for arm in arms:
        ARM_RUNS.labels(arm.name, arm.status).inc()
        if arm.status != "skipped":
            ARM_SECONDS.labels(arm.name).observe(arm.took_ms / 1000)
            ARM_CANDIDATES.labels(arm.name).inc(arm.count)


def _count_tokens(budget: TokenBudget, allocation: Allocation) -> None:
    PACKAGE_SHARE.observe(budget.used_estimate / budget.limit)
    for name, slot in allocation.slots.items():
        PACKAGE_TOKENS.labels(name).inc(slot.used)
        if name in COMPRESSIBLE and slot.wanted > slot.granted:
            PACKAGE_CUT.labels(name).inc()


def with_debug(composition: Composition, ignored: Sequence[str]) -> Composition:
    """The same, the package with its explanation; `ignored` are the fields of the request that nobody knows."""
    search_result, packaged = composition.search, composition.packaged
    report, fused = composition.report, composition.resolution.fused
    shown = [each.id for each in composition.package.evidence]
    debug = PackageDebug(
        planner=explain.describe_plan(composition.planning.planned),
        why_selected=list(packaged.why_selected),
        ignored=list(report.ignored),
        explain=Explain(
            arms=explain.timings(report),
            rerank=composition.ranking.reranked,
            notes=list(report.notes),
            candidates=explain.candidates(search_result, fused, shown, packaged.dropped),
            dropped=explain.list_dropped(search_result, fused.dropped, packaged.dropped),
            held_back=explain.to_held_back(packaged.held_back),
            ignored_fields=list(ignored),
            took_ms=composition.took_ms,
        ),
    )
    return replace(composition, package=composition.package.model_copy(update={"debug": debug}))
