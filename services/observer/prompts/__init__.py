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
from services.observer.prompts.judged import Wrong, list_misread, name_by_text
from services.observer.prompts.recount import RecountAnswer, RecountedItem, ShownLine
from shared.errors import ConfigurationError
from shared.models.prompt import Prompt

Extract = Callable[[Sequence[PromptMessage], Sequence[KnownMemory]], Prompt[ExtractionAnswer]]
"""Makes the question about one turn, given the memories of its user."""
Judge = Callable[[Sequence[PromptMessage], Sequence[KnownMemory], Sequence[str]], Prompt[ExtractionAnswer]]
"""The same, given also the findings of the rules."""

JUDGE: Mapping[str, Judge] = {extract_4.VERSION: extract_4.extract}
"""The versions that may reject findings of the rules."""
EXTRACT: Mapping[str, Extract] = {each.VERSION: each.extract for each in (extract_1, extract_2, extract_3, extract_4)}
"""All versions. A text that was in use is never edited: a change is a new version."""


def choose_prompt(version: str) -> Extract:
    """The prompt that the policy names; ConfigurationError if it does not exist."""
    prompt = EXTRACT.get(version)
    if prompt is None:
        raise ConfigurationError(f"observer.extract_prompt: no prompt {version!r}; there are {', '.join(EXTRACT)}")
    return prompt


def make_question(
    version: str, messages: Sequence[PromptMessage], memories: Sequence[KnownMemory], findings: Sequence[str]
) -> Prompt[ExtractionAnswer]:
    """The question of this version about a turn with these findings of the rules."""
    judge = JUDGE.get(version)
    return judge(messages, memories, findings) if judge else choose_prompt(version)(messages, memories)


Recount = Callable[[Sequence[ShownLine], Sequence[PromptMessage]], Prompt[RecountAnswer]]
"""Makes the question which lines of a summary new messages change."""

SUMMARY: Mapping[str, Recount] = {summary_1.VERSION: summary_1.summary}
"""All versions; as with EXTRACT, none is ever edited."""


def choose_recount(version: str) -> Recount:
    """The prompt that the policy names; ConfigurationError if it does not exist."""
    prompt = SUMMARY.get(version)
    if prompt is None:
        raise ConfigurationError(f"session.summary_prompt: no prompt {version!r}; there are {', '.join(SUMMARY)}")
    return prompt


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
    "choose_prompt",
    "choose_recount",
    "list_accepted",
    "list_misread",
    "make_question",
    "name_by_text",
    "to_real_ids",
]
