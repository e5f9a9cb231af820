"""Whether the user withdrew a finding before a model made it. Pure."""

from collections.abc import Iterable, Set
from dataclasses import replace

from shared.domain.observations import ObservationRow
from shared.language.normalise import normalise
from shared.resolution.related import about
from shared.store.additions import Withdrawal
from shared.store.model_answers import CachedAnswer

SINCE = "model: taken back since"
"""The reason why such a finding is dropped."""


def is_withdrawn(observation: ObservationRow, since: Iterable[Withdrawal]) -> bool:
    """Whether a withdrawal names its key, shares a word with it, or withdraws the whole turn."""
    terms = about(observation.text).terms | about(str(observation.value.get("value") or "")).terms
    return any(
        each.of_turn
        or (observation.key is not None and observation.key == each.key)
        or not terms.isdisjoint(about(each.words).terms)
        for each in since
    )


def drop_withdrawn(answer: CachedAnswer, withdrawn: Set[str]) -> CachedAnswer:
    """The answer without items of these texts, so that a rebuild does not find them either."""
    items = answer.answer.get("items", ())
    kept = [item for item in items if normalise(item.get("content") or "") not in withdrawn]
    return answer if len(kept) == len(items) else replace(answer, answer={**answer.answer, "items": kept})
