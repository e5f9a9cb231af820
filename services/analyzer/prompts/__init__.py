"""The prompts of the analyzer about a sentence and memories: one function a version, chosen by name."""

from collections.abc import Callable, Mapping, Sequence

from services.analyzer.prompts import analysis_1
from services.analyzer.prompts.answer import MOST_SHOWN, AnalysisAnswer, MemoryOption, verdicts
from shared.errors import ConfigurationError
from shared.models.prompt import Prompt

Relate = Callable[[str, Sequence[MemoryOption]], Prompt[AnalysisAnswer]]
"""The question how a sentence stands to memories."""

ANALYSIS: Mapping[str, Relate] = {analysis_1.VERSION: analysis_1.relate}
"""Every version that can be chosen. A text that was in use is never edited: it gets a new version."""


def choose_prompt(version: str) -> Relate:
    """The prompt that policy names; ConfigurationError with its place where there is none of that name."""
    found = ANALYSIS.get(version)
    if found is None:
        raise ConfigurationError(f"analysis.prompt: no prompt {version!r}; there are {', '.join(ANALYSIS)}")
    return found


__all__ = ["ANALYSIS", "MOST_SHOWN", "AnalysisAnswer", "MemoryOption", "Relate", "choose_prompt", "verdicts"]
