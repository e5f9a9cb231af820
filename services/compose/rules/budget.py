"""Token budgets: profiles by window, the safety margin, who is cut first, who stands where (seed 004 section 4.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, TypeVar

from schemas.vocabulary import Intent

T = TypeVar("T")
Slot = Literal["system", "user_turn", "generation", "personal", "window", "summary", "entities", "knowledge"]
SLOTS: tuple[Slot, ...] = (
    "system",
    "user_turn",
    "generation",
    "personal",
    "window",
    "summary",
    "entities",
    "knowledge",
)
COMPRESSIBLE: tuple[Slot, ...] = ("knowledge", "summary", "entities", "window", "personal")


class ConfigurationError(ValueError):
    """The window cannot hold what may never be cut."""


class UserMessageTooLongError(ValueError):
    """`user_message` alone does not fit the token limit; it is never cut."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The static share of every slot for one window (model 4.8)."""

    name: str
    window: int
    slots: Mapping[Slot, int]


def _profile(name: str, window: int, *sizes: int) -> Profile:
    return Profile(name, window, dict(zip(SLOTS, sizes, strict=True)))


PROFILES: tuple[Profile, ...] = (
    _profile("8k", 8192, 1500, 1000, 2000, 1000, 1200, 500, 150, 400),
    _profile("16k", 16384, 2000, 1500, 2500, 2500, 3500, 1200, 500, 1800),
    _profile("32k", 32768, 2000, 2000, 4000, 4000, 6000, 3000, 1000, 8000),
)


def _ceilings() -> dict[Intent, int]:
    return {
        "small_talk": 500,
        "recommend": 3000,
        "complaint": 2000,
        "knowledge_qa": 1000,
        "preference_check": 4000,
        "task": 2000,
        "other": 2000,
    }


def _minima() -> dict[Slot, int]:
    return {"system": 1500, "user_turn": 1000, "generation": 2000}


def _maxima() -> dict[Slot, int]:
    return {
        "system": 3000,
        "user_turn": 4000,
        "generation": 6000,
        "knowledge": 14_000,
        "summary": 5000,
        "entities": 2000,
        "window": 10_000,
        "personal": 8000,
    }


@dataclass(frozen=True, slots=True)
class BudgetPolicy:
    """Margins, minima, maxima and intent ceilings of seed 004 sections 4.1 and 4.2.1."""

    profiles: tuple[Profile, ...] = PROFILES
    margin_share: float = 0.05
    margin_min: int = 200
    minima: Mapping[Slot, int] = field(default_factory=_minima)
    maxima: Mapping[Slot, int] = field(default_factory=_maxima)
    ceilings: Mapping[Intent, int] = field(default_factory=_ceilings)
    small_talk_items: int = 2
    order: Literal["fixed_priority", "evidence_first"] = "fixed_priority"
    version: str = "budget-1"


@dataclass(frozen=True, slots=True)
class BudgetSignals:
    """What moves the shares, each in [0, 1] (R112); 0.5 is the static baseline, 0 that there is nothing."""

    memory_richness: float = 0.5
    knowledge_relevance: float = 0.5
    conversation_depth: float = 0.5


def margin(total: float, policy: BudgetPolicy | None = None) -> float:
    """What is never spent: 5% of the window and at least 200 tokens (seed 004 section 4.2.1)."""
    policy = policy or BudgetPolicy()
    return max(total * policy.margin_share, policy.margin_min)


def check(window: int, policy: BudgetPolicy | None = None, *, strict_double_generation: bool = False) -> None:
    """Raise ConfigurationError where incompressible minima and margin exceed the window (generation once, X24)."""
    policy = policy or BudgetPolicy()
    needed = sum(policy.minima.values()) + margin(window, policy)
    if strict_double_generation:
        needed += policy.minima["generation"]
    if needed > window:
        raise ConfigurationError(f"a window of {window} tokens cannot hold the minimum of {needed:.0f}")


def profile_for(window: int, policy: BudgetPolicy | None = None) -> Profile:
    """The profile of a window: scaled below the least, in proportion between two, the greatest above (X20, X52)."""
    profiles = (policy or BudgetPolicy()).profiles
    if window <= profiles[0].window:
        low = profiles[0]
        scaled: dict[Slot, int] = {slot: int(size * window / low.window) for slot, size in low.slots.items()}
        return Profile(low.name, window, scaled)
    for low, high in pairwise(profiles):
        if window < high.window:
            at = (window - low.window) / (high.window - low.window)
            slots: dict[Slot, int] = {
                slot: int(size + (high.slots[slot] - size) * at) for slot, size in low.slots.items()
            }
            return Profile(low.name, window, slots)
    return replace(profiles[-1], window=window)


def allocate(window: int, signals: BudgetSignals, policy: BudgetPolicy | None = None) -> dict[Slot, int]:
    """Shares moved by the signals, each within its bounds, that use the window up to the margin (R112-R119)."""
    policy = policy or BudgetPolicy()
    slots = dict(profile_for(window, policy).slots)
    weights: dict[Slot, float] = {
        "personal": signals.memory_richness * 2,
        "summary": 1.5 - signals.memory_richness,
        "knowledge": signals.knowledge_relevance * 2 * (1.25 - signals.conversation_depth / 2),
        "window": (0.5 + signals.conversation_depth) * (1.25 - signals.knowledge_relevance / 2),
        "entities": 1.0,
    }
    scale = min(1.0, window / policy.profiles[-1].window) if window else 0.0
    for slot, weight in weights.items():
        most = max(slots[slot], int(policy.maxima[slot] * scale))
        slots[slot] = min(int(slots[slot] * weight), most) if weight else 0
    return _filled(slots, min(window, _ceiling_of(window, policy)), scale, policy)


def _ceiling_of(window: int, policy: BudgetPolicy) -> int:
    return max(0, int(window - margin(window, policy)))


def _filled(slots: dict[Slot, int], total: int, scale: float, policy: BudgetPolicy) -> dict[Slot, int]:
    """The slots grown or shrunk in proportion until they sum to `total`; what no slot may take goes to generation."""
    flexible: list[Slot] = [slot for slot in COMPRESSIBLE if slots[slot]]
    spare = total - sum(slots.values())
    base = sum(slots[slot] for slot in flexible) or 1
    for slot in flexible:
        most = max(slots[slot], int(policy.maxima[slot] * max(scale, 0.25)))
        slots[slot] = max(0, min(most, slots[slot] + int(spare * slots[slot] / base)))
    rest = total - sum(slots.values())
    slots["generation"] = max(0, slots["generation"] + rest)
    return slots


_ALIASES: dict[str, Slot] = {
    "system_prompt": "system",
    "last_user_turn": "user_turn",
    "user_input": "user_turn",
    "generation_budget": "generation",
    "generation_buffer": "generation",
    "knowledge_context": "knowledge",
    "summary_blocks": "summary",
    "working_summary": "summary",
    "entity_slots": "entities",
    "active_window": "window",
    "history": "window",
    "recent_turns": "window",
    "personal_context": "personal",
    "memory": "personal",
}
_ORDERS: dict[str, tuple[Slot, ...]] = {
    "fixed_priority": COMPRESSIBLE,
    "evidence_first": ("entities", "window", "summary", "knowledge", "personal"),
}


def truncate(
    slots: Mapping[str, int],
    available: int,
    minimums: Mapping[str, int] | None = None,
    order: Literal["fixed_priority", "evidence_first"] = "fixed_priority",
) -> dict[str, int]:
    """The same slots in the same order, cut to `available`: first down to their minimums, then to nothing (X21)."""
    sizes = dict(slots)
    by_slot = {_ALIASES.get(name, name): name for name in sizes}
    for floors in (minimums or {}, {}):
        for slot in _ORDERS[order]:
            over = sum(sizes.values()) - available
            if over <= 0:
                return sizes
            name = by_slot.get(slot)
            if name is not None:
                sizes[name] -= min(over, max(0, sizes[name] - floors.get(name, 0)))
    return sizes


def u_shape(ranked: Sequence[T]) -> list[T]:
    """Best first, second best last, the rest between in order (seed 004 section 4.1, step 3)."""
    return [*ranked[:1], *ranked[2:], *ranked[1:2]]


def personal_ceiling(intent: str, policy: BudgetPolicy | None = None) -> int:
    """The most tokens of personal memory that an intent may be given (R110)."""
    ceilings = (policy or BudgetPolicy()).ceilings
    known: dict[str, int] = {**ceilings, "smalltalk": ceilings["small_talk"]}
    return known.get(intent, ceilings["other"])
