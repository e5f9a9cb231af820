"""What models cost."""

from pydantic import Field

from shared.policy.base import Slice


class ModelPrice(Slice):
    """What a million tokens of one model cost, in `models.currency`."""

    read: float = Field(ge=0, description="Tokens that it reads")
    written: float = Field(ge=0, description="Tokens that it writes")


class ModelsPolicy(Slice):
    """What models cost: the metric `smartbrain_model_cost` and the figures of operators count by it.

    A model that is not named costs nothing. Nothing is refused for its price: daily shares are keys of `observer`.
    """

    currency: str = Field(default="USD", pattern="^[A-Z]{3}$", description="What prices are in")
    prices: dict[str, ModelPrice] = Field(
        default_factory=dict[str, ModelPrice], description="By the model's name, as the settings have it"
    )

    def cost(self, model: str, tokens_in: int, tokens_out: int) -> float:
        """What these tokens of the model cost; 0 where it has no price."""
        price = self.prices.get(model)
        return (tokens_in * price.read + tokens_out * price.written) / 1e6 if price else 0.0
