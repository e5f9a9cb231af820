"""What the observer asks a model about a turn and a session: one function a version, chosen by name."""

from collections.abc import Callable, Mapping, Sequence

from services.observer.prompts import extract_1, extract_2, extract_3, summary_1
from services.observer.prompts.answers import ExtractedItem, ExtractionAnswer, Known, Said, accepted, related
from services.observer.prompts.recount import RecountAnswer, RecountedItem, Shown
from shared.errors import ConfigurationError
from shared.models.prompt import Prompt

Extract = Callable[[Sequence[Said], Sequence[Known]], Prompt[ExtractionAnswer]]
"""The question about one turn, given what is known of its user."""

EXTRACT: Mapping[str, Extract] = {each.VERSION: each.extract for each in (extract_1, extract_2, extract_3)}
"""Every version that can be chosen. A text that was in use is never edited: it gets a new version."""


def chosen(version: str) -> Extract:
    """The prompt that policy names; ConfigurationError with its place where there is none of that name."""
    found = EXTRACT.get(version)
    if found is None:
        raise ConfigurationError(f"observer.extract_prompt: no prompt {version!r}; there are {', '.join(EXTRACT)}")
    return found


Recount = Callable[[Sequence[Shown], Sequence[Said]], Prompt[RecountAnswer]]
"""The question what new messages change in the lines of a summary."""

SUMMARY: Mapping[str, Recount] = {summary_1.VERSION: summary_1.summary}
"""Every version that can be chosen; as with EXTRACT, none is ever edited."""


def recounting(version: str) -> Recount:
    """The prompt that policy names; ConfigurationError with its place where there is none of that name."""
    found = SUMMARY.get(version)
    if found is None:
        raise ConfigurationError(f"session.summary_prompt: no prompt {version!r}; there are {', '.join(SUMMARY)}")
    return found


__all__ = [
    "EXTRACT",
    "SUMMARY",
    "Extract",
    "ExtractedItem",
    "ExtractionAnswer",
    "Known",
    "Recount",
    "RecountAnswer",
    "RecountedItem",
    "Said",
    "Shown",
    "accepted",
    "chosen",
    "recounting",
    "related",
]
