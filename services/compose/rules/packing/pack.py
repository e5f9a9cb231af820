"""Builds the package: fills every slot within the budget and names everything left out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from schemas.context_package import (
    Constraints,
    ContextPackage,
    DiversityLimits,
    SystemBlock,
    TokenBudget,
    Truncation,
    UserMessage,
)
from schemas.vocabulary import Language
from services.compose.rules.candidates import Dropped, HeldBack
from services.compose.rules.packing import slots
from services.compose.rules.packing.draft import (
    SLOTS,
    Allocation,
    Decision,
    Floors,
    PackagedContext,
    PackageDraft,
    PackInputs,
    PackPolicy,
    Slot,
    SlotBudget,
    TokenLimitTooSmallError,
    UserMessageTooLongError,
)
from services.compose.rules.packing.fit import SlotCandidates, count_escapes, count_wire_tokens
from services.compose.rules.packing.sizes import (
    HEADINGS_COST,
    SlotBounds,
    choose_profile,
    compute_floors,
    compute_slot_bounds,
    fill_draft,
    gather_candidates,
)
from services.compose.rules.packing.slots import InstructionBlocks, PreparedEvidence
from services.compose.rules.packing.texts import MESSAGE_OVERHEAD
from shared.language import tokens
from shared.language.normalise import detect

T = TypeVar("T")
WIRE_SHARE = 0.98
"""The share of the limit that the JSON of a package may take; the rest is a margin for other tokenizers."""
EMPTY_MOST = 1500
"""An upper bound of the JSON of an empty package with its rules."""
JSON_COUNTS_FROM = 1000
"""Below this token limit only the messages are counted: the fields of an empty package would take half of it."""


def check_size(inputs: PackInputs, policy: PackPolicy) -> None:
    """Raises if `pack_context` would raise whatever is found, so that a message is refused before the search."""
    if _is_short(inputs, policy):
        return
    clear = inputs.language or detect(inputs.user_message)
    # the rules may be in the language of earlier turns; these are the longer ones
    _choose_frame(inputs if clear != "other" else replace(inputs, language="zh"), policy)


def _is_short(inputs: PackInputs, policy: PackPolicy) -> bool:
    """Whether the message is far from any limit, as nearly all are; then no JSON has to be written."""
    if inputs.content_parts or inputs.token_limit < policy.short_guide_below:
        return False
    message_cost = tokens.count(inputs.user_message) + MESSAGE_OVERHEAD
    limits = compute_slot_bounds(inputs.token_limit, policy.budget)
    wire = message_cost + count_escapes(inputs.user_message) + EMPTY_MOST + limits.least_memory
    return message_cost <= limits.message_room(EMPTY_MOST) and wire <= int(inputs.token_limit * WIRE_SHARE)


def pack_context(inputs: PackInputs, policy: PackPolicy) -> PackagedContext:
    """Packs a package within the limit, as messages (less margin and answer) and as JSON; the message is not cut.

    Every slot stays within its bounds. Raises UserMessageTooLongError if the message leaves no room for their minimum,
    TokenLimitTooSmallError if no message would.
    """
    draft = PackageDraft(
        degraded=list(inputs.degraded_reason), rejected=list(inputs.withheld), held_back=list(inputs.held_back)
    )
    material = gather_candidates(inputs, policy, draft)
    frame = _choose_frame(inputs, policy, evidence=bool(material.evidence))
    least = compute_floors(inputs, policy, draft, material)
    wire_room = _wire_room(inputs, policy, frame, draft.degraded)
    while True:
        filled = fill_draft(material, least.shares, frame.limits, policy.budget.order, draft, frame.room, wire_room)
        package = _build_package(inputs, policy, draft, frame)
        over = 0 if wire_room is None else count_wire_tokens(package) - int(inputs.token_limit * WIRE_SHARE)
        if wire_room is None or over <= 0 or wire_room < 0:
            return to_packaged_context(
                package, draft, material, _allocation(inputs, policy, frame, least, filled.shares)
            )
        wire_room -= over + filled.idle


@dataclass(frozen=True, slots=True)
class _Frame:
    """The fixed parts: the message, the answer's room, the rules."""

    said: int
    limits: SlotBounds
    generation: int
    rules: InstructionBlocks

    @property
    def room(self) -> int:
        """The tokens left for memory."""
        return self.limits.room - self.generation - self.said - self.rules.cost


def _choose_frame(inputs: PackInputs, policy: PackPolicy, *, evidence: bool = True) -> _Frame:
    """The fullest rules with which the message leaves every other slot its minimum."""
    limits = compute_slot_bounds(inputs.token_limit, policy.budget)
    share = choose_profile(inputs.token_limit, policy.budget).slots["generation"]
    message_cost = tokens.count(inputs.user_message) + MESSAGE_OVERHEAD + _media_tokens(inputs)
    room = left = 0
    for rules in _list_rules(inputs, policy, limits, evidence=evidence):
        room = left = limits.message_room(rules.cost)
        if message_cost > room:
            continue
        frame = _Frame(message_cost, limits, limits.generation(share, message_cost, rules.cost), rules)
        wire_left = _wire_room(inputs, policy, frame, ())
        if wire_left is None or wire_left >= limits.least_memory:
            return frame
        left = min(room, max(0, message_cost + wire_left - limits.least_memory))
    if room < limits.least["user_turn"]:
        raise TokenLimitTooSmallError(
            f"{inputs.token_limit} tokens hold no message: margin, answer and rules leave {max(0, room)} of them,"
            f" fewer than {limits.least['user_turn']}"
        )
    raise UserMessageTooLongError(
        f"user_message needs about {message_cost} tokens; the limit of {inputs.token_limit} leaves {left} for it"
    )


def _media_tokens(inputs: PackInputs) -> int:
    """Tokens of the media blocks in the package; what a model makes of them is unknown."""
    media = [part for part in inputs.content_parts if "media_id" in part]
    return sum(tokens.count(json.dumps(part, ensure_ascii=False)) for part in media)


def _wire_room(inputs: PackInputs, policy: PackPolicy, frame: _Frame, degraded: Sequence[str]) -> int | None:
    """The tokens that the JSON of an empty package leaves; None if it is not counted."""
    if inputs.token_limit < JSON_COUNTS_FROM:
        return None
    empty = _build_package(inputs, policy, PackageDraft(degraded=list(degraded)), frame)
    return int(inputs.token_limit * WIRE_SHARE) - count_wire_tokens(empty)


def _allocation(
    inputs: PackInputs, policy: PackPolicy, frame: _Frame, least: Floors, shares: Mapping[Slot, SlotBudget]
) -> Allocation:
    limits = frame.limits
    taken: dict[Slot, int] = {
        "system": frame.rules.cost,
        "user_turn": frame.said,
        "generation": frame.generation,
    }
    fixed = {
        slot: SlotBudget(used, limits.least[slot], limits.most[slot], least.shares[slot], used, used)
        for slot, used in taken.items()
    }
    return Allocation(
        limit=inputs.token_limit,
        margin=inputs.token_limit - limits.room,
        profile=choose_profile(inputs.token_limit, policy.budget).name,
        allocation=least.allocation,
        order=policy.budget.order,
        signals=least.signals,
        slots={slot: fixed[slot] if slot in fixed else shares[slot] for slot in SLOTS},
    )


def _list_rules(
    inputs: PackInputs, policy: PackPolicy, limits: SlotBounds, *, evidence: bool
) -> Iterator[InstructionBlocks]:
    """Rule texts within the system's maximum, fullest first; the shortest always."""
    language = _language(inputs)
    long, short = (
        slots.build_rules(
            language,
            inputs.intent,
            inputs.created_at,
            short=short,
            evidence=evidence,
            nonce=inputs.nonce,
        )
        for short in (inputs.token_limit < policy.short_guide_below, True)
    )
    share = choose_profile(inputs.token_limit, policy.budget).slots["system"]
    if inputs.hints and (hinted := slots.add_hints(long, inputs.hints, inputs.created_at)).cost <= share:
        yield hinted
    if long.cost <= limits.most["system"]:
        yield long
    yield short


def _language(inputs: PackInputs) -> Language:
    texts = [inputs.user_message, *(turn.messages[0].content for turn in inputs.recent[-2:] if turn.messages)]
    languages: list[Language] = [detect(text) for text in texts]
    clear: list[Language] = [each for each in languages if each != "other"]
    return inputs.language or (clear[0] if clear else "other")


def _build_package(inputs: PackInputs, policy: PackPolicy, draft: PackageDraft, frame: _Frame) -> ContextPackage:
    rules, evidence = frame.rules, list_evidence(draft)
    placed = arrange_u_shape(evidence)
    recent = [message for messages in reversed(draft.turns) for message in messages]
    entities = SystemBlock(type="other", text=draft.entities, updated_at=inputs.created_at) if draft.entities else None
    used: dict[str, int] = {
        "system": rules.cost,
        "user_turn": frame.said,
        "personal": sum(each.cost for each in (*draft.core, *draft.memories)),
        "knowledge": sum(each.cost for each in draft.knowledge),
        "window": slots.count_turn_cost(recent),
        "summary": slots.count_cost(draft.summary),
        "entities": slots.count_cost(draft.entities),
    }
    headings = HEADINGS_COST if evidence or draft.summary else 0
    return ContextPackage(
        context_id=inputs.context_id,
        session_id=inputs.session_id,
        created_at=inputs.created_at,
        request_id=inputs.request_id,
        language=_language(inputs),
        nonce=inputs.nonce,
        system_blocks=[*(each.block for each in draft.core), *([entities] if entities else []), *rules.system],
        developer_blocks=list(rules.developer),
        working_summary=draft.summary,
        recent_turns=recent,
        evidence=[each.item for each in placed],
        user_message=UserMessage(content=inputs.user_message, content_parts=list(inputs.content_parts)),
        constraints=Constraints(
            token_budget=TokenBudget(
                limit=inputs.token_limit,
                used_estimate=sum(used.values()) + headings,
                margin=inputs.token_limit - frame.limits.room,
                generation=frame.generation,
                profile=choose_profile(inputs.token_limit, policy.budget).name,
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
        generation_metadata=inputs.generation_metadata,
    )


def to_packaged_context(
    package: ContextPackage, draft: PackageDraft, material: SlotCandidates, allocation: Allocation
) -> PackagedContext:
    positions = {item.id: place for place, item in enumerate(package.evidence)}
    last = len(package.evidence) - 1
    decisions: list[Decision] = []
    why: list[str] = []
    for each in list_evidence(draft):
        place = positions[each.ranked.key]
        zone = "head" if place == 0 else "tail" if place == last else "middle"
        decisions.append(
            Decision(
                each.ranked.key,
                True,
                "relevance",
                each.ranked.score,
                place,
                "evidence",
                zone,
                each.outcome,
                each.rule,
                each.cost,
            )
        )
        why.append(_list_reasons(place, each))
    decisions += [
        Decision(
            each.key,
            True,
            "confidence",
            each.memory.confidence,
            at,
            "system",
            "head",
            each.outcome,
            each.rule,
            each.cost,
        )
        for at, each in enumerate(draft.core)
    ]
    rejected = (*draft.rejected, *list_left_out(material, {each.key for each in decisions}))
    dropped = tuple(Dropped(each.key, each.reason, each.score, each.rule) for each in rejected)
    exceeded = any(each.reason == "budget_exceeded" for each in rejected)
    media = [HeldBack(each.key, "foreign", each.rule or "", True) for each in rejected if each.key.startswith("media:")]
    held = tuple(dict.fromkeys([*draft.held_back, *media]))
    return PackagedContext(package, (*decisions, *rejected), dropped, tuple(why), allocation, exceeded, held_back=held)


def list_left_out(material: SlotCandidates, shown: set[str]) -> list[Decision]:
    """Decisions about what had no room."""
    evidence = [
        Decision(each.ranked.key, False, "budget_exceeded", each.ranked.score, sanitization=each.outcome)
        for each in material.evidence
        if each.ranked.key not in shown
    ]
    pinned = [
        Decision(each.key, False, "budget_exceeded", each.memory.confidence)
        for each in material.core
        if each.key not in shown
    ]
    return [*evidence, *pinned]


def _list_reasons(place: int, each: PreparedEvidence) -> str:
    factors = each.ranked.factors
    arms = ", ".join(f"{arm}#{rank}" for arm, rank in sorted(each.ranked.candidate.arm_ranks.items()))
    trust = (
        f", confidence={factors.confidence:.2f}, recency={factors.recency:.2f}"
        if each.ranked.candidate.memory_id
        else ""
    )
    score = f"score={each.ranked.score:.4f}, relevance={factors.relevance:.2f}{trust}"
    return f"evidence#{place + 1} {each.ranked.key} {score} ({arms})"


def arrange_u_shape(ranked: Sequence[T]) -> list[T]:
    """Best first, second best last, the rest between in order."""
    return [*ranked[:1], *ranked[2:], *ranked[1:2]]


def list_evidence(draft: PackageDraft) -> list[PreparedEvidence]:
    """The evidence of both sides, best first."""
    return sorted((*draft.memories, *draft.knowledge), key=lambda each: each.place)
