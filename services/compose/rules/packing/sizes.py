"""Sets the size of each slot: shares and bounds by window, floors by signals, and what each slot gets of the rest.

The candidates of each slot are gathered first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from schemas.compose import PROFILE_WINDOWS
from schemas.vocabulary import Intent
from services.compose.rules.candidates import RankedCandidate, RecentTurn
from services.compose.rules.packing import slots, texts
from services.compose.rules.packing.draft import (
    COMPRESSIBLE,
    DEFAULT_BUDGET,
    SLOTS,
    BudgetSignals,
    Decision,
    Filling,
    Floors,
    Order,
    PackageDraft,
    PackInputs,
    PackPolicy,
    Profile,
    Slot,
    SlotBudget,
)
from services.compose.rules.packing.fit import NAME_JOINT, SlotCandidates, drop_pieces, fit_draft, truncate
from services.compose.rules.packing.slots import PreparedMemory
from services.compose.rules.packing.texts import MESSAGE_OVERHEAD
from shared.domain.blocks import Blocked
from shared.language.normalise import detect
from shared.policy import BudgetPolicy
from shared.screening.sanitize import show_own

HEADINGS_COST = 2 * MESSAGE_OVERHEAD + 8
"""Tokens of the messages that hold summary and evidence, with their headings."""


def choose_profile(window: int, policy: BudgetPolicy = DEFAULT_BUDGET) -> Profile:
    """The profile of a window: scaled below the smallest, interpolated between two, the largest above."""
    profiles = [Profile(name, size, _to_shares(policy.profiles[name])) for name, size in PROFILE_WINDOWS.items()]
    if window <= profiles[0].window:
        return Profile(profiles[0].name, window, scale_slots(profiles[0].slots, _compute_scale(window, policy)))
    for low, high in pairwise(profiles):
        if window < high.window:
            at = (window - low.window) / (high.window - low.window)
            shares: dict[Slot, int] = {
                slot: int(size + (high.slots[slot] - size) * at) for slot, size in low.slots.items()
            }
            return Profile(low.name, window, shares)
    return Profile(profiles[-1].name, window, profiles[-1].slots)


def _to_shares(given: object) -> dict[Slot, int]:
    return {slot: getattr(given, slot) for slot in SLOTS}


def scale_slots(sizes: Mapping[Slot, int], by: float) -> dict[Slot, int]:
    return {slot: int(size * by) for slot, size in sizes.items()}


def _compute_room(window: int, policy: BudgetPolicy) -> int:
    return max(0, int(window - policy.margin(window)))


def _compute_scale(window: int, policy: BudgetPolicy) -> float:
    """The ratio of a window's room to that of the smallest profile, at most 1."""
    return min(1.0, _compute_room(window, policy) / _compute_room(min(PROFILE_WINDOWS.values()), policy))


@dataclass(frozen=True, slots=True)
class SlotBounds:
    """The least and the most tokens of every slot in one window; they hold for every message."""

    room: int
    least: Mapping[Slot, int]
    most: Mapping[Slot, int]

    @property
    def least_memory(self) -> int:
        """The least tokens of the compressible slots with their headings."""
        least = sum(self.least[slot] for slot in COMPRESSIBLE)
        return least + HEADINGS_COST if least else 0

    def generation(self, share: int, said: int, rules: int) -> int:
        """The tokens of the answer: its share, or what message, rules and the least of memory leave."""
        return min(share, self.most["generation"], self.room - said - rules - self.least_memory)

    def message_room(self, rules: int) -> int:
        """The longest message besides rules of this cost and the least of everything else."""
        others = self.least["generation"] + max(rules, self.least["system"]) + self.least_memory
        return min(self.most["user_turn"], self.room - others)


def compute_slot_bounds(window: int, policy: BudgetPolicy = DEFAULT_BUDGET) -> SlotBounds:
    """The policy's bounds, scaled for windows below the smallest profile.

    If a window cannot hold all minima besides the longest message, they share what that message leaves.
    """
    room, scale = _compute_room(window, policy), _compute_scale(window, policy)
    most = scale_slots(_to_shares(policy.maxima), scale)
    least = scale_slots(_to_shares(policy.minima), scale)
    rest = room - least["system"] - least["generation"] - most["user_turn"] - HEADINGS_COST
    whole = sum(least[slot] for slot in COMPRESSIBLE)
    share = max(0.0, min(1.0, rest / whole)) if whole else 1.0
    return SlotBounds(room, {**least, **{slot: int(least[slot] * share) for slot in COMPRESSIBLE}}, most)


def allocate(window: int, signals: BudgetSignals, policy: BudgetPolicy = DEFAULT_BUDGET) -> dict[Slot, int]:
    """Shares moved by the signals, within their bounds, that fill the window up to the margin.

    Every slot starts at its floor; the rest is divided by static share and signals, up to each maximum. Empty slots get
    none. What no slot can take goes to the answer, up to its maximum.
    """
    base, limits = choose_profile(window, policy).slots, compute_slot_bounds(window, policy)
    weights: dict[Slot, float] = {slot: base[slot] * factor for slot, factor in _compute_factors(signals).items()}
    floors, most = _compute_floors(base, limits, policy), _compute_ceilings(window, base, limits)
    sizes: dict[Slot, int] = {slot: floors[slot] if weights.get(slot, 1) else 0 for slot in SLOTS}
    open_to: list[Slot] = [slot for slot in COMPRESSIBLE if weights[slot]]
    left = max(0, limits.room - sum(sizes.values()))
    while open_to and left:
        whole = sum(weights[slot] for slot in open_to)
        given: dict[Slot, int] = {
            slot: min(most[slot] - sizes[slot], int(left * weights[slot] / whole)) for slot in open_to
        }
        if not sum(given.values()):
            break
        for slot, more in given.items():
            sizes[slot] += more
        left -= sum(given.values())
        open_to = [slot for slot in open_to if sizes[slot] < most[slot]]
    sizes["generation"] = max(sizes["generation"], min(limits.most["generation"], sizes["generation"] + left))
    return sizes


def _compute_factors(signals: BudgetSignals) -> dict[Slot, float]:
    """How the signals move each slot: memory against summary, knowledge against a long conversation."""
    memory, knowledge, depth = signals.memory_richness, signals.knowledge_relevance, signals.conversation_depth
    return {
        "personal": memory * 2,
        "summary": 1.5 - memory,
        "knowledge": knowledge * 2 * (1.25 - depth / 2),
        "window": (0.5 + depth) * (1.25 - knowledge / 2),
        "entities": 1.0,
    }


def _compute_floors(base: Mapping[Slot, int], limits: SlotBounds, policy: BudgetPolicy) -> Mapping[Slot, int]:
    """Where shares start: uncut slots at their static share, the others at half of it or their least."""
    minima = _to_shares(policy.minima)
    halves: dict[Slot, int] = {slot: min(minima[slot], base[slot] // 2) for slot in COMPRESSIBLE}
    return {slot: max(limits.least[slot], halves.get(slot, base[slot])) for slot in SLOTS}


def _compute_ceilings(window: int, base: Mapping[Slot, int], limits: SlotBounds) -> Mapping[Slot, int]:
    """How far a share may grow: in proportion to the window, up to the maxima of the largest profile."""
    scale = max(0.25, min(1.0, window / max(PROFILE_WINDOWS.values())))
    return {slot: max(base[slot], limits.least[slot], int(limits.most[slot] * scale)) for slot in SLOTS}


def get_personal_ceiling(intent: Intent, policy: BudgetPolicy = DEFAULT_BUDGET) -> int:
    """The most tokens of personal memory for an intent."""
    return getattr(policy.ceilings, intent)


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
    kept, left = (material, room) if wire_room is None else drop_pieces(material, room, wire_room, limits.least)
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
