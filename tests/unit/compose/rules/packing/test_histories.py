"""A thousand random histories: nothing over the limit, the message whole, the room used."""

import random
from dataclasses import replace

import pytest

from schemas.context_package import messages
from services.compose.rules.candidates import RecentTurn, TurnMessage
from services.compose.rules.packing.draft import PackagedContext, PackInputs, PackPolicy, UserMessageTooLongError
from services.compose.rules.packing.pack import pack_context
from shared.language import tokens
from tests.long import often
from tests.unit.compose.rules.packing.histories import KINDS, history, pieces, some_text, tokenizers

A_PIECE = 400
"""Tokens of JSON, text and fields, into which another whole piece of memory may not fit."""
BATCH = 50
POLICY = PackPolicy()


def _packed(inputs: PackInputs) -> PackagedContext | None:
    """The package; None for a message that leaves no room for the package that it stands in."""
    try:
        return pack_context(inputs, POLICY)
    except UserMessageTooLongError:
        assert tokens.count(inputs.user_message) > min(inputs.token_limit // 4, 3900)
        return None


def _check(inputs: PackInputs, packed: PackagedContext) -> None:
    package, limit = packed.package, inputs.token_limit
    budget = package.constraints.token_budget
    assert package.user_message.content == inputs.user_message
    wire = package.model_dump_json(exclude_none=True)
    for name, count in tokenizers().items():
        assert sum(count(each.content) + 4 for each in messages(package)) <= limit - budget.generation, name
        assert count(wire) <= limit, name
    assert budget.used_estimate + budget.generation + budget.margin <= limit
    shares = packed.allocation.slots
    wanted = sum(each.wanted for slot, each in shares.items() if slot != "generation")
    room = limit - budget.margin - budget.generation
    if wanted >= room and not _at_most(packed):
        full = budget.used_estimate >= 0.9 * room
        assert full or tokens.count_fresh(wire) >= 0.9 * limit - A_PIECE, (limit, shares)
    assert all(each.used <= each.granted <= each.wanted for each in shares.values())


def _at_most(packed: PackagedContext) -> bool:
    """Whether a slot wants more than it may ever have."""
    return any(each.wanted > each.maximum for each in packed.allocation.slots.values())


@pytest.mark.parametrize("batch", range(often(20, short=2)))
def test_no_package_exceeds_its_limit_and_none_wastes_it(batch: int) -> None:
    """As messages and as JSON, by tokenizers trained on these texts; room is left only where nothing more fits."""
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        inputs = history(seed)
        if packed := _packed(inputs):
            _check(inputs, packed)


@pytest.mark.parametrize("limit", [2048, 4096, 8192, 16_384, 32_768])
@pytest.mark.parametrize("seed", range(often(8, short=2)))
def test_a_long_conversation_uses_nine_tenths_of_the_limit_or_all_that_it_may(seed: int, limit: int) -> None:
    inputs = history(seed, token_limit=limit, user_message="接下来呢？ And now?")
    rng = random.Random(seed)
    long = some_text(rng, pieces()[rng.choice(KINDS)], 40_000)
    turns = [
        RecentTurn(f"t{n}", n, (TurnMessage("user", f"{n} {long}"), TurnMessage("assistant", long))) for n in (1, 2, 3)
    ]
    packed = pack_context(replace(inputs, recent=turns), POLICY)
    _check(inputs, packed)
    budget = packed.package.constraints.token_budget
    window = packed.allocation.slots["window"]
    wire = tokens.count_fresh(packed.package.model_dump_json(exclude_none=True))
    full = window.used >= 0.99 * window.maximum or wire >= 0.97 * limit
    assert full or (budget.used_estimate + budget.generation + budget.margin) / limit >= 0.9
    assert full or budget.used_estimate / (limit - budget.generation - budget.margin) >= 0.9
