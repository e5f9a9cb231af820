"""The prompts of the observer about a turn and a session: one function a version, chosen by name."""

from collections.abc import Callable, Mapping, Sequence

from services.observer.prompts import extract_1, extract_2, extract_3, extract_4, summary_1
from services.observer.prompts.answers import (
    ExtractedItem,
    ExtractionAnswer,
    KnownMemory,
    PromptMessage,
    list_accepted,
    to_real_ids,
)
from services.observer.prompts.judged import Wrong, by_words, misread
from services.observer.prompts.recount import RecountAnswer, RecountedItem, ShownLine
from shared.errors import ConfigurationError
from shared.models.prompt import Prompt

Extract = Callable[[Sequence[PromptMessage], Sequence[KnownMemory]], Prompt[ExtractionAnswer]]
"""The question about one turn, given what is known of its user."""
Judge = Callable[[Sequence[PromptMessage], Sequence[KnownMemory], Sequence[str]], Prompt[ExtractionAnswer]]
"""The same, given also what the rules have found in the turn."""

JUDGE: Mapping[str, Judge] = {extract_4.VERSION: extract_4.extract}
"""The versions that may say which of the rules' finds are wrong."""
EXTRACT: Mapping[str, Extract] = {each.VERSION: each.extract for each in (extract_1, extract_2, extract_3, extract_4)}
"""Every version that can be chosen. A text that was in use is never edited: it gets a new version."""


def choose_prompt(version: str) -> Extract:
    """The prompt that policy names; ConfigurationError with its place where there is none of that name."""
    found = EXTRACT.get(version)
    if found is None:
        raise ConfigurationError(f"observer.extract_prompt: no prompt {version!r}; there are {', '.join(EXTRACT)}")
    return found


def question(
    version: str, messages: Sequence[PromptMessage], memories: Sequence[KnownMemory], finds: Sequence[str]
) -> Prompt[ExtractionAnswer]:
    """The question of that version about a turn, in which the rules have found this."""
    judge = JUDGE.get(version)
    return judge(messages, memories, finds) if judge else choose_prompt(version)(messages, memories)


Recount = Callable[[Sequence[ShownLine], Sequence[PromptMessage]], Prompt[RecountAnswer]]
"""The question what new messages change in the lines of a summary."""

SUMMARY: Mapping[str, Recount] = {summary_1.VERSION: summary_1.summary}
"""Every version that can be chosen; as with EXTRACT, none is ever edited."""


def choose_recount(version: str) -> Recount:
    """The prompt that policy names; ConfigurationError with its place where there is none of that name."""
    found = SUMMARY.get(version)
    if found is None:
        raise ConfigurationError(f"session.summary_prompt: no prompt {version!r}; there are {', '.join(SUMMARY)}")
    return found


__all__ = [
    "EXTRACT",
    "JUDGE",
    "SUMMARY",
    "Extract",
    "ExtractedItem",
    "ExtractionAnswer",
    "Judge",
    "KnownMemory",
    "PromptMessage",
    "Recount",
    "RecountAnswer",
    "RecountedItem",
    "ShownLine",
    "Wrong",
    "by_words",
    "choose_prompt",
    "choose_recount",
    "list_accepted",
    "misread",
    "question",
    "to_real_ids",
]
