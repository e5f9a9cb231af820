"""The prices of models."""

from pydantic import Field

from shared.policy.base import Slice


class ModelPrice(Slice):
    """Price of a million tokens of one model, in `models.currency`."""

    read: float = Field(ge=0, description="Tokens that it reads")
    written: float = Field(ge=0, description="Tokens that it writes")


class ModelsPolicy(Slice):
    """Prices of models, for the metric `smartbrain_model_cost` and the operations pages.

    A model without a price costs nothing. Prices limit nothing: the daily shares are keys of `observer`.
    """

    currency: str = Field(default="USD", pattern="^[A-Z]{3}$", description="Currency of the prices")
    prices: dict[str, ModelPrice] = Field(
        default_factory=dict[str, ModelPrice], description="Prices by model name, as in the settings"
    )

    def cost(self, model: str, tokens_in: int, tokens_out: int) -> float:
        """The cost of these tokens of the model; 0 without a price."""
        price = self.prices.get(model)
        return (tokens_in * price.read + tokens_out * price.written) / 1e6 if price else 0.0
