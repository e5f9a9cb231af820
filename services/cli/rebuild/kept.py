"""A model that only repeats stored answers: missing ones are counted, and no model is called."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from shared.model_calls.calls import AnswerKey
from shared.models.errors import ModelUnavailable
from shared.models.none import NoModels
from shared.models.prompt import A, Answer, Prompt
from shared.policy import ObserverPolicy
from shared.store.model_answers import CachedAnswer


class KeptModels(NoModels):
    """Replaces the model that answered last; handlers find its answers in the cache before they call it."""

    def __init__(self, answers: Iterable[CachedAnswer]) -> None:
        self.chat_model_id = next((each.model for each in reversed(list(answers))), None)
        self.missed: Counter[str] = Counter()

    async def ask(self, prompt: Prompt[A]) -> Answer[A]:
        """Never answers; the prompt is counted."""
        self.missed[prompt.name] += 1
        raise ModelUnavailable("not_configured", f"no kept answer for {prompt.name}")


def readdress_answers(answers: list[CachedAnswer], model: str, policy: ObserverPolicy) -> list[CachedAnswer]:
    """The answers, also stored under this model and the current prompt, so that a change of either loses none."""
    by_hash = {each.input_hash: each for each in answers}
    for each in reversed(answers):
        for version in (each.prompt_version, policy.extract_prompt):
            key = AnswerKey(each.purpose, version, model, each.said)
            by_hash.setdefault(key.hash, replace(each, input_hash=key.hash))
    return list(by_hash.values())
