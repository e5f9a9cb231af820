"""Composes a package and executes a plan, in six steps: load, plan, search, rank, resolve, package.

The agent's experience with its tools is cached in the process; no request waits for it.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from secrets import token_hex
from typing import cast

from schemas.compose import ComposeRequest
from schemas.context_package import PackageDebug, TokenBudget
from schemas.explain import Explain
from schemas.retrieval_plan import RetrieveRequest
from schemas.vocabulary import Intent, Language
from services.compose.context import explain
from services.compose.context.evidence import build_evidence_pack
from services.compose.context.load import (
    NONCE_BYTES,
    check_message,
    load,
    load_memory,
    make_metadata,
    refuse_oversize,
    to_pack_policy,
    to_recent_turn,
)
from services.compose.context.planner import choose_given_query, choose_query, plan
from services.compose.context.rank import choose_inject_limit, rank, rank_plan, resolve, resolve_plan
from services.compose.context.search import load_cooccurrences, search
from services.compose.context.stages import (
    ArmReport,
    Call,
    ComposeState,
    Composition,
    PlanExecution,
    PlanningResult,
    ResolutionResult,
    SearchRequest,
    report_package,
)
from services.compose.rules.candidates import CandidateConflict, Dropped, HeldBack
from services.compose.rules.packing.draft import COMPRESSIBLE, Allocation, Decision, PackagedContext, PackInputs
from services.compose.rules.packing.pack import pack_context
from services.compose.rules.packing.texts import ExperienceEntry, make_hints
from services.compose.rules.planning.given import execute_given
from services.compose.rules.planning.plan import execute_composed
from shared import clock
from shared.domain.subjects import Subject
from shared.metrics.composition import ARM_CANDIDATES, ARM_RUNS, ARM_SECONDS, PACKAGE_CUT, PACKAGE_SHARE, PACKAGE_TOKENS
from shared.metrics.packages import AGENT_HINTS, COMPOSE_DEGRADED, TEXTS_HELD_BACK
from shared.runtime import Runtime
from shared.store import user_state
from shared.telemetry import logger


async def compose_context(
    request: ComposeRequest, rt: Runtime, *, ignored: Sequence[str] = (), now: datetime | None = None
) -> Composition:
    """Composes the package for one message, within the request's token limit and deadline.

    `degraded_reason` names each arm that failed or was late. RefusedError: `user_message_too_long` names the field,
    `media_security_blocked` all unsafe media of the message. TransientError: memory is not available or did not answer
    within the deadline.
    """
    composition = await compose_unrecorded(request, rt, now=now)
    _log_package(composition)
    return add_debug(composition, ignored) if request.debug else composition


async def compose_unrecorded(request: ComposeRequest, rt: Runtime, *, now: datetime | None = None) -> Composition:
    """As `compose_context`, without metrics and log: for previews."""
    call = _begin(rt, request, rt.policy.compose.seconds(request.deadline_ms), now)
    check_message(request, rt.policy.compose)
    preload_hints(rt, call.subject)
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
    packaged = build_package(rt, call, request, state, planning, resolution, report.degraded)
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


async def execute_plan(request: RetrieveRequest, rt: Runtime, *, ignored: Sequence[str] = ()) -> PlanExecution:
    """Executes a plan and returns its evidence in final order, with the fields that were ignored."""
    call = _begin(rt, request, rt.policy.compose.seconds(None), None)
    rt, memory = await load_memory(rt, call, request)
    run = execute_given(request, await load_cooccurrences(rt, call.subject, request, call.left_s() / 4))
    knowledge = await choose_given_query(rt, request, run, call.request_id)
    search_result = await search(rt, call, SearchRequest(run, memory, knowledge))
    ranking = await rank_plan(rt, call, request, search_result)
    resolution = resolve_plan(rt, request, run, ranking)
    _count_held_back(resolution.held_back)
    _count_arms((*search_result.report.arms, *ranking.report.arms))
    sanitize = rt.policy.compose.sanitize
    pack = build_evidence_pack(request, call, run, search_result, ranking, resolution, ignored, sanitize)
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
    """Starts the clock of a request that may take `most_s` seconds."""
    began = time.perf_counter()
    subject = Subject(request.tenant_id, request.user_id)
    return Call(subject, request.request_id or clock.uuid7().hex, now or clock.now(), began, began + most_s)


async def _to_search_request(rt: Runtime, call: Call, state: ComposeState, planning: PlanningResult) -> SearchRequest:
    """The queries of a message, to memory and to knowledge."""
    planned = planning.planned
    knowledge = await choose_query(rt, planned, state.question, call.request_id)
    return SearchRequest(
        execute_composed(planned.plan, state.joined), state.memory, knowledge, state.shown, state.hidden
    )


def _log_package(composition: Composition) -> None:
    """Counts and logs the package."""
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


def add_debug(composition: Composition, ignored: Sequence[str]) -> Composition:
    """The same composition with an explanation in its package; `ignored` are unknown fields of the request."""
    search_result, packaged = composition.search, composition.packaged
    report, fused = composition.report, composition.resolution.fused
    shown = [each.id for each in composition.package.evidence]
    debug = PackageDebug(
        planner=explain.describe_plan(composition.planning.planned),
        why_selected=list(packaged.why_selected),
        ignored=list(report.ignored),
        explain=Explain(
            arms=explain.to_arm_timings(report),
            rerank=composition.ranking.reranked,
            notes=list(report.notes),
            candidates=explain.trace_candidates(search_result, fused, shown, packaged.dropped),
            dropped=explain.list_dropped(search_result, fused.dropped, packaged.dropped),
            held_back=explain.to_held_back(packaged.held_back),
            ignored_fields=list(ignored),
            took_ms=composition.took_ms,
        ),
    )
    return replace(composition, package=composition.package.model_copy(update={"debug": debug}))


MOST_READ = 500


@dataclass(frozen=True, slots=True)
class TenantExperience:
    """The cached experience of a tenant, by user (None: shared by all), and the hints made from it so far."""

    learnt: Mapping[str | None, Sequence[ExperienceEntry]]
    made: dict[tuple[str | None, Intent, Language], tuple[str, ...]]

    def to_hints(self, user_id: str, intent: Intent, language: Language) -> tuple[str, ...]:
        """The hints for one user, from shared experience and the user's own receipts."""
        whose = user_id if user_id in self.learnt else None
        key = (whose, intent, language)
        if key not in self.made:
            own = self.learnt.get(whose, ()) if whose else ()
            self.made[key] = make_hints([*self.learnt.get(None, ()), *own], intent, language)
        return self.made[key]


def preload_hints(rt: Runtime, subject: Subject) -> None:
    """Starts to reload the tenant's experience if it is old."""
    if rt.policy.compose.agent_hints:
        rt.experience.get(subject.tenant_id, make_hints_loader(rt, subject.tenant_id))


def get_loaded_hints(rt: Runtime, subject: Subject, intent: Intent, language: Language) -> tuple[str, ...]:
    """The hints for this intent, as far as experience is loaded."""
    if not rt.policy.compose.agent_hints:
        return ()
    lines = cast(
        "TenantExperience | None", rt.experience.get(subject.tenant_id, make_hints_loader(rt, subject.tenant_id))
    )
    known = lines.to_hints(subject.user_id, intent, language) if lines else ()
    if known:
        AGENT_HINTS.inc()
    return known


def make_hints_loader(rt: Runtime, tenant_id: str) -> Callable[[], Awaitable[TenantExperience]]:
    async def read() -> TenantExperience:
        async with rt.db.system() as conn:
            rows = await user_state.of_tenant(conn, tenant_id, MOST_READ)
        learnt: dict[str | None, list[ExperienceEntry]] = {}
        for each in rows:
            learnt.setdefault(each.user_id, []).append(ExperienceEntry(each.key, each.figures))
        return TenantExperience(learnt, {})

    return read


def build_package(
    rt: Runtime,
    call: Call,
    request: ComposeRequest,
    state: ComposeState,
    planning: PlanningResult,
    resolution: ResolutionResult,
    degraded: Sequence[str],
) -> PackagedContext:
    """Packs the evidence in its order; `degraded` names what failed in earlier steps."""
    policy, planned, parts = rt.policy.compose, planning.planned, state.parts
    language = planned.language if policy.language == "auto" else policy.language
    window = [to_recent_turn(turn, policy.sanitize) for turn in state.earlier]
    inputs = PackInputs(
        context_id=str(clock.uuid7()),
        session_id=request.session_id,
        created_at=call.at,
        user_message=parts.text,
        request_id=call.request_id,
        content_parts=parts.parts,
        token_limit=request.limit(policy.default_profile),
        intent=planned.intent,
        language=language,
        nonce=token_hex(NONCE_BYTES),
        core=resolution.core,
        working_summary=state.summary,
        entities=state.names,
        recent=[turn for turn, _, _ in window],
        hints=get_loaded_hints(rt, call.subject, planned.intent, language),
        evidence=resolution.evidence,
        degraded_reason=[*degraded, *parts.degraded],
        withheld=[*parts.withheld, *(each for _, more, _ in window for each in more)],
        held_back=[each for _, _, held in window for each in held],
        inject_limit=choose_inject_limit(request, policy),
        generation_metadata=make_metadata(
            request.experiment_context, planning.planner, planning.report.ignored, call.request_id
        ),
    )
    with refuse_oversize(request, policy):
        return attach_conflicts(pack_context(inputs, to_pack_policy(policy)), resolution.conflicts)


def attach_conflicts(packed: PackagedContext, conflicts: Sequence[CandidateConflict]) -> PackagedContext:
    """The package with the overruled preferences added as decisions and drops, each naming the knowledge that overruled
    it."""
    if not conflicts:
        return packed
    decisions = tuple(
        Decision(each.memory, False, "conflict_knowledge", each.score, rule=each.knowledge) for each in conflicts
    )
    dropped = tuple(Dropped(each.memory, "conflict_knowledge", each.score, each.knowledge) for each in conflicts)
    return replace(
        packed,
        decisions=(*packed.decisions, *decisions),
        dropped=(*packed.dropped, *dropped),
        conflicts=(*packed.conflicts, *conflicts),
    )
