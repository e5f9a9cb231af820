"""compose_context and retrieve: plan -> arms at once under one deadline -> fuse -> pack (seed 000 section 6.1)."""

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime

from schemas.compose import ComposeRequest
from schemas.context_package import ContextPackage, PackageDebug, PlannerDebug
from schemas.evidence_pack import EvidencePack
from schemas.explain import Explain
from schemas.retrieve import RetrieveRequest
from schemas.vocabulary import Intent
from services.compose.context import (
    experience,
    explain,
    knowledge_search,
    pending_turns,
    planner,
    relations,
    rerank,
    search,
)
from services.compose.context.composition import Composition, Retrieved
from services.compose.context.evidence import evidence_pack, fuse_policy, screen_all
from services.compose.context.hits import SearchResult
from services.compose.context.nearest import nearness_between
from services.compose.context.package import (
    ComposeState,
    gather_beside,
    hold_message,
    inject_limit,
    package_context,
    read_message,
    select_core,
    to_ended,
)
from services.compose.intake import media
from services.compose.rules.candidates import MEMORIES_MOST, CoreMemory, HeldBack
from services.compose.rules.packing.conflict import (
    ConflictResolution,
    attach_conflicts,
    resolve_conflicts,
)
from services.compose.rules.packing.pack import PackagedContext
from services.compose.rules.pending.pending_changes import ARM, evidence
from services.compose.rules.planning import subplan
from services.compose.rules.planning.cues import asks_for_questions
from services.compose.rules.planning.execute import (
    ExecutablePlan,
    execute_composed,
    execute_given,
)
from services.compose.rules.planning.past import asks_past
from services.compose.rules.planning.plan import Planned
from services.compose.rules.planning.spellings import respelt
from services.compose.rules.planning.subplan import SubPlan
from services.compose.rules.ranking.advice import weigh_wishes
from services.compose.rules.ranking.fuse import OF_BEST, FusePolicy, FusionResult, best_of, fuse
from services.compose.rules.ranking.judged import keys
from services.compose.rules.resolving.bygone import mark_past
from services.compose.rules.resolving.needed import KEYS, PREFIXES
from services.compose.rules.resolving.relatives import without_relatives
from services.compose.rules.resolving.scopes import without_others
from services.compose.rules.resolving.superseding import without_superseded
from shared import clock
from shared.domain import blocks
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.errors import TransientError
from shared.extraction.relatives import tells_of_relative
from shared.metrics.packages import COMPOSE_DEGRADED, KNOWLEDGE_CONFLICTS, TEXTS_HELD_BACK
from shared.runtime import Runtime
from shared.store import ended, entities, knowledge, memory, sessions, summaries, turns
from shared.store.erasure import tombstones
from shared.store.media import load_known
from shared.telemetry import logger

ASKED_CHARS = 2000
"""Of what was recognised in one media, so much is planned and searched with."""
ENDED_MOST = 200
"""So many of the versions that ended last are looked for in what is found."""
FOR_SMALL_TALK = 0.3
"""So likely the best must be to help where nothing was asked: a greeting is near every greeting."""
SHARE_FOR_SEARCH = 0.8
"""Of the time left, how much the arms may use; the rest is for fusing and packing."""


async def compose_package(
    asked: ComposeRequest, rt: Runtime, *, ignored: Sequence[str] = (), now: datetime | None = None
) -> ContextPackage:
    """As `compose_context`: the package alone."""
    return (await compose_context(asked, rt, ignored=ignored, now=now)).package


async def compose_context(
    asked: ComposeRequest, rt: Runtime, *, ignored: Sequence[str] = (), now: datetime | None = None
) -> Composition:
    """The package for one message, within the request's token limit and deadline, and how it came about.

    An arm that is missing or late is named in `degraded_reason`. RefusedError `user_message_too_long` names the field,
    `media_security_blocked` all media of the message that is not safe. TransientError: memory itself is away, or did
    not answer within the deadline.
    """
    began = time.perf_counter()
    hold_message(asked, rt.policy.compose)
    deadline = began + rt.policy.compose.seconds(asked.deadline_ms)
    subject = Subject(asked.tenant_id, asked.user_id)
    at = now or clock.now()
    experience.begin(rt, subject)
    async with _in_time(deadline - time.perf_counter()):
        loaded = await _load(rt, subject, asked, at)
    said = read_message(asked, loaded.message, rt.policy.compose)
    request_id = asked.request_id or clock.uuid7().hex
    message = blocks.to_question(loaded.message, ASKED_CHARS, rt.policy.compose.sanitize)
    thought = await planner.plan(
        rt,
        subject,
        message,
        list_said_texts(loaded.window),
        at,
        request_id,
        asked.session_id,
        deadline - time.perf_counter(),
        loaded.epoch,
        asked.experiment_context.dimensions.brain_routing if asked.experiment_context else None,
    )
    planned = thought.planned
    left = (deadline - time.perf_counter()) * SHARE_FOR_SEARCH
    shown = pending_turns.list_shown_turns(loaded.window, asked.user_message, rt.policy.compose.recent_turns_max)
    asking = knowledge_search.begin(
        rt,
        loaded.scope,
        loaded.knowledge,
        await choose_knowledge_query(rt, planned, message, request_id),
        planned.plan,
        left,
    )
    async with asking:
        found = await search.search(rt, subject, execute_composed(planned.plan, loaded.joined), left, loaded.overlay)
        await asking.tell(found)
    found.stale += loaded.hidden
    thought.tell(found)
    first = evidence(loaded.overlay, shown, frozenset(found.stale_answers.union(loaded.hidden)))
    found.put_first(first, ARM)
    core = select_core(loaded, thought, message)
    carried = {each.memory_id for each in core}
    candidates = weigh_wishes(found.candidates, planned.intent)
    pool = [c for c in candidates if (c.turn_id not in shown if c.memory_id is None else c.memory_id not in carried)]
    policy = replace(
        _fuse_policy(rt, found, inject_limit(asked, rt.policy.compose), planned.intent),
        best_beside=max((c.probability for c in candidates if c.memory_id in carried), default=0.0),
        beside=gather_beside(asked, rt, loaded, core),
        questions=asks_for_questions(message),
    )
    wish = rerank.RerankRequest(thought.question(message), planned.plan.ranking.rerank, keys(first))
    pool = await rerank.rerank_candidates(rt, wish, pool, policy, deadline - time.perf_counter(), found)
    past = asks_past(message)
    fused = without_superseded(fuse(pool, at, policy), message, nearness_between, past=past)
    fused = mark_past(fused, past=past)
    fused = without_relatives(fused, message, planned.intent)
    # who is named is not another than the one that the other name is of
    fused = without_others(fused, " ".join((message, *respelt(message, loaded.joined))), nearness_between)
    settled = apply_precedence(rt, fused, core, message)
    made = package_context(asked, rt, loaded, said, thought, settled, found.degraded, request_id, at)
    packed = attach_conflicts(made, settled.conflicts)
    for reason in packed.package.degraded_reason:
        COMPOSE_DEGRADED.labels(reason).inc()
    _count_held_back(packed.held_back)
    took = (time.perf_counter() - began) * 1000
    logger().info(
        "context_composed",
        tenant_id=subject.tenant_id,
        context_id=packed.package.context_id,
        request_id=request_id,
        evidence=len(packed.package.evidence),
        took_ms=round(took, 2),
        degraded=packed.package.degraded_reason,
        conflicts=[{"memory": each.memory, "with": each.knowledge, "rule": each.rule} for each in packed.conflicts],
    )
    package = packed.package
    if asked.debug:
        package = package.model_copy(update={"debug": _debug(planned, found, fused, packed, ignored, took)})
    return Composition(asked, package, thought, found, policy, fused, packed, took, loaded.epoch)


def apply_precedence(rt: Runtime, fused: FusionResult, core: Sequence[CoreMemory], message: str) -> ConflictResolution:
    """Where knowledge and a preference contradict each other, knowledge stands (seed 004 section 4.3)."""
    if not (rt.knowledge.configured and rt.policy.knowledge.precedence):
        return ConflictResolution(fused.ranked, tuple(core))
    settled = resolve_conflicts(fused.ranked, core, message, rt.policy.compose.sanitize)
    KNOWLEDGE_CONFLICTS.inc(len(settled.conflicts))
    return settled


def _count_held_back(texts: Iterable[HeldBack]) -> None:
    for each in texts:
        TEXTS_HELD_BACK.labels(each.source, each.rule).inc()


@asynccontextmanager
async def _in_time(left_s: float) -> AsyncGenerator[None, None]:
    """What has no substitute, within the time that is left; TransientError beyond it."""
    try:
        async with asyncio.timeout(left_s):
            yield
    except TimeoutError as error:
        raise TransientError("memory did not answer within the deadline") from error


async def _load(rt: Runtime, subject: Subject, asked: ComposeRequest, at: datetime) -> ComposeState:
    policy, session_id = rt.policy.compose, asked.session_id
    scope = knowledge_search.scope(rt, asked)
    reads = (
        memory.core(subject, policy.core_limit, tuple(KEYS), tuple(PREFIXES)),
        summaries.load_standing(subject, session_id),
        turns.recent(subject, session_id, policy.recent_turns_max + 1, policy.pending_turns_max),
        tombstones.epoch(subject),
        ended.versions(subject, ENDED_MOST),
        ended.taken_back(subject, ENDED_MOST),
        entities.load_joined(subject),
    )
    said = asked.user_message.blocks
    named = blocks.media_ids(said)
    version = 0
    if named or rt.knowledge.configured:
        core, standing, recent, epoch, gone, taken, joined, registered, version = await rt.db.read(
            subject, *reads, load_known(subject, named), knowledge.version(scope)
        )
        said = media.admit_blocks(asked.user_message, registered)
    else:
        core, standing, recent, epoch, gone, taken, joined = await rt.db.read(subject, *reads)
    now = pending_turns.message(asked.user_message, session_id, at)
    seen = await pending_turns.foresee(
        rt.db, subject, load_open_turns(rt, recent.pending, epoch), now, rt.policy.confidence
    )
    before = pending_turns.list_turns_before(recent.window, asked.user_message)
    seen = seen.with_ended(map(to_ended, gone), pending_turns.taken_back(before, now, taken))
    hidden = [f"memory:{m.memory_id}" for m in core if seen.hides(m.memory_id, m.source_turn_id, m.content_text)]
    # what is known of a relative is no part of who the user is: it is found where it is asked about
    core = [m for m in core if f"memory:{m.memory_id}" not in hidden and not tells_of_relative(m.content_text)]
    names = [slot["name"] for slot in sessions.foremost(standing.entity_slots, rt.policy.session.entity_slots_max)]
    summary = seen.summary(standing.text, standing.lines, standing.ended)
    return ComposeState(
        core, summary, seen.names(names), recent.window, seen, hidden, said, scope, version, epoch, joined
    )


def load_open_turns(rt: Runtime, pending: Sequence[Turn], epoch: int) -> pending_turns.OpenTurns:
    return pending_turns.OpenTurns(pending, epoch, rt.read_turns)


async def choose_knowledge_query(rt: Runtime, planned: Planned, message: str, request_id: str) -> SubPlan | None:
    """What knowledge is to be asked, if it is."""
    if not rt.knowledge.configured or not planned.resources_needed:
        return None
    modes = (await rt.knowledge.capabilities()).modes
    return subplan.make_own_subplan(planned.plan, message, rt.policy.knowledge.top_k, modes, request_id)


def list_said_texts(window: Sequence[Turn]) -> list[str]:
    return [
        event.content["text"]
        for turn in window
        for event in turn.events
        if event.event_type == "user_message" and event.content
    ]


def _fuse_policy(rt: Runtime, found: SearchResult, notes: int | None, intent: Intent) -> FusePolicy:
    policy = rt.policy.compose
    return FusePolicy(
        weights=found.weights,
        limit=max(policy.evidence_max, notes or 0),
        memories_max=max(MEMORIES_MOST, notes or 0),
        least_score=policy.least_score,
        least_best=max(best_of(policy.least_score), FOR_SMALL_TALK if intent == "small_talk" else 0.0),
        least_share=OF_BEST,
        lists=found.lists,
        sanitize=policy.sanitize,
    )


def _debug(
    planned: Planned,
    found: SearchResult,
    fused: FusionResult,
    packed: PackagedContext,
    ignored: Sequence[str],
    took_ms: float,
) -> PackageDebug:
    return PackageDebug(
        planner=PlannerDebug(
            intent=planned.intent,
            reason=planned.reason,
            queries=[query.text for query in planned.plan.queries],
            purpose=planned.purpose,
            confidence=planned.confidence,
            entities=list(planned.entities),
            hints=list(planned.context_hints),
            language=planned.language,
            plan=planned.plan,
            resources_needed=planned.resources_needed,
        ),
        why_selected=list(packed.why_selected),
        ignored=list(found.ignored),
        explain=Explain(
            arms=explain.timings(found),
            rerank=found.reranked,
            notes=found.notes,
            candidates=explain.candidates(found, fused, [each.id for each in packed.package.evidence], packed.dropped),
            dropped=explain.list_dropped(found, fused.dropped, packed.dropped),
            held_back=explain.to_held_back(packed.held_back),
            ignored_fields=list(ignored),
            took_ms=took_ms,
        ),
    )


async def retrieve(asked: RetrieveRequest, rt: Runtime, *, ignored: Sequence[str] = ()) -> EvidencePack:
    """As `execute_plan`: the pack alone."""
    return (await execute_plan(asked, rt, ignored=ignored)).pack


async def execute_plan(asked: RetrieveRequest, rt: Runtime, *, ignored: Sequence[str] = ()) -> Retrieved:
    """What a plan finds in memory, in its final order, with what was ignored (seed 001 section 9)."""
    began = time.perf_counter()
    deadline = began + rt.policy.compose.seconds(None)
    at = clock.now()
    request_id = asked.request_id or clock.uuid7().hex
    subject = Subject(asked.tenant_id, asked.user_id)
    async with _in_time(deadline - time.perf_counter()):
        reads = (
            turns.load_pending(subject, rt.policy.compose.pending_turns_max),
            tombstones.epoch(subject),
            ended.versions(subject, ENDED_MOST),
            ended.taken_back(subject, ENDED_MOST),
        )
        version, scope = 0, knowledge_search.scope(rt, asked)
        if rt.knowledge.configured:
            pending, epoch, gone, taken, version = await rt.db.read(subject, *reads, knowledge.version(scope))
        else:
            pending, epoch, gone, taken = await rt.db.read(subject, *reads)
        seen = await pending_turns.foresee(
            rt.db, subject, load_open_turns(rt, pending, epoch), None, rt.policy.confidence
        )
        seen = seen.with_ended(map(to_ended, gone), pending_turns.taken_back((), None, taken))
    run = execute_given(asked, await relations.all_together(rt, subject, asked, (deadline - time.perf_counter()) / 4))
    left = (deadline - time.perf_counter()) * SHARE_FOR_SEARCH
    wanted = await choose_given_knowledge_query(rt, asked, run, request_id)
    async with knowledge_search.begin(rt, scope, version, wanted, asked, left) as asking:
        found = await search.search(rt, subject, run, left, seen)
        await asking.tell(found)
    first = evidence(seen, frozenset(), frozenset(found.stale_answers))
    found.put_first(first, ARM)
    sanitize = rt.policy.compose.sanitize
    policy = fuse_policy(asked, found, rt.policy.compose.least_score, sanitize)
    wish = rerank.RerankRequest(asked.queries[0].text, asked.ranking.rerank, keys(first))
    pool = await rerank.rerank_candidates(rt, wish, found.candidates, policy, deadline - time.perf_counter(), found)
    question = " ".join(query.text for query in asked.queries)
    past = any(step.bounds.past for step in run.steps)
    fused = without_superseded(fuse(pool, at, policy), question, nearness_between, past=past)
    fused = mark_past(fused, past=True)
    took = (time.perf_counter() - began) * 1000
    fused, held = screen_all(fused, sanitize)
    _count_held_back(held)
    pack = evidence_pack(asked, run, found, fused, held, request_id, at, took, ignored, sanitize)
    logger().info(
        "plan_executed",
        tenant_id=subject.tenant_id,
        plan_id=pack.plan_id,
        request_id=request_id,
        evidence=len(pack.evidences),
        took_ms=round(took, 2),
        degraded=pack.explain.degraded_reason,
    )
    return Retrieved(asked, pack, epoch)


async def choose_given_knowledge_query(
    rt: Runtime, asked: RetrieveRequest, run: ExecutablePlan, request_id: str
) -> SubPlan | None:
    """A caller's plan says itself what it wants: knowledge is asked wherever it may be."""
    if not rt.knowledge.configured or rt.policy.knowledge.ask == "never":
        return None
    modes = (await rt.knowledge.capabilities()).modes
    return subplan.make_given_subplan(asked, (step.of for step in run.steps), modes, request_id)
