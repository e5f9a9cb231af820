"""The prompts of the analyzer about a sentence and memories: one function a version, chosen by name."""

from collections.abc import Callable, Mapping, Sequence

from services.analyzer.prompts import analysis_1
from services.analyzer.prompts.answer import MOST_SHOWN, AnalysisAnswer, MemoryOption, read_verdicts
from shared.errors import ConfigurationError
from shared.models.prompt import Prompt

Relate = Callable[[str, Sequence[MemoryOption]], Prompt[AnalysisAnswer]]
"""Makes the question how a sentence relates to memories."""

ANALYSIS: Mapping[str, Relate] = {analysis_1.VERSION: analysis_1.relate}
"""All versions. A text that was in use is never edited: a change is a new version."""


def choose_prompt(version: str) -> Relate:
    """The prompt that the policy names; ConfigurationError if it does not exist."""
    make_prompt = ANALYSIS.get(version)
    if make_prompt is None:
        raise ConfigurationError(f"analysis.prompt: no prompt {version!r}; there are {', '.join(ANALYSIS)}")
    return make_prompt


__all__ = ["ANALYSIS", "MOST_SHOWN", "AnalysisAnswer", "MemoryOption", "Relate", "choose_prompt", "read_verdicts"]
