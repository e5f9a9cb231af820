"""Statements that are not learnt yet, and the memories that they end before the workers do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from schemas.vocabulary import Role
from services.compose.rules.candidates import Candidate
from services.compose.rules.resolving.outdated import (
    NOTHING_ENDED,
    OutdatedStatement,
    OutdatedStatements,
    current_text,
    outdated_statements,
)
from shared.domain.statements import ActiveMemory, Statement
from shared.language.normalise import fold
from shared.language.segment import has_word, query_terms, terms
from shared.resolution.summary_lines import EndedStatement, SummaryLine, find_stale_lines

MOST_SHOWN = 6
"""The most statements to show that are neither in the window nor searchable yet, newest first."""


@dataclass(frozen=True, slots=True)
class MessagePosition:
    """Where a statement was made; `word` is its value, which another message of the turn may repeat."""

    turn_id: str
    ordinal: int
    span: tuple[int, int]
    word: str | None = None


@dataclass(frozen=True, slots=True)
class PendingMessage:
    """The message of a statement."""

    text: str
    said_at: datetime
    session_id: str
    role: Role = "user"
    name: str | None = None


@dataclass(frozen=True, slots=True)
class MemorySnapshot:
    """An active memory, or a pending statement that will become one."""

    known: ActiveMemory
    place: MessagePosition | None
    learnt: bool = True


@dataclass(frozen=True, slots=True)
class PendingObservation:
    """A statement that no worker has settled yet; the message being answered has `now`."""

    memory_id: UUID
    statement: Statement
    text: str
    words: tuple[str, ...]
    told: str
    place: MessagePosition
    spoken: PendingMessage
    polarity: int = 0
    now: bool = False
    forgotten: bool = False
    """Whether what it retracts stays hidden in questions about the past too."""
    rest: str = ""
    """The part of the ended memory that stays."""

    @property
    def cause(self) -> str:
        """The reason to give for what it hides."""
        return "overlay:message" if self.now else f"overlay:turn:{self.place.turn_id}"


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What the user retracted of a turn in the next one; `sentence` is known before the workers have handled it."""

    until: datetime
    forgotten: bool
    sentence: str = ""

    def covers(self, text: str) -> bool:
        """Whether a memory that was learnt from the turn says what was retracted."""
        asked = frozenset(query_terms(text))
        return bool(asked) and 2 * len(asked.intersection(terms(self.sentence))) >= len(asked)


@dataclass(frozen=True, slots=True)
class PendingChanges:
    """What the package must not show any more, and the statements that say so."""

    masked: Mapping[str, str] = field(default_factory=dict[str, str])
    ended: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict[str, tuple[Mapping[str, Any], ...]])
    texts: frozenset[str] = frozenset()
    stating: tuple[tuple[PendingObservation, frozenset[str]], ...] = ()
    outdated: OutdatedStatements = NOTHING_ENDED
    taken_back: Mapping[str, TakenBack] = field(default_factory=dict[str, TakenBack])

    def with_ended(self, ended: Iterable[OutdatedStatement], taken_back: Mapping[str, TakenBack]) -> "PendingChanges":
        """The same with earlier endings and retractions added."""
        known = (*self.outdated.statements, *ended)
        if not known and not taken_back:
            return self
        return replace(self, outdated=outdated_statements(known), taken_back=taken_back)

    def hides(self, memory_id: UUID | str | None, turn_id: UUID | str | None = None, text: str = "") -> bool:
        """Whether a pending statement ends or retracts this memory, learnt from this turn."""
        taken = self.taken_back.get(str(turn_id)) if self.taken_back else None
        return (bool(self.masked) and str(memory_id) in self.masked) or (taken is not None and taken.covers(text))

    def of_turn(self, turn_id: UUID | str | None) -> tuple[Mapping[str, Any], ...]:
        """The parts of a turn that are no longer valid, in the form that `current_text` takes."""
        return self.ended.get(str(turn_id), ()) if self.ended else ()

    def cause(self, key: str) -> str | None:
        """The pending statement that hides the candidate with this key, if one does."""
        kind, _, rest = key.partition(":")
        if kind == "memory":
            return self.masked.get(rest)
        gone = self.ended.get(rest.partition(":")[0])
        return str(gone[0]["cause"]) if gone else None

    def names(self, names: Iterable[str]) -> list[str]:
        """The names without those that occur only in what is no longer valid."""
        gone = (*self.texts, *(each.sentence for each in self.taken_back.values()))
        return [name for name in names if not any(has_word(text, name) for text in gone)]

    def summary(
        self, text: str, written_lines: Sequence[SummaryLine] = (), ended: Sequence[EndedStatement] = ()
    ) -> str:
        """The summary without lines that are no longer valid and without empty headings.

        `written_lines` are its lines with their turns, `ended` the memories of these turns that had ended before.
        """
        foreseen = [*ended, *self._ended_statements()]
        if not text or not (foreseen or self.outdated.statements):
            return text
        stale = find_stale_lines(written_lines, foreseen)
        lines = text.splitlines()
        headings = {line for line, after in pairwise(lines) if not line.startswith("- ") and after.startswith("- ")}
        current = [
            line
            for line in lines
            if not (
                _repeats(line, self.texts)
                or (line.startswith("- ") and any(map(line.endswith, stale)))
                or self._is_outdated(line)
            )
        ]
        pairs = zip(current, [*current[1:], ""], strict=True)
        return "\n".join(line for line, after in pairs if line not in headings or after.startswith("- "))

    def _is_outdated(self, line: str) -> bool:
        return line.startswith("- ") and self.outdated.ended_at(_line(line)) is not None

    def _ended_statements(self) -> list[EndedStatement]:
        """The statements that these changes end, and the values that they end in each turn."""
        of_turns = [
            EndedStatement("", gone["word"], UUID(turn)) for turn, every in self.ended.items() for gone in every
        ]
        return [*(EndedStatement(text, None, None) for text in self.texts), *of_turns]


NOTHING = PendingChanges()


def _repeats(line: str, texts: frozenset[str]) -> bool:
    return line.startswith("- ") and fold(_line(line).strip()) in texts


def _line(line: str) -> str:
    """The line without its bullet and label."""
    text = line.removeprefix("- ")
    return text.partition("] ")[2] if text.startswith("[") else text


def list_pending_candidates(
    changes: PendingChanges, shown: frozenset[str], among: frozenset[str] | None = None
) -> list[Candidate]:
    """The messages of the pending statements, newest first, except those in turns that are shown anyway.

    `among` restricts them to statements that end one of these candidates (by key).
    """
    messages: dict[tuple[str, int], Candidate] = {}
    for stated, keys in reversed(changes.stating):
        gone = changes.of_turn(stated.place.turn_id)
        text = "" if stated.forgotten else current_text(stated.spoken.text, stated.place.ordinal, gone)
        text = "\n".join(filter(None, (text, stated.rest)))
        if stated.now or stated.place.turn_id in shown or not text or (among is not None and not keys & among):
            continue
        place = (stated.place.turn_id, stated.place.ordinal)
        messages.setdefault(place, _candidate(stated, text, len(messages) + 1))
    return list(messages.values())[:MOST_SHOWN]


ARM = "pending"


def _candidate(stated: PendingObservation, text: str, rank: int) -> Candidate:
    spoken = stated.spoken
    return Candidate(
        kind="turn",
        text=text,
        valid_at=spoken.said_at,
        turn_id=stated.place.turn_id,
        message_ordinal=stated.place.ordinal,
        session_id=spoken.session_id,
        role=spoken.role,
        name=spoken.name,
        epistemic="fact",
        arm_ranks={ARM: rank},
        arm_scores={ARM: 1.0 / rank},
        mode="exact",
    )
