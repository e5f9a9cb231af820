"""Margins, profiles, truncation and placement."""

import json
from typing import Any

import pytest

from schemas.vocabulary import Intent
from services.compose.rules.packing.draft import COMPRESSIBLE, SLOTS, Allocation, BudgetSignals, Slot, SlotBudget
from services.compose.rules.packing.fit import truncate
from services.compose.rules.packing.pack import arrange_u_shape
from services.compose.rules.packing.sizes import (
    HEADINGS_COST,
    allocate,
    choose_profile,
    compute_slot_bounds,
    get_personal_ceiling,
)
from shared.policy import BudgetPolicy


@pytest.mark.parametrize(("total", "expected"), [(32768, 1638.4), (3000, 200), (4000, 200), (8192, 409.6)])
def test_oc148_oc149_margin(total: int, expected: float) -> None:
    assert BudgetPolicy().margin(total) == pytest.approx(expected)


@pytest.mark.parametrize(("window", "name", "total"), [(8192, "8k", 7750), (16384, "16k", 15500), (32768, "32k", 30000), (200_000, "32k", 30000)])  # fmt: skip  # noqa: E501
def test_profiles(window: int, name: str, total: int) -> None:
    profile = choose_profile(window)
    assert (profile.name, sum(profile.slots.values())) == (name, total)


@pytest.mark.parametrize("window", [1000, 4096, 8191, 8193, 12000, 16000, 20000, 32767])
def test_a_profile_between_stays_within_its_window(window: int) -> None:
    assert sum(choose_profile(window).slots.values()) + BudgetPolicy().margin(window) <= window or window < 4000


@pytest.mark.parametrize(
    ("slots", "available", "expected"),
    [
        (
            {"system": 50, "personal": 100, "knowledge": 100, "window": 400},
            300,
            {"system": 50, "personal": 100, "knowledge": 0, "window": 150},
        ),  # OC154
        ({"system": 150, "personal": 100}, 200, {"system": 150, "personal": 50}),  # OC155
        ({"system": 150, "personal": 100}, 100, {"system": 150, "personal": 0}),
        ({"knowledge": 5}, 10, {"knowledge": 5}),
        ({}, 0, {}),
    ],
)
def test_truncation_cuts_by_priority(slots: dict[Slot, int], available: int, expected: dict[Slot, int]) -> None:
    assert truncate(slots, available) == expected


def test_oc157_truncation_follows_the_given_order() -> None:
    assert list(truncate({"window": 10, "system": 10, "personal": 10}, 15)) == ["window", "system", "personal"]


def test_minimums_hold_until_nothing_else_is_left() -> None:
    slots: dict[Slot, int] = {"knowledge": 100, "window": 100, "personal": 100}
    assert truncate(slots, 200, {"knowledge": 50}) == {"knowledge": 50, "window": 50, "personal": 100}
    assert truncate(slots, 100, {"knowledge": 50, "window": 50, "personal": 50}) == {
        "knowledge": 0,
        "window": 50,
        "personal": 50,
    }


def test_the_evidence_first_order_cuts_history_before_knowledge() -> None:
    assert truncate({"knowledge": 10, "window": 10}, 10, order="evidence_first") == {"knowledge": 10, "window": 0}


@pytest.mark.parametrize(
    "signals",
    [
        {},
        {"conversation_depth": 0.0},
        {"knowledge_relevance": 0.0},
        {"memory_richness": 0.0},
        {"conversation_depth": 1.0},
    ],
)
@pytest.mark.parametrize("window", [8192, 16384, 32768, 128_000])
def test_oc158_the_window_is_used(signals: dict[str, Any], window: int) -> None:
    slots, most = allocate(window, BudgetSignals(**signals)), compute_slot_bounds(window).most
    assert min(slots.values()) >= 0
    assert sum(slots.values()) <= window - BudgetPolicy().margin(window) + 1
    assert all(slots[slot] <= most[slot] for slot in SLOTS)
    full = all(slots[slot] in (0, most[slot]) for slot in (*COMPRESSIBLE, "generation"))
    assert full or sum(slots.values()) >= 0.9 * window


def test_signals_change_the_shares() -> None:
    base = allocate(32768, BudgetSignals())
    assert allocate(32768, BudgetSignals(memory_richness=1.0))["personal"] > base["personal"]
    assert allocate(32768, BudgetSignals(knowledge_relevance=1.0))["window"] < base["window"]
    assert allocate(32768, BudgetSignals(conversation_depth=1.0))["knowledge"] < base["knowledge"]


@pytest.mark.parametrize(("given", "placed"), [("", ""), ("1", "1"), ("12", "12"), ("123", "132"), ("12345", "13452")])
def test_oc160_u_shape(given: str, placed: str) -> None:
    assert "".join(arrange_u_shape(given)) == placed


@pytest.mark.parametrize(
    ("intent", "most"),
    [
        ("small_talk", 500),
        ("recommend", 3000),
        ("complaint", 2000),
        ("knowledge_qa", 1000),
        ("preference_check", 4000),
    ],
)
def test_oc161_intent_ceilings(intent: Intent, most: int) -> None:
    assert get_personal_ceiling(intent) == most


def test_a_slot_with_content_keeps_half_of_its_static_share() -> None:
    for window in (8192, 16_384, 32_768):
        base = choose_profile(window).slots
        poor = allocate(window, BudgetSignals(memory_richness=0.05, knowledge_relevance=1.0, conversation_depth=1.0))
        assert all(poor[slot] >= min(base[slot] // 2, getattr(BudgetPolicy().minima, slot)) for slot in base)


@pytest.mark.parametrize("window", [1000, 8192, 32_768])
def test_an_empty_slot_gets_nothing(window: int) -> None:
    slots = allocate(window, BudgetSignals(memory_richness=0.0, knowledge_relevance=0.0))
    assert (slots["personal"], slots["knowledge"]) == (0, 0)
    assert sum(slots.values()) <= window - BudgetPolicy().margin(window) + 1


@pytest.mark.parametrize("window", [256, 300, 1000, 2048, 4096, 8192, 10_000, 12_000, 14_000, 16_384, 32_768, 500_000])
def test_the_longest_message_leaves_every_slot_its_least(window: int) -> None:
    limits = compute_slot_bounds(window)
    assert all(limits.least[slot] <= limits.most[slot] for slot in SLOTS)
    fixed = limits.least["system"] + limits.least["generation"] + limits.most["user_turn"]
    least = sum(limits.least[slot] for slot in COMPRESSIBLE)
    assert fixed + least + (HEADINGS_COST if least else 0) <= limits.room


def test_the_seeds_bounds_hold_from_the_smallest_profile_on() -> None:
    policy = BudgetPolicy()
    for window in (8192, 12_000, 16_384, 32_768, 128_000):
        limits = compute_slot_bounds(window)
        assert dict(limits.most) == dict(policy.maxima)
        assert all(limits.least[slot] == size for slot, size in policy.minima.incompressible.items())
    assert dict(compute_slot_bounds(16_384).least) == dict(policy.minima)


def test_an_allocation_contains_plain_values() -> None:
    slots = {slot: SlotBudget(4, 1, 9, 3, 3, 2) for slot in SLOTS}
    made = Allocation(8192, 410, "8k", "dynamic", "fixed_priority", BudgetSignals(1 / 3), slots).as_json()
    assert json.loads(json.dumps(made)) == made
    assert made["signals"] == {"memory_richness": 0.3333, "knowledge_relevance": 0.5, "conversation_depth": 0.5}
    assert made["slots"]["window"] == {"wanted": 4, "minimum": 1, "maximum": 9, "share": 3, "granted": 3, "used": 2}  # pyright: ignore
