"""The daily budget for models that is left. Counted after each turn, so that a burst stays within it too. Pure."""

from dataclasses import dataclass, replace

from shared.models.cost import Spent


@dataclass(frozen=True, slots=True)
class ModelBudget:
    """Tokens and seconds left today; None if there is no limit."""

    tokens: int | None = None
    seconds: float | None = None

    def allows(self, prompt_tokens: int) -> bool:
        """Whether a question may be asked: its prompt must fit, so that only one answer can exceed the budget."""
        return (self.tokens is None or prompt_tokens <= self.tokens) and (self.seconds is None or self.seconds > 0)

    def subtract(self, spent: Spent) -> "ModelBudget":
        """The budget after this was spent."""
        return replace(
            self,
            tokens=None if self.tokens is None else self.tokens - spent.tokens,
            seconds=None if self.seconds is None else self.seconds - spent.seconds,
        )


def subtract_spent(tokens_per_day: int, seconds_per_day: float, spent: Spent) -> ModelBudget:
    """The budget that is left after what was spent today; 0 per day is no limit."""
    whole = ModelBudget(tokens_per_day or None, seconds_per_day or None)
    return whole.subtract(spent)


def choose_least(one: ModelBudget, other: ModelBudget) -> ModelBudget:
    """The stricter limits of both budgets."""
    tokens = [each.tokens for each in (one, other) if each.tokens is not None]
    seconds = [each.seconds for each in (one, other) if each.seconds is not None]
    return ModelBudget(min(tokens, default=None), min(seconds, default=None))
