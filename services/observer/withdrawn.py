"""Whether the user has since withdrawn a finding that a model makes only now. Pure."""

from collections.abc import Iterable, Set
from dataclasses import replace

from shared.domain.observations import ObservationRow
from shared.language.normalise import normalise
from shared.resolution.related import about
from shared.store.additions import Withdrawal
from shared.store.model_answers import CachedAnswer

SINCE = "model: taken back since"
"""Why such a find is dropped."""


def is_withdrawn(observation: ObservationRow, since: Iterable[Withdrawal]) -> bool:
    """By its key, by a word that what was taken back shares with it, or with all that the turn said."""
    terms = about(observation.text).terms | about(str(observation.value.get("value") or "")).terms
    return any(
        each.of_turn
        or (observation.key is not None and observation.key == each.key)
        or not terms.isdisjoint(about(each.words).terms)
        for each in since
    )


def without(answer: CachedAnswer, taken_back: Set[str]) -> CachedAnswer:
    """The answer without the items that say this, so that a rebuild does not find them either."""
    items = answer.answer.get("items", ())
    kept = [item for item in items if normalise(item.get("content") or "") not in taken_back]
    return answer if len(kept) == len(items) else replace(answer, answer={**answer.answer, "items": kept})
