"""The cost of tokens, by the prices of the policy."""

from shared.policy import ModelPrice, ModelsPolicy


def test_tokens_cost_the_price_of_their_model_and_nothing_without_one() -> None:
    policy = ModelsPolicy(prices={"qwen3": ModelPrice(read=0.5, written=2.0)})
    assert policy.cost("qwen3", 2_000_000, 500_000) == 2.0
    assert policy.cost("another", 2_000_000, 500_000) == 0.0
