"""Token budgets: profiles by window, safety margin, order of cuts, positions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Literal, TypeVar, get_args

from pydantic import JsonValue

from schemas.compose import PROFILE_WINDOWS
from schemas.vocabulary import Intent
from services.compose.rules.packing.texts import MESSAGE_OVERHEAD
from shared.policy import BudgetPolicy

T = TypeVar("T")
Slot = Literal["system", "user_turn", "generation", "personal", "window", "summary", "entities", "knowledge"]
Order = Literal["fixed_priority", "evidence_first"]
SLOTS: tuple[Slot, ...] = get_args(Slot)
COMPRESSIBLE: tuple[Slot, ...] = ("knowledge", "summary", "entities", "window", "personal")
"""The slots that can be cut, in the order in which they are cut."""
DEFAULT_BUDGET = BudgetPolicy()
HEADINGS_COST = 2 * MESSAGE_OVERHEAD + 8
"""Tokens of the messages that hold summary and evidence, with their headings."""


class UserMessageTooLongError(ValueError):
    """The user message leaves no room for the other uncut parts."""


class TokenLimitTooSmallError(ValueError):
    """The token limit has no room for any message besides rules and the shortest answer."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The static share of every slot for one window."""

    name: str
    window: int
    slots: Mapping[Slot, int]


@dataclass(frozen=True, slots=True)
class BudgetSignals:
    """Signals that move the shares, each in [0, 1]; 0.5 is the baseline, 0 means that there is nothing."""

    memory_richness: float = 0.5
    knowledge_relevance: float = 0.5
    conversation_depth: float = 0.5


@dataclass(frozen=True, slots=True)
class SlotBudget:
    """Tokens of one slot: what it wanted, its bounds, its share before cuts, and what it got."""

    wanted: int = 0
    minimum: int = 0
    maximum: int = 0
    share: int = 0
    granted: int = 0
    used: int = 0


@dataclass(frozen=True, slots=True)
class Allocation:
    """How the tokens of a package were shared out; `fallback`: the allocator failed."""

    limit: int
    margin: int
    profile: str
    allocation: Literal["dynamic", "static", "fallback"]
    order: Order
    signals: BudgetSignals
    slots: Mapping[Slot, SlotBudget]

    def as_json(self) -> dict[str, JsonValue]:
        """Plain values for a receipt."""
        made = asdict(self)
        return {**made, "signals": {name: round(value, 4) for name, value in asdict(self.signals).items()}}


def choose_profile(window: int, policy: BudgetPolicy = DEFAULT_BUDGET) -> Profile:
    """The profile of a window: scaled below the smallest, interpolated between two, the largest above."""
    profiles = [Profile(name, size, _to_shares(policy.profiles[name])) for name, size in PROFILE_WINDOWS.items()]
    if window <= profiles[0].window:
        return Profile(profiles[0].name, window, scale_slots(profiles[0].slots, _compute_scale(window, policy)))
    for low, high in pairwise(profiles):
        if window < high.window:
            at = (window - low.window) / (high.window - low.window)
            slots: dict[Slot, int] = {
                slot: int(size + (high.slots[slot] - size) * at) for slot, size in low.slots.items()
            }
            return Profile(low.name, window, slots)
    return Profile(profiles[-1].name, window, profiles[-1].slots)


def _to_shares(given: object) -> dict[Slot, int]:
    return {slot: getattr(given, slot) for slot in SLOTS}


def scale_slots(slots: Mapping[Slot, int], by: float) -> dict[Slot, int]:
    return {slot: int(size * by) for slot, size in slots.items()}


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


_ORDERS: dict[Order, tuple[Slot, ...]] = {
    "fixed_priority": COMPRESSIBLE,
    "evidence_first": ("entities", "window", "summary", "knowledge", "personal"),
}


def truncate(
    slots: Mapping[Slot, int],
    available: int,
    minimums: Mapping[Slot, int] | None = None,
    order: Order = "fixed_priority",
    *,
    least: Mapping[Slot, int] | None = None,
) -> dict[Slot, int]:
    """The slots in their order, cut to `available`: to their minimums, then their least, then to nothing."""
    sizes = dict(slots)
    for floors in (minimums or {}, least or {}, {}):
        for slot in _ORDERS[order]:
            over = sum(sizes.values()) - available
            if over <= 0:
                return sizes
            if slot in sizes:
                sizes[slot] -= min(over, max(0, sizes[slot] - floors.get(slot, 0)))
    return sizes


def arrange_u_shape(ranked: Sequence[T]) -> list[T]:
    """Best first, second best last, the rest between in order."""
    return [*ranked[:1], *ranked[2:], *ranked[1:2]]


def get_personal_ceiling(intent: Intent, policy: BudgetPolicy = DEFAULT_BUDGET) -> int:
    """The most tokens of personal memory for an intent."""
    return getattr(policy.ceilings, intent)
