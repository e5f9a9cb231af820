"""The minimum and maximum of every slot hold for every message and window (seed 004 section 4.2.1)."""

import random
from dataclasses import replace

import pytest

from schemas.context_package import ContextPackage
from services.compose.rules.candidates import RecentTurn, TurnMessage
from services.compose.rules.packing.draft import (
    COMPRESSIBLE,
    SLOTS,
    PackagedContext,
    PackInputs,
    PackPolicy,
    TokenLimitTooSmallError,
    UserMessageTooLongError,
)
from services.compose.rules.packing.pack import check_size, pack_context
from services.compose.rules.packing.sizes import choose_profile, compute_slot_bounds
from shared.language import tokens
from shared.policy import BudgetPolicy, Shares
from tests.long import often
from tests.unit.compose.rules.packing.histories import KINDS, history, pieces, some_text

POLICY = PackPolicy()
WINDOWS = (256, 300, 700, 1000, 2048, 4096, 8192, 8192, 12_000, 16_384, 32_768, 128_000)
BATCH = 25
SHORT_GUIDE = 56
"""Tokens of the shortest rules, in the language that needs more of them."""


def _shapes(seed: int) -> PackInputs:
    """A history larger than the window, and a message up to twice the maximum length."""
    rng = random.Random(seed)
    window = rng.choice(WINDOWS) + rng.randrange(-50, 50) * (rng.random() < 0.5)
    window = max(256, window)
    lines = pieces()[rng.choice(KINDS)]
    longest = compute_slot_bounds(window).most["user_turn"]
    message = tokens.head(some_text(rng, lines, 8 * longest), rng.randrange(2, 2 * longest)) or "?"
    long = some_text(rng, lines, 20_000)
    turns = [
        RecentTurn(f"t{n}", n, (TurnMessage("user", f"{n} {long}"), TurnMessage("assistant", long)))
        for n in range(1, 9)
    ]
    made = history(seed, token_limit=window, user_message=message)
    return replace(made, recent=turns, working_summary=long) if rng.random() < 0.5 else made


def _holds(inputs: PackInputs, packed: PackagedContext) -> None:
    limits, slots = compute_slot_bounds(inputs.token_limit), packed.allocation.slots
    package = packed.package
    assert package.user_message.content == inputs.user_message
    assert any(block.type == "policies" for block in package.system_blocks)
    for slot in SLOTS:
        share = slots[slot]
        assert (share.minimum, share.maximum) == (limits.least[slot], limits.most[slot])
        assert share.granted >= min(share.wanted, share.minimum), (slot, share)
        assert share.used <= share.granted, (slot, share)
        assert share.granted <= share.maximum or slot == "system", (slot, share)
    assert slots["system"].used <= max(limits.most["system"], 60)
    assert package.constraints.token_budget.generation >= limits.least["generation"]
    assert sum(slots[slot].used for slot in SLOTS) + package.constraints.token_budget.margin <= inputs.token_limit
    if inputs.token_limit >= 8192:
        summary = slots["summary"]
        assert summary.used >= 0.8 * min(summary.wanted, summary.minimum), summary
        for slot in ("personal", "window"):
            assert slots[slot].used or not slots[slot].wanted, (slot, slots[slot])


@pytest.mark.parametrize("batch", range(often(40, short=2)))
def test_every_slot_keeps_its_bounds_or_the_message_is_refused(batch: int) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        inputs = _shapes(seed)
        try:
            packed = pack_context(inputs, POLICY)
        except (UserMessageTooLongError, TokenLimitTooSmallError) as error:
            _is_too_long(inputs, error)
        else:
            _holds(inputs, packed)


def _is_too_long(inputs: PackInputs, error: ValueError) -> None:
    """It is refused before any search, and only if it exceeds its maximum."""
    with pytest.raises((UserMessageTooLongError, TokenLimitTooSmallError)):
        check_size(replace(inputs, evidence=(), core=(), recent=(), working_summary="", entities=()), POLICY)
    limits, said = compute_slot_bounds(inputs.token_limit), tokens.count(inputs.user_message)
    if isinstance(error, TokenLimitTooSmallError):
        assert inputs.token_limit < 300
    else:
        assert said + 4 > min(limits.message_room(SHORT_GUIDE), inputs.token_limit // 4)


@pytest.mark.parametrize(("window", "words"), [(8192, 5500), (8192, 6200), (32_768, 5500), (128_000, 200_000)])
def test_a_message_that_would_use_the_room_of_rules_and_answer_is_refused(window: int, words: int) -> None:
    with pytest.raises(UserMessageTooLongError, match=f"the limit of {window} leaves 4000 for it"):
        pack_context(history(1, token_limit=window, user_message="word " * words), POLICY)


def test_the_longest_message_leaves_the_guide_the_answer_and_some_of_all_memory() -> None:
    for seed in range(20):
        inputs = history(seed, token_limit=8192, user_message="word " * 3600, intent="task")
        packed = pack_context(inputs, POLICY)
        _holds(inputs, packed)
        assert packed.package.constraints.token_budget.generation == 2000
        assert _guide(packed.package)


def _guide(package: ContextPackage) -> str:
    return next(block.text for block in package.system_blocks if block.type == "policies")


@pytest.mark.parametrize("window", [32_768, 128_000])
def test_unused_room_lifts_no_other_slot_above_its_maximum(window: int) -> None:
    long = "eight long turns were said here. " * 1200
    turns = [RecentTurn(f"t{n}", n, (TurnMessage("user", f"{n} {long}"),)) for n in range(1, 9)]
    inputs = history(3, token_limit=window, user_message="and now?", recent=turns, working_summary=long, evidence=())
    used = {slot: share.used for slot, share in pack_context(inputs, POLICY).allocation.slots.items()}
    assert 9900 <= used["window"] <= 10_000
    assert 4900 <= used["summary"] <= 5000


def test_every_bound_comes_from_policy() -> None:
    """For a deployment with longer messages and a longer window."""
    maxima = BudgetPolicy().maxima.model_copy(update={"user_turn": 9000, "window": 12_000})
    policy = replace(POLICY, budget=BudgetPolicy(maxima=maxima))
    packed = pack_context(history(2, token_limit=32_768, user_message="word " * 8000), policy)
    assert packed.allocation.slots["user_turn"].used > 8000
    assert packed.allocation.slots["window"].maximum == 12_000


def test_a_profile_beyond_a_maximum_is_refused_at_the_start() -> None:
    shares = dict(choose_profile(32_768).slots) | {"summary": 6000, "knowledge": 4000}
    profiles = {**BudgetPolicy().profiles}
    profiles["32k"] = Shares.model_validate(shares)
    with pytest.raises(ValueError, match=r"profiles\.32k\.summary: 6000 is more than maxima\.summary, 5000"):
        BudgetPolicy(profiles=profiles)


def test_no_window_is_too_small_for_every_slot_that_can_be_cut_at_once() -> None:
    assert all(compute_slot_bounds(8192).least[slot] for slot in COMPRESSIBLE if slot != "knowledge")
