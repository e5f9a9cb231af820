"""The result of reading one turn: frozen values without behaviour."""

from dataclasses import dataclass

from shared.extraction import Observed


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a turn says, notes on how it was found out, and which version of the question was asked."""

    observed: Observed
    notes: tuple[str, ...] = ()
    prompt_version: str | None = None
