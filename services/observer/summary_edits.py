"""The changes of a model to a summary. Pure. The messages must support them; other lines stay unchanged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from services.observer.ground import FRAME, is_supported, list_terms
from services.observer.prompts import PromptMessage, RecountAnswer, RecountedItem, ShownLine
from services.observer.summary import SummaryItem, SummaryPolicy
from services.observer.summary.merge import identity
from services.observer.summary.questions import speaks_of
from shared.extraction import slash
from shared.extraction.clauses import split
from shared.extraction.manipulation import manipulates
from shared.language.normalise import clip, fold, normalise
from shared.language.patterns import to_pattern
from shared.secrets import redact

MAX_MESSAGES = 24
MESSAGE_CHARS = 240
LEAST_GROUND = 0.66
"""The minimum share of words of a line that the messages contain; a line has no quote that proves it."""
COVERED = 0.7
"""The share of words of a sentence from which a line of the model replaces it."""
_NUMBER = to_pattern(r"\d+")
_LETTER = {"goals": "g", "decisions": "d", "tasks": "t", "questions": "q"}


@dataclass(frozen=True, slots=True)
class SummaryEdit:
    """The lines, under short ids, and messages that a model was shown."""

    lines: Mapping[str, SummaryItem]
    messages: tuple[PromptMessage, ...]
    words: frozenset[str] = field(init=False)
    numbers: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        texts = [each.text for each in self.messages]
        object.__setattr__(self, "words", frozenset(word for text in texts for word in list_terms(text)))
        object.__setattr__(self, "numbers", frozenset(number for text in texts for number in _NUMBER.findall(text)))

    def to_shown_lines(self) -> list[ShownLine]:
        """The lines as the prompt takes them."""
        return [ShownLine(key, item.section, item.text, item.state) for key, item in self.lines.items()]  # pyright: ignore[reportArgumentType] # no references

    def speaks_of(self, item: SummaryItem) -> bool:
        """Whether a message is about the same thing as the line."""
        return any(speaks_of(each.text, item.text) for each in self.messages)

    def supports(self, text: str, before: str = "") -> bool:
        """Whether the messages support the text, or what it adds to the former text of the line."""
        if manipulates(text) or not set(_NUMBER.findall(text)) <= self.numbers.union(_NUMBER.findall(before)):
            return False
        old = list_terms(before)
        if before and (list_terms(text) - old - FRAME).isdisjoint(self.words):
            return False
        return is_supported(self.words | old, text, LEAST_GROUND)


def choose_lines(items: Sequence[SummaryItem], messages: Iterable[PromptMessage]) -> SummaryEdit:
    """The lines that a model may change, and the newest messages: no commands, no secrets, nothing that steers."""
    lines: dict[str, SummaryItem] = {}
    for item in items:
        if letter := _LETTER.get(item.section):
            number = 1 + sum(key.startswith(letter) for key in lines)
            lines[f"{letter}{number}"] = item
    clean = [replace(each, text=_clean(each.text)) for each in messages if not slash.parse(each.text)]
    spoken = [each for each in clean if each.role in ("user", "assistant") and each.text]
    return SummaryEdit(lines, tuple(spoken[-MAX_MESSAGES:]))


def _clean(text: str) -> str:
    steers = [clause for clause in split(text) if manipulates(clause.text)]
    for clause in reversed(steers):
        text = f"{text[: clause.start]} {text[clause.end :]}"
    return clip(normalise(redact("" if manipulates(text) else text)[0]), MESSAGE_CHARS)


def apply_changes(
    items: Sequence[SummaryItem], edit: SummaryEdit, answer: RecountAnswer, seq: int, policy: SummaryPolicy
) -> list[SummaryItem]:
    """The items after the answer. New lines only fill free space; an id that was not shown changes nothing."""
    after = {item.id: item for item in items}
    for each in answer.items:
        if each.id is None:
            _add(after, each, edit, seq, policy)
        elif line := edit.lines.get(each.id.strip()):
            after[line.id] = change_item(after[line.id], each, edit, seq)
    for key in answer.done:
        if (line := edit.lines.get(key.strip())) and edit.speaks_of(line):
            _finish(after, line.id, seq)
    return list(after.values())


def change_item(item: SummaryItem, wanted: RecountedItem, edit: SummaryEdit, seq: int) -> SummaryItem:
    """The line with the wanted text and state, as far as the messages support them."""
    state = wanted.state if item.section == "tasks" and wanted.state and edit.speaks_of(item) else item.state
    text = wanted.text if edit.supports(wanted.text, item.text) else item.text
    return item if (text, state) == (item.text, item.state) else replace(item, text=text, state=state, seq=seq)


def _finish(after: dict[str, SummaryItem], key: str, seq: int) -> None:
    """Marks a task as done; removes an answered question. Goals and decisions stay until they change."""
    item = after.get(key)
    if item and item.section == "tasks" and item.state != "done":
        after[key] = replace(item, state="done", seq=seq)
    elif item and item.section == "questions":
        del after[key]


def _add(
    after: dict[str, SummaryItem], wanted: RecountedItem, edit: SummaryEdit, seq: int, policy: SummaryPolicy
) -> None:
    standing = sum(item.section == wanted.section and item.state != "done" for item in after.values())
    asks = wanted.section == "questions"
    stated = [item for item in after.values() if item.section != "context"]
    repeats = any(is_contained(wanted.text, item.text) for item in stated if (item.section == "questions") is asks)
    if repeats or standing >= policy.maxima[wanted.section] or not edit.supports(wanted.text):
        return
    key = identity(wanted.section, wanted.text)
    state = (wanted.state or "todo") if wanted.section == "tasks" else None
    after[key] = SummaryItem(wanted.section, key, wanted.text, seq, state)
    for item in [each for each in after.values() if each.section == "context"]:
        if len(list_terms(item.text) & list_terms(wanted.text)) >= COVERED * len(list_terms(item.text)):
            del after[item.id]


def is_contained(one: str, other: str) -> bool:
    """Whether the words of one text are all in the other."""
    if fold(normalise(one)) == fold(normalise(other)):
        return True
    mine, theirs = list_terms(one), list_terms(other)
    return bool(mine and theirs) and (mine <= theirs or theirs <= mine)
