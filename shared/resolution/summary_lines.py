"""Which lines of a session's summary say what holds no longer: pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from shared.language.normalise import fold
from shared.language.segment import has_word, query_terms

MOST_TERMS = 200


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """A line of a summary and the turn that it was last said in; None where that is not stored any more."""

    text: str
    turn_id: UUID | None = None
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class EndedStatement:
    """What was learnt from a turn and holds no longer: its text, its value, and since when it does not."""

    text: str
    word: str | None
    turn_id: UUID | None
    ended_at: datetime | None = None


def restates_old_value(text: str, old_value: str, statement: str) -> bool:
    """Whether the text says the old value, and of the same thing: another word that carries the statement."""
    if not has_word(text, old_value):
        return False
    about = set(query_terms(statement, MOST_TERMS)) - set(query_terms(old_value, MOST_TERMS))
    return not about.isdisjoint(query_terms(text, MOST_TERMS))


def find_stale_lines(lines: Sequence[SummaryLine], ended: Iterable[EndedStatement]) -> set[str]:
    """The texts of the lines that say what has ended: in the turn that said it, or elsewhere before it ended."""
    return {line.text for each in ended for line in lines if _says(line, each)}


def _says(line: SummaryLine, ended: EndedStatement) -> bool:
    if ended.text and fold(ended.text) in fold(line.text):
        return _is_older(line, ended)
    same_turn = line.turn_id is not None and line.turn_id == ended.turn_id
    if same_turn and fold(line.text).rstrip("…") in fold(ended.text):
        return True
    if not ended.word or not _is_older(line, ended):
        return False
    return has_word(line.text, ended.word) if same_turn else restates_old_value(line.text, ended.word, ended.text)


def _is_older(line: SummaryLine, ended: EndedStatement) -> bool:
    """Whether the line may have been said before the statement ended; what says that it ended stays."""
    if line.said_at is None or ended.ended_at is None:
        return True
    return line.said_at < ended.ended_at
