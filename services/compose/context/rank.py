"""Ranks search results: selects core memory, removes repeats, reranks and fuses; then resolves what is no longer valid.

Resolving drops texts that others replaced or overruled, and texts about another person or thing.
"""

from collections.abc import Sequence
from dataclasses import replace

from schemas.compose import ComposeRequest
from schemas.retrieval_plan import Rerank, RetrieveRequest
from schemas.vocabulary import Intent
from services.compose.context.load import to_pack_policy
from services.compose.context.rerank import RerankRequest, RerankResult, rerank_candidates
from services.compose.context.stages import (
    Call,
    ComposeState,
    PlanningResult,
    RankingResult,
    ResolutionResult,
    SearchResult,
)
from services.compose.rules.candidates import MOST_MEMORIES, CoreMemory, Dropped, HeldBack, SignalPolicy, weigh_wishes
from services.compose.rules.packing import slots
from services.compose.rules.packing.draft import PackPolicy
from services.compose.rules.packing.sizes import choose_profile
from services.compose.rules.planning.cues import asks_for_questions
from services.compose.rules.planning.plan import ExecutablePlan
from services.compose.rules.planning.questions import asks_past, list_respellings, points_back
from services.compose.rules.ranking.fuse import FusePolicy, FusionResult, compute_least_best, fuse
from services.compose.rules.ranking.repeats import DiversityPolicy, RepeatCandidate
from services.compose.rules.resolving.scopes import (
    asks_for_all,
    drop_others,
    drop_past,
    drop_relatives,
    mark_past,
    select_core_in_scope,
    select_needed,
    to_sort_key,
)
from services.compose.rules.resolving.superseding import ConflictResolution, drop_superseded, resolve_conflicts
from services.compose.rules.searching.nearness import make_nearness
from shared.domain.turns import Event
from shared.extraction.turn_texts import SPOKEN
from shared.language import tokens
from shared.language.normalise import clip
from shared.metrics.packages import KNOWLEDGE_CONFLICTS
from shared.policy import ComposePolicy
from shared.runtime import Runtime
from shared.screening.sanitize import SanitizePolicy, show
from shared.store.user_state import CoreMemoryRow


async def rank(
    rt: Runtime,
    call: Call,
    request: ComposeRequest,
    state: ComposeState,
    planning: PlanningResult,
    search: SearchResult,
) -> RankingResult:
    """The search results in one order, next to what the package shows anyway: core memory, window, summary."""
    core = select_core(state, planning)
    carried = {each.memory_id for each in core}
    candidates = weigh_wishes(search.candidates, planning.planned.intent)
    pool = [
        c for c in candidates if (c.turn_id not in state.shown if c.memory_id is None else c.memory_id not in carried)
    ]
    policy = replace(
        _package_policy(rt, search, choose_inject_limit(request, rt.policy.compose), planning.planned.intent),
        best_beside=max((c.probability for c in candidates if c.memory_id in carried), default=0.0),
        beside=gather_shown_texts(request, rt, state, core),
        questions=asks_for_questions(state.question),
    )
    by, question = planning.planned.plan.ranking.rerank, planning.question(state.question)
    reranked = await _rerank(rt, call, question, by, replace(search, candidates=pool), policy)
    return RankingResult(policy, fuse(reranked.candidates, call.at, policy), core, reranked.by, reranked.report)


async def rank_plan(rt: Runtime, call: Call, request: RetrieveRequest, search: SearchResult) -> RankingResult:
    """The results of a plan in one order, by the plan's own ranking and budget."""
    policy = _plan_policy(rt, request, search)
    reranked = await _rerank(rt, call, request.queries[0].text, request.ranking.rerank, search, policy)
    return RankingResult(
        policy, fuse(reranked.candidates, call.at, policy), reranked=reranked.by, report=reranked.report
    )


async def _rerank(
    rt: Runtime, call: Call, question: str, by: Rerank, search: SearchResult, policy: FusePolicy
) -> RerankResult:
    """Reranks the results if the plan asks for it; pending statements keep their positions."""
    if not by.enabled:
        return RerankResult(search.candidates)
    wanted = RerankRequest(question, by, frozenset(each.key for each in search.pending))
    return await rerank_candidates(rt, wanted, search.candidates, policy, call.left_s())


def choose_inject_limit(request: ComposeRequest, policy: ComposePolicy) -> int | None:
    """The most notes about the user in the package, if the request or the policy sets a limit."""
    return policy.inject_limit if request.inject_limit is None else request.inject_limit


def select_core(state: ComposeState, planning: PlanningResult) -> list[CoreMemory]:
    """The core memories that the package always carries; all of them if the message asks what is known.

    Memories pinned by the user come first, whatever their type.
    """
    every = [to_core(known) for known in state.core]
    pinned = sorted((each for each in every if each.is_pinned), key=to_sort_key)
    return [*pinned, *choose_unpinned([each for each in every if not each.is_pinned], state, planning)]


def choose_unpinned(core: list[CoreMemory], state: ComposeState, planning: PlanningResult) -> list[CoreMemory]:
    """The core memories not pinned by the user that the package carries, in order."""
    if asks_for_all(state.question, planning.planned.intent) and not points_back(state.question):
        return drop_past(sorted(core, key=to_sort_key))
    needed = select_needed(core, planning.planned.intent, make_nearness(planning.question(state.question)))
    return drop_past(select_core_in_scope(needed, state.question))


def to_core(row: CoreMemoryRow) -> CoreMemory:
    return CoreMemory(
        type=row.type,
        text=row.content_text,
        updated_at=row.valid_at,
        memory_id=str(row.memory_id),
        turn_id=str(row.source_turn_id) if row.source_turn_id else None,
        confidence=row.confidence,
        provenance=row.provenance_class,
        epistemic=row.epistemic_type,
        valid_at=row.valid_at,
        last_validated_at=row.last_validated_at,
        category=row.key or row.type,
        is_pinned=row.pinned,
    )


def gather_shown_texts(
    request: ComposeRequest, rt: Runtime, state: ComposeState, core: Sequence[CoreMemory]
) -> RepeatCandidate:
    """What the package shows besides evidence: core memory, the summary, and as many of the newest turns as their share
    of the limit holds."""
    policy = rt.policy.compose
    limits, limit = to_pack_policy(policy), request.limit(policy.default_profile)
    shares = choose_profile(limit, policy.budget).slots
    shown: list[str] = []
    if tokens.count(state.summary) <= shares["summary"]:
        shown += show(state.summary, "own", policy.sanitize).text.splitlines()
    room = shares["window"]
    for turn in reversed(state.earlier[max(0, len(state.earlier) - policy.recent_turns_max) :]):
        texts = [_show_text(event, limits, policy.sanitize) for event in turn.events if event.event_type in SPOKEN]
        room -= sum(map(tokens.count, texts))
        if room < 0:
            break
        shown += texts
    return RepeatCandidate(core, shown)


def _show_text(event: Event, limits: PackPolicy, sanitize: SanitizePolicy) -> str:
    text = str((event.content or {}).get("text", ""))
    if event.role != "tool":
        return show(text, "own", sanitize).text
    return clip(show(text, "foreign", sanitize).text, limits.max_tool_chars)


def _package_policy(rt: Runtime, search: SearchResult, notes: int | None, intent: Intent) -> FusePolicy:
    policy = rt.policy.compose
    return FusePolicy(
        weights=search.weights,
        limit=max(policy.evidence_max, notes or 0),
        memories_max=max(MOST_MEMORIES, notes or 0),
        least_score=policy.least_score,
        least_best=max(
            compute_least_best(policy.least_score), policy.ranking.small_talk_least if intent == "small_talk" else 0.0
        ),
        least_share=policy.ranking.share_of_best,
        signals=SignalPolicy(policy.ranking, rt.policy.confidence.decay),
        diversity=DiversityPolicy.of(policy.diversity),
        memory_ratio=policy.diversity.memory_share,
        lists=search.lists,
        sanitize=policy.sanitize,
    )


def _plan_policy(rt: Runtime, request: RetrieveRequest, search: SearchResult) -> FusePolicy:
    """The plan's own ranking and budget; limits per session and turn apply to messages only if the plan sets them."""
    policy = rt.policy.compose
    diversity = request.budget.diversity
    given = diversity.model_fields_set
    per_session = [getattr(diversity, name) for name in ("by_document", "by_source") if name in given]
    per_turn = diversity.by_section if "by_section" in given else None
    least = request.ranking.min_score
    quotas = request.budget.per_mode_k.model_dump(exclude_none=True)
    return FusePolicy(
        method=request.ranking.fusion.method,
        rrf_k=request.ranking.fusion.rrf_k,
        weights=search.weights,
        tie_breaker=request.ranking.tie_breaker,
        source_priority=request.ranking.source_priority,
        diversity=DiversityPolicy(
            by_document=diversity.by_document,
            by_section=diversity.by_section,
            by_uri=per_turn or policy.diversity.by_uri,
            by_domain=diversity.by_source,
            by_session=min(per_session, default=None),
            by_turn=per_turn,
        ),
        signals=SignalPolicy(policy.ranking, rt.policy.confidence.decay),
        memory_ratio=policy.diversity.memory_share,
        repeats=diversity.repeats,
        limit=request.budget.top_k,
        memories_max=request.budget.top_k,
        lists=search.lists,
        per_mode=quotas,
        candidates_max=request.budget.candidate_k,
        least_score=policy.least_score if least is None else least,
        least_best=compute_least_best(policy.least_score) if least is None else 0.0,
        least_share=policy.ranking.share_of_best if least is None else 0.0,
        sanitize=policy.sanitize,
    )


def resolve(rt: Runtime, state: ComposeState, planning: PlanningResult, ranking: RankingResult) -> ResolutionResult:
    """What may be packed, without texts that were replaced or are about others than the message asks about."""
    message, past = state.question, asks_past(state.question)
    fused = drop_superseded(ranking.fused, message, past=past)
    fused = mark_past(fused, past=past)
    fused = drop_relatives(fused, message, planning.planned.intent)
    # another name of the same person does not name somebody else
    fused = drop_others(fused, " ".join((message, *list_respellings(message, state.joined))))
    settled = apply_precedence(rt, fused, ranking.core, message)
    return ResolutionResult(fused, settled.evidence, settled.core, settled.conflicts)


def resolve_plan(
    rt: Runtime, request: RetrieveRequest, run: ExecutablePlan, ranking: RankingResult
) -> ResolutionResult:
    """What may be shown of a plan's results."""
    question = " ".join(query.text for query in request.queries)
    past = any(step.bounds.past for step in run.steps)
    fused = drop_superseded(ranking.fused, question, past=past)
    fused, held_back = screen_all(mark_past(fused, past=True), rt.policy.compose.sanitize)
    return ResolutionResult(fused, held_back=held_back)


def apply_precedence(rt: Runtime, fused: FusionResult, core: Sequence[CoreMemory], message: str) -> ConflictResolution:
    """Drops preferences that a rule of the enterprise contradicts."""
    if not (rt.knowledge.configured and rt.policy.knowledge.precedence):
        return ConflictResolution(fused.ranked, tuple(core))
    resolution = resolve_conflicts(fused.ranked, core, message, rt.policy.compose.sanitize)
    KNOWLEDGE_CONFLICTS.inc(len(resolution.conflicts))
    return resolution


def screen_all(fused: FusionResult, policy: SanitizePolicy) -> tuple[FusionResult, list[HeldBack]]:
    """Screens all candidates: keeps what may be shown, drops the rest, and lists what is held back."""
    seen = slots.screen_candidates(fused.ranked, policy)
    held = [text for each, clean in seen for text in slots.list_all_held_back(each.candidate, clean, policy)]
    allowed = [
        replace(each, candidate=replace(each.candidate, text=clean.text))
        for each, clean in seen
        if clean.outcome != "blocked"
    ]
    blocked = [
        Dropped(each.key, "blocked", each.score, clean.rule) for each, clean in seen if clean.outcome == "blocked"
    ]
    return replace(fused, ranked=tuple(allowed), dropped=(*fused.dropped, *blocked)), held
