"""What is left of a day's share of the model: pure. Counted down turn by turn, so that a burst keeps within it too."""

from dataclasses import dataclass, replace

from shared.models.cost import Spent


@dataclass(frozen=True, slots=True)
class ModelBudget:
    """Tokens and seconds left today; None where there is no limit."""

    tokens: int | None = None
    seconds: float | None = None

    def allows(self, prompt_tokens: int) -> bool:
        """Whether a question may be asked: its prompt must fit, so that only one answer can ever exceed the share."""
        return (self.tokens is None or prompt_tokens <= self.tokens) and (self.seconds is None or self.seconds > 0)

    def subtract(self, spent: Spent) -> "ModelBudget":
        """What is left once this was spent."""
        return replace(
            self,
            tokens=None if self.tokens is None else self.tokens - spent.tokens,
            seconds=None if self.seconds is None else self.seconds - spent.seconds,
        )


def subtract_spent(tokens_per_day: int, seconds_per_day: float, spent: Spent) -> ModelBudget:
    """What is left of a share after what was spent of it today; a share of 0 is no limit."""
    whole = ModelBudget(tokens_per_day or None, seconds_per_day or None)
    return whole.subtract(spent)


def choose_least(one: ModelBudget, other: ModelBudget) -> ModelBudget:
    """Both limits at once."""
    tokens = [each.tokens for each in (one, other) if each.tokens is not None]
    seconds = [each.seconds for each in (one, other) if each.seconds is not None]
    return ModelBudget(min(tokens, default=None), min(seconds, default=None))
