"""The package: every slot filled within the budget, everything left out named (seeds 003, 004 4.1 step 3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from schemas.context_package import (
    Constraints,
    ContextPackage,
    DiversityLimits,
    RecentMessage,
    SystemBlock,
    TokenBudget,
    Truncation,
    UserMessage,
)
from schemas.vocabulary import Intent, Language
from services.compose.rules import slots
from services.compose.rules.budget import (
    COMPRESSIBLE,
    BudgetPolicy,
    BudgetSignals,
    UserMessageTooLongError,
    allocate,
    margin,
    personal_ceiling,
    profile_for,
    truncate,
    u_shape,
)
from services.compose.rules.fuse import DiversityPolicy
from services.compose.rules.model import CoreMemory, Dropped, DropReason, Ranked, RecentTurn
from services.compose.rules.render import MESSAGE_OVERHEAD
from services.compose.rules.sanitize import DEFAULT_SANITIZE, Outcome, SanitizePolicy, screen
from services.compose.rules.slots import Prepared, PreparedCore, Rules
from shared.text import tokens
from shared.text.language import detect

SNIPPET_LADDER: tuple[tuple[float, float], ...] = ((1.0, 0.45), (0.6, 0.35))
"""Shares of the longest snippet for the best four and for the rest, tried in turn where the longest do not fit."""


@dataclass(frozen=True, slots=True)
class PackPolicy:
    """The limits of a package (seed 003 section 9, facts 2.1, X25, X26)."""

    budget: BudgetPolicy = field(default_factory=BudgetPolicy)
    sanitize: SanitizePolicy = DEFAULT_SANITIZE
    diversity: DiversityPolicy = field(default_factory=DiversityPolicy)
    memory_ratio: float = 0.4
    recent_turns_max: int = 8
    evidence_max_items: int = 12
    memories_max: int = 8
    max_snippet_chars: int = 800
    max_tool_chars: int = 240
    short_guide_below: int = 2048


@dataclass(frozen=True, slots=True)
class PackInputs:
    """What there is to pack; `evidence` is in its final order."""

    context_id: str
    session_id: str
    created_at: datetime
    user_message: str
    request_id: str | None = None
    content_parts: Sequence[dict[str, JsonValue]] = ()
    token_limit: int = 8192
    intent: Intent = "other"
    language: Language | None = None
    core: Sequence[CoreMemory] = ()
    working_summary: str = ""
    entities: Sequence[str] = ()
    recent: Sequence[RecentTurn] = ()
    evidence: Sequence[Ranked] = ()
    policies: Sequence[str] = ()
    developer_rules: Sequence[str] = ()
    degraded_reason: Sequence[str] = ()
    inject_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one memory or piece of evidence: the receipt's five-tuple and its outcome (R124)."""

    key: str
    injected: bool
    reason: DropReason
    score: float = 0.0
    position: int | None = None
    zone: Literal["head", "middle", "tail"] | None = None
    sanitization: Outcome = "pass"
    rule: str | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Packed:
    """The package without its debug section, and what the receipts and the debug section need."""

    package: ContextPackage
    decisions: tuple[Decision, ...]
    dropped: tuple[Dropped, ...]
    why_selected: tuple[str, ...]
    allocation: dict[str, int]
    budget_exceeded: bool


@dataclass(slots=True)
class _Draft:
    """The package while it is being filled."""

    evidence: list[Prepared] = field(default_factory=list[Prepared])
    core: list[PreparedCore] = field(default_factory=list[PreparedCore])
    turns: list[list[RecentMessage]] = field(default_factory=list[list[RecentMessage]])
    summary: str = ""
    entities: str = ""
    rejected: list[Decision] = field(default_factory=list[Decision])
    degraded: list[str] = field(default_factory=list[str])


def pack(inputs: PackInputs, policy: PackPolicy) -> Packed:
    """A package whose every text and tag together stay within the limit less the margin; the user message is whole."""
    budget = policy.budget
    ceiling = int(inputs.token_limit - margin(inputs.token_limit, budget))
    said = tokens.count(inputs.user_message) + MESSAGE_OVERHEAD
    if said > ceiling:
        problem = f"user_message needs about {said} tokens; the limit of {inputs.token_limit} leaves {ceiling}"
        raise UserMessageTooLongError(problem)
    generation = min(profile_for(inputs.token_limit, budget).slots["generation"], ceiling - said)
    room = ceiling - generation - said
    rules = _rules(inputs, policy, room)
    draft, sizes = _fill(inputs, policy, room - rules.cost)
    package = _package(inputs, policy, draft, rules, said, generation, ceiling)
    while draft.evidence and _wire_tokens(package) > ceiling:
        _let_go(draft, draft.evidence.pop())
        package = _package(inputs, policy, draft, rules, said, generation, ceiling)
    while draft.turns and _wire_tokens(package) > ceiling:
        draft.turns.pop()
        package = _package(inputs, policy, draft, rules, said, generation, ceiling)
    return _packed(package, draft, sizes)


def _rules(inputs: PackInputs, policy: PackPolicy, room: int) -> Rules:
    language = _language(inputs)
    for short in (inputs.token_limit < policy.short_guide_below, True):
        made = slots.rules(
            language, inputs.intent, inputs.created_at, inputs.policies, inputs.developer_rules, short=short
        )
        if made.cost <= room:
            return made
    return Rules()


def _language(inputs: PackInputs) -> Language:
    texts = [inputs.user_message, *(turn.messages[0].content for turn in inputs.recent[-2:] if turn.messages)]
    found: list[Language] = [detect(text) for text in texts]
    clear: list[Language] = [each for each in found if each != "other"]
    return inputs.language or (clear[0] if clear else "other")


def _fill(inputs: PackInputs, policy: PackPolicy, room: int) -> tuple[_Draft, dict[str, int]]:
    """Wants measured, cut by priority to the room, then each slot filled to its size (seed 004 section 4.2.1)."""
    draft = _Draft(degraded=list(inputs.degraded_reason))
    allowed = _allowed(inputs, policy, draft)
    request = inputs.request_id or inputs.context_id
    whole = slots.evidence(allowed, request, inputs.created_at, (policy.max_snippet_chars, policy.max_snippet_chars))
    pinned = _pinned(inputs, policy, draft, {each.ranked.key for each in whole})
    turns = slots.window(_earlier(inputs), policy.recent_turns_max, policy.max_tool_chars)
    summary, entities = _summary(inputs, policy, draft), _entities(inputs, policy)
    personal = sum(each.cost for each in whole if not each.is_resource) + sum(each.cost for each in pinned)
    frame = 2 * MESSAGE_OVERHEAD + 8
    wants: dict[str, int] = {
        "personal": min(personal, personal_ceiling(inputs.intent, policy.budget)),
        "knowledge": sum(each.cost for each in whole if each.is_resource),
        "window": sum(price for price, _ in turns),
        "summary": slots.cost(summary),
        "entities": slots.cost(entities),
    }
    floors = allocate(inputs.token_limit, _signals(wants, len(whole) + len(pinned), len(turns)), policy.budget)
    minimums: dict[str, int] = {slot: floors[slot] for slot in COMPRESSIBLE}
    sizes = truncate(wants, max(0, room - frame), minimums, policy.budget.order)
    _fill_memory(inputs, policy, draft, allowed, whole, pinned, sizes)
    _fill_window(draft, turns, sizes["window"])
    draft.summary = _cut(summary, sizes["summary"])
    draft.entities = _cut(entities, sizes["entities"])
    return draft, sizes


def _allowed(inputs: PackInputs, policy: PackPolicy, draft: _Draft) -> list[tuple[Ranked, slots.Screened]]:
    """The evidence that passes the guard and the counts, in order."""
    memories = (
        policy.memories_max if inputs.inject_limit is None else min(inputs.inject_limit, policy.evidence_max_items)
    )
    personal = policy.evidence_max_items if inputs.intent != "small_talk" else policy.budget.small_talk_items
    kept: list[tuple[Ranked, slots.Screened]] = []
    for each, clean in slots.screened(inputs.evidence, policy.sanitize, policy.max_snippet_chars):
        is_memory = each.candidate.memory_id is not None
        full = len(kept) >= policy.evidence_max_items or (is_memory and memories <= 0)
        if clean.outcome == "blocked":
            draft.rejected.append(
                Decision(each.key, False, "blocked", each.score, sanitization="blocked", rule=clean.rule)
            )
        elif full or (not each.candidate.is_resource and personal <= 0):
            draft.rejected.append(Decision(each.key, False, "relevance", each.score, sanitization=clean.outcome))
        else:
            memories -= is_memory
            personal -= not each.candidate.is_resource
            kept.append((each, clean))
    return kept


def _pinned(inputs: PackInputs, policy: PackPolicy, draft: _Draft, shown: set[str]) -> list[PreparedCore]:
    """Core memory that is not already evidence; a greeting is given few, and a user who allows none gets none."""
    if inputs.inject_limit == 0:
        return []
    pinned, blocked = slots.core(inputs.core, policy.sanitize)
    draft.rejected += [Decision(each.key, False, "blocked", sanitization="blocked", rule=each.rule) for each in blocked]
    fresh = [each for each in pinned if each.key not in shown and each.memory.epistemic != "outdated"]
    return fresh[: max(0, policy.budget.small_talk_items - len(shown))] if inputs.intent == "small_talk" else fresh


def _earlier(inputs: PackInputs) -> list[RecentTurn]:
    """The turns before this one: the message being answered may already be stored."""
    turns = sorted(inputs.recent, key=lambda turn: turn.seq)
    if turns and [(each.role, each.content) for each in turns[-1].messages] == [("user", inputs.user_message)]:
        turns.pop()
    return turns


def _summary(inputs: PackInputs, policy: PackPolicy, draft: _Draft) -> str:
    clean = screen(inputs.working_summary, policy.sanitize)
    if clean.outcome == "blocked":
        draft.degraded.append("summary_blocked")
        draft.rejected.append(Decision("summary", False, "blocked", sanitization="blocked", rule=clean.rule))
        return ""
    return clean.text.strip()


def _entities(inputs: PackInputs, policy: PackPolicy) -> str:
    clean = [screen(each, policy.sanitize) for each in inputs.entities]
    return "; ".join(each.text for each in clean if each.outcome != "blocked" and each.text)


def _signals(wants: dict[str, int], memories: int, turns: int) -> BudgetSignals:
    return BudgetSignals(
        memory_richness=min(1.0, memories / 16) if wants["personal"] else 0.0,
        knowledge_relevance=0.75 if wants["knowledge"] else 0.0,
        conversation_depth=min(1.0, turns / 8),
    )


def _fill_memory(
    inputs: PackInputs,
    policy: PackPolicy,
    draft: _Draft,
    allowed: Sequence[tuple[Ranked, slots.Screened]],
    whole: list[Prepared],
    pinned: Sequence[PreparedCore],
    sizes: dict[str, int],
) -> None:
    """Evidence first, at the longest snippets that fit; pinned memory has up to two fifths of the personal slot."""
    reserved = min(sum(each.cost for each in pinned), int(sizes["personal"] * 0.4))
    left = {False: sizes["personal"] - reserved, True: sizes["knowledge"]}
    prepared = _at_best_length(inputs, policy, allowed, whole, left)
    for each in prepared:
        if each.cost <= left[each.is_resource]:
            left[each.is_resource] -= each.cost
            draft.evidence.append(each)
        else:
            _let_go(draft, each)
    spare = left[False] + reserved
    shown = {each.ranked.key for each in draft.evidence}
    for each in pinned:
        if each.key not in shown and each.cost <= spare:
            spare -= each.cost
            draft.core.append(each)
        else:
            draft.rejected.append(Decision(each.key, False, "budget_exceeded", each.memory.confidence))


def _at_best_length(
    inputs: PackInputs,
    policy: PackPolicy,
    allowed: Sequence[tuple[Ranked, slots.Screened]],
    whole: list[Prepared],
    left: dict[bool, int],
) -> list[Prepared]:
    prepared = whole
    for best, rest in SNIPPET_LADDER:
        if all(sum(each.cost for each in prepared if each.is_resource is side) <= left[side] for side in (False, True)):
            break
        limits = (int(policy.max_snippet_chars * best), int(policy.max_snippet_chars * rest))
        prepared = slots.evidence(allowed, inputs.request_id or inputs.context_id, inputs.created_at, limits)
    return prepared


def _let_go(draft: _Draft, each: Prepared) -> None:
    score = each.ranked.score
    draft.rejected.append(Decision(each.ranked.key, False, "budget_exceeded", score, sanitization=each.outcome))


def _fill_window(draft: _Draft, turns: Iterable[tuple[int, list[RecentMessage]]], size: int) -> None:
    """Whole turns from the newest back; the newest is shortened rather than lost."""
    for price, messages in turns:
        if price > size:
            if not draft.turns and (cut := slots.shortened(messages, size)) and slots.turn_cost(cut) <= size:
                draft.turns.append(cut)
            return
        size -= price
        draft.turns.append(messages)


def _cut(text: str, size: int) -> str:
    if slots.cost(text) <= size:
        return text
    short = tokens.head(text, size - slots.SEPARATOR - 1)
    return short[: short.rfind("\n")] if "\n" in short[len(short) // 2 :] else short


def _package(
    inputs: PackInputs, policy: PackPolicy, draft: _Draft, rules: Rules, said: int, generation: int, ceiling: int
) -> ContextPackage:
    placed = u_shape(draft.evidence)
    recent = [message for messages in reversed(draft.turns) for message in messages]
    known = SystemBlock(type="other", text=draft.entities, updated_at=inputs.created_at) if draft.entities else None
    used: dict[str, int] = {
        "system": rules.cost,
        "user_turn": said,
        "personal": sum(each.cost for each in draft.core) + sum(e.cost for e in draft.evidence if not e.is_resource),
        "knowledge": sum(each.cost for each in draft.evidence if each.is_resource),
        "window": slots.turn_cost(recent),
        "summary": slots.cost(draft.summary),
        "entities": slots.cost(draft.entities),
    }
    frame = (2 * MESSAGE_OVERHEAD + 8) if draft.evidence or draft.summary else 0
    return ContextPackage(
        context_id=inputs.context_id,
        session_id=inputs.session_id,
        created_at=inputs.created_at,
        request_id=inputs.request_id,
        system_blocks=[*(each.block for each in draft.core), *([known] if known else []), *rules.system],
        developer_blocks=list(rules.developer),
        working_summary=draft.summary,
        recent_turns=recent,
        evidence=[each.item for each in placed],
        user_message=UserMessage(content=inputs.user_message, content_parts=list(inputs.content_parts)),
        constraints=Constraints(
            token_budget=TokenBudget(
                limit=inputs.token_limit,
                used_estimate=sum(used.values()) + frame,
                margin=inputs.token_limit - ceiling,
                generation=generation,
                profile=profile_for(inputs.token_limit, policy.budget).name,
                slots=used,
            ),
            diversity=DiversityLimits(
                by_document=policy.diversity.by_document,
                by_source=policy.diversity.by_domain,
                by_section=policy.diversity.by_section,
                by_uri=policy.diversity.by_uri,
                memory_ratio=policy.memory_ratio,
            ),
            truncation=Truncation(
                snippets_max_chars=policy.max_snippet_chars,
                recent_turns_max=policy.recent_turns_max,
                evidence_max_items=policy.evidence_max_items,
            ),
        ),
        degraded_reason=list(dict.fromkeys(draft.degraded)),
    )


def _wire_tokens(package: ContextPackage) -> int:
    """The tokens of the package as JSON, for consumers that hand it on as it is; a cheap bound comes first."""
    items = len(package.evidence) * 460 + len(package.system_blocks) * 140 + len(package.recent_turns) * 30 + 500
    rough = package.constraints.token_budget.used_estimate + items
    if rough <= package.constraints.token_budget.limit - package.constraints.token_budget.margin:
        return rough
    return tokens.count(package.model_dump_json(exclude={"debug"}))


def _packed(package: ContextPackage, draft: _Draft, sizes: dict[str, int]) -> Packed:
    positions = {item.id: place for place, item in enumerate(package.evidence)}
    last = len(package.evidence) - 1
    decisions: list[Decision] = []
    why: list[str] = []
    for each in draft.evidence:
        place = positions[each.ranked.key]
        zone = "head" if place == 0 else "tail" if place == last else "middle"
        decisions.append(
            Decision(
                each.ranked.key, True, "relevance", each.ranked.score, place, zone, each.outcome, each.rule, each.cost
            )
        )
        why.append(_why(place, each))
    for each in draft.core:
        decisions.append(
            Decision(
                each.key, True, "confidence", each.memory.confidence, None, None, each.outcome, each.rule, each.cost
            )
        )
    dropped = tuple(Dropped(each.key, each.reason, each.score, each.rule) for each in draft.rejected)
    exceeded = any(each.reason == "budget_exceeded" for each in draft.rejected)
    return Packed(package, (*decisions, *draft.rejected), dropped, tuple(why), sizes, exceeded)


def _why(place: int, each: Prepared) -> str:
    made = each.ranked.factors
    arms = ", ".join(f"{arm}#{rank}" for arm, rank in sorted(each.ranked.candidate.arm_ranks.items()))
    trust = f", confidence={made.confidence:.2f}, recency={made.recency:.2f}" if each.ranked.candidate.memory_id else ""
    score = f"score={each.ranked.score:.4f}, relevance={made.relevance:.2f}{trust}"
    return f"evidence#{place + 1} {each.ranked.key} {score} ({arms})"
