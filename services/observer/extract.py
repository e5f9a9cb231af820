"""One function for extraction: the rules always, the model where one is reachable; the rules' certainties stand."""

from services.observer.rules import ObserveContext, Observed, ObservePolicy, TurnText, observe
from shared.runtime import Runtime


async def extract(rt: Runtime, turn: TurnText, context: ObserveContext) -> tuple[Observed, tuple[str, ...]]:
    """What the turn says, and notes on how it was found out; never raises for a model that is away or talks nonsense."""
    policy = ObservePolicy(entity_min_mentions=rt.policy.observer.entity_min_mentions)
    return observe(turn, context, policy), ()
