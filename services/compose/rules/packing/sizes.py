"""Collects the candidates of each slot and sets the size of each slot."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from services.compose.rules.candidates import RankedCandidate, RecentTurn
from services.compose.rules.packing import slots, texts
from services.compose.rules.packing.budget import (
    COMPRESSIBLE,
    HEADINGS_COST,
    BudgetSignals,
    Order,
    Slot,
    SlotBounds,
    SlotBudget,
    allocate,
    choose_profile,
    get_personal_ceiling,
    truncate,
)
from services.compose.rules.packing.draft import Decision, PackageDraft, PackInputs, PackPolicy
from services.compose.rules.packing.fit import NAME_JOINT, SlotCandidates, drop_pieces, fit_draft
from services.compose.rules.packing.slots import PreparedMemory
from shared.domain.blocks import Blocked
from shared.language.normalise import detect
from shared.screening.sanitize import show_own

RICH_MEMORY = 12.0
"""The total confidence of memories at which memory is rich."""
DEEP_CONVERSATION = 16
"""The number of turns of a long conversation."""


def gather_candidates(inputs: PackInputs, policy: PackPolicy, draft: PackageDraft) -> SlotCandidates:
    """All that may be shown, screened and within the counts, each with its cost; the draft names the rest."""
    found = {each.key for each in inputs.evidence}
    pinned = list_pinned(inputs, policy, draft, found)
    allowed = list_allowed(inputs, policy, draft, _limit_personal(inputs, policy) - len(pinned))
    lean = inputs.token_limit < policy.short_guide_below
    request = inputs.request_id or inputs.context_id
    evidence = slots.prepare_evidence(
        allowed,
        request,
        inputs.created_at,
        policy.max_snippet_chars,
        policy=policy.sanitize,
        lean=lean,
        nonce=inputs.nonce,
    )
    return SlotCandidates(
        evidence=evidence,
        core=pinned,
        turns=slots.prepare_window(_list_earlier_turns(inputs), policy.recent_turns_max, policy.max_tool_chars),
        summary=_screen_summary(inputs, policy, draft),
        entities=_list_entities(inputs, policy),
        personal_most=get_personal_ceiling(inputs.intent, policy.budget),
        snippet_chars=policy.max_snippet_chars,
    )


def _limit_personal(inputs: PackInputs, policy: PackPolicy) -> int:
    """The most notes about the user, core memory and evidence together."""
    most = len(inputs.core) + _evidence_most(inputs, policy) if inputs.inject_limit is None else inputs.inject_limit
    return min(most, policy.budget.small_talk_items) if inputs.intent == "small_talk" else most


def _evidence_most(inputs: PackInputs, policy: PackPolicy) -> int:
    return max(policy.evidence_max_items, inputs.inject_limit or 0)


def list_allowed(
    inputs: PackInputs, policy: PackPolicy, draft: PackageDraft, personal: int
) -> list[tuple[RankedCandidate, slots.Screened]]:
    """The evidence that passes screening and counts, in order; at most `personal` pieces about the user."""
    most, memories = _evidence_most(inputs, policy), max(policy.memories_max, inputs.inject_limit or 0)
    allowed: list[tuple[RankedCandidate, slots.Screened]] = []
    for each, clean in slots.screen_candidates(inputs.evidence, policy.sanitize, policy.max_snippet_chars):
        draft.rejected += list_withheld(slots.list_withheld(each.candidate, policy.sanitize))
        draft.held_back += slots.list_all_held_back(each.candidate, clean, policy.sanitize)
        is_memory = each.candidate.memory_id is not None
        full = len(allowed) >= most or (is_memory and memories <= 0)
        if clean.outcome == "blocked":
            draft.rejected.append(
                Decision(each.key, False, "blocked", each.score, sanitization="blocked", rule=clean.rule)
            )
        elif full or (not each.candidate.is_resource and personal <= 0):
            draft.rejected.append(Decision(each.key, False, "relevance", each.score, sanitization=clean.outcome))
        else:
            memories -= is_memory
            personal -= not each.candidate.is_resource
            allowed.append((each, clean))
    return allowed


def list_pinned(inputs: PackInputs, policy: PackPolicy, draft: PackageDraft, present: set[str]) -> list[PreparedMemory]:
    """Core memory that is not among the evidence, up to its limit."""
    pinned, blocked = slots.prepare_core(inputs.core, policy.sanitize, inputs.nonce)
    draft.rejected += [Decision(each.key, False, "blocked", sanitization="blocked", rule=each.rule) for each in blocked]
    for each in (*pinned, *blocked):
        draft.held_back += slots.list_held_back(each.key, each.memory.comes_from, each.screened)
    fresh = [each for each in pinned if each.key not in present and each.memory.epistemic != "outdated"]
    return fresh[: _limit_personal(inputs, policy)]


def _list_earlier_turns(inputs: PackInputs) -> list[RecentTurn]:
    """The turns before the message being answered, which may be stored already."""
    turns = sorted(inputs.recent, key=lambda turn: turn.seq)
    if turns and [(each.role, each.content) for each in turns[-1].messages] == [("user", inputs.user_message)]:
        turns.pop()
    return turns


def _screen_summary(inputs: PackInputs, policy: PackPolicy, draft: PackageDraft) -> str:
    """The summary, screened as the user's own words."""
    clean = show_own(inputs.working_summary, policy.sanitize)
    draft.held_back += slots.list_held_back("summary", "own", clean)
    return clean.text.strip()


def _list_entities(inputs: PackInputs, policy: PackPolicy) -> str:
    names = list(filter(None, (show_own(each, policy.sanitize).text for each in inputs.entities)))
    language = inputs.language or detect(inputs.user_message)
    return texts.format_entities(language, NAME_JOINT.join(names)) if names else ""


@dataclass(frozen=True, slots=True)
class Floors:
    """The minimum of each slot, and how it was computed."""

    shares: Mapping[Slot, int]
    signals: BudgetSignals
    allocation: Literal["dynamic", "static", "fallback"]


def compute_floors(inputs: PackInputs, policy: PackPolicy, draft: PackageDraft, material: SlotCandidates) -> Floors:
    """The dynamic shares, or the static ones if the policy says so or the allocator fails."""
    evident = compute_signals(inputs, material)
    allocation = policy.budget.allocation
    if allocation == "dynamic":
        try:
            return Floors(allocate(inputs.token_limit, evident, policy.budget), evident, "dynamic")
        except Exception:  # noqa: BLE001 # whatever it is, a package with static shares is better than none
            draft.degraded.append("budget_allocator_fallback")
    shares = choose_profile(inputs.token_limit, policy.budget).slots
    return Floors(shares, evident, "static" if allocation == "static" else "fallback")


def compute_signals(inputs: PackInputs, material: SlotCandidates) -> BudgetSignals:
    """How sure the memories are, how near the best knowledge is, how long the conversation is."""
    memories = [each.ranked.candidate.confidence for each in material.evidence if not each.is_resource]
    pinned = [each.memory.confidence for each in material.core]
    found = [each.ranked.candidate for each in material.evidence if each.is_resource]
    near = sorted(
        (each.probability if each.rerank_score is None else each.rerank_score for each in found), reverse=True
    )
    turns = max((turn.seq for turn in inputs.recent), default=0)
    return BudgetSignals(
        memory_richness=min(1.0, sum([*memories, *pinned]) / RICH_MEMORY),
        knowledge_relevance=max(0.0, min(1.0, sum(near[:3]) / 3)),
        conversation_depth=min(1.0, turns / DEEP_CONVERSATION),
    )


@dataclass(frozen=True, slots=True)
class Filling:
    """The grant of each compressible slot, and the unused tokens of JSON."""

    shares: Mapping[Slot, SlotBudget]
    idle: int


def fill_draft(
    material: SlotCandidates,
    shares: Mapping[Slot, int],
    limits: SlotBounds,
    order: Order,
    draft: PackageDraft,
    room: int,
    wire_room: int | None,
) -> Filling:
    """Fills the draft to `room` tokens of messages and about `wire_room` of JSON.

    Every slot gets its minimum, if it wants that much, and at most its maximum.
    """
    room = max(0, room - HEADINGS_COST)
    wanted = material.wants()
    granted = _grant(wanted, shares, limits, order, room)
    kept, left = (material, room) if wire_room is None else drop_pieces(material, room, wire_room, limits)
    room = max(0, min(room, left))
    wants = cap_sizes(kept.wants(), limits)
    filled, used = fit_draft(kept, draft, wants, _grant(wants, shares, limits, order, room), room)
    budgets: dict[Slot, SlotBudget] = {
        slot: SlotBudget(
            wanted=wanted[slot],
            minimum=limits.least[slot],
            maximum=limits.most[slot],
            share=shares[slot],
            granted=max(granted[slot], filled[slot]),
            used=used[slot],
        )
        for slot in COMPRESSIBLE
    }
    return Filling(budgets, max(0, left - sum(used.values())))


def _grant(
    wants: Mapping[Slot, int], shares: Mapping[Slot, int], limits: SlotBounds, order: Order, room: int
) -> dict[Slot, int]:
    return truncate(cap_sizes(wants, limits), room, shares, order, least=limits.least)


def cap_sizes(wants: Mapping[Slot, int], limits: SlotBounds) -> dict[Slot, int]:
    return {slot: min(size, limits.most[slot]) for slot, size in wants.items()}


def list_withheld(blocked: Iterable[Blocked]) -> tuple[Decision, ...]:
    """Decisions about recognised text that gave orders; its fallback is used instead."""
    return tuple(
        Decision(f"media:{each.media_id}", False, "blocked", sanitization="blocked", rule=each.rule) for each in blocked
    )
