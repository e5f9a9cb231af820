"""Runs the product on each labelled message: the rules, the model behind them, the intents of the planner."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from schemas.vocabulary import Role
from services.cli.evaluate import conversations
from services.cli.evaluate import score as scoring
from services.cli.evaluate.reader import Reader, some_at_once
from services.cli.evaluate.reader import read as read_turn
from services.cli.evaluate.score import Score
from services.cli.evaluate.sets import (
    Contradiction,
    Conversation,
    Correction,
    Dated,
    Hostile,
    Label,
    LabelledExtraction,
    LabelledFeedback,
    LabelledQuestion,
    Part,
    Secret,
    SetName,
    read,
)
from services.cli.evaluate.world import tell
from shared.extraction import MessageText, ObserveContext, Observed, ObservePolicy, TurnText, dates, observe
from shared.extraction.intent import understand
from shared.screening.sanitize import screen
from shared.secrets import find_secrets, redact

AT = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)
"""The time of every labelled message, so that dates in words have one meaning."""
PERSONAL = frozenset({"email", "phone"})
"""Kinds that are blanked in memory but are not secrets."""


READ_BY_MODEL: frozenset[SetName] = frozenset({"extraction", "corrections", "contradictions", "conversations"})
"""The sets in which a model has a part."""
L = TypeVar("L", bound=Label | LabelledQuestion | Contradiction | Conversation | Hostile | Dated)


async def judge(name: SetName, folder: Path, part: Part | None, reader: Reader | None) -> dict[str, Score]:
    """The scores of one set; `reader` adds a model, None means rules only."""
    match name:
        case "extraction":
            return await _extraction(of_part(read(folder, name, LabelledExtraction), part), reader)
        case "corrections":
            return await _corrections(of_part(read(folder, name, Correction), part), reader)
        case "contradictions":
            return await _contradictions(of_part(read(folder, name, Contradiction), part), reader)
        case "conversations":
            return await _conversations(of_part(read(folder, name, Conversation), part), reader)
        case _:
            of, note = BY_RULES[name]
            score = Score()
            for label in of_part(read(folder, name, of), part):
                note(label, score)
            return {name: score}


def of_part(labels: Sequence[L], part: Part | None) -> list[L]:
    """The labels of the part; all if none is named."""
    return [label for label in labels if part is None or label.part == part]


def turn(label: Label) -> TurnText:
    """The labelled message as a turn, behind the answer that it follows."""
    roles: list[tuple[Role, str]] = [("assistant", label.before)] if label.before else []
    roles.append(("user", label.text))
    return TurnText(tuple(MessageText(role, text, None, n, AT) for n, (role, text) in enumerate(roles)))


async def seen_in(labels: Sequence[Label], reader: Reader | None) -> list[Observed]:
    """What was read into each of these messages."""
    context = ObserveContext(occurred_at=AT)
    return await some_at_once(read_turn(reader, turn(label), context) for label in labels)


async def _extraction(labels: Sequence[LabelledExtraction], reader: Reader | None) -> dict[str, Score]:
    score = Score()
    for label, observed in zip(labels, await seen_in(labels, reader), strict=True):
        scoring.extraction(label, observed.observations, score)
    return {"extraction": score}


async def _corrections(labels: Sequence[Correction], reader: Reader | None) -> dict[str, Score]:
    score, values = Score(), Score()
    for label, observed in zip(labels, await seen_in(labels, reader), strict=True):
        scoring.correction(label, observed.observations, score, values)
    return {"corrections": score, "correction values": values}


async def _contradictions(labels: Sequence[Contradiction], reader: Reader | None) -> dict[str, Score]:
    score = Score()
    for label, heard in zip(labels, await some_at_once(tell(label, reader) for label in labels), strict=True):
        scoring.contradiction(label, heard, score)
    return {"contradictions": score}


async def _conversations(labels: Sequence[Conversation], reader: Reader | None) -> dict[str, Score]:
    turns, ends = Score(), Score()
    states = await some_at_once(conversations.replay(label, reader) for label in labels)
    for label, state in zip(labels, states, strict=True):
        conversations.judge_turns(label, state, turns)
        conversations.judge_end(label, state, ends)
    return {"conversation turns": turns, "end states": ends}


def _feedback(label: LabelledFeedback, score: Score) -> None:
    told = observe(turn(label), ObserveContext(occurred_at=AT), ObservePolicy()).feedback
    scoring.judge_class(label.text, label.language, label.signal, told.signal if told else "neutral", score)


def _refusal(label: Secret, score: Score) -> None:
    hits = [hit for hit in find_secrets(label.text) if hit.kind not in PERSONAL]
    got = bool(hits) and not (label.secret and label.secret in redact(label.text)[0])
    told = ", ".join(f"{hit.kind} {label.text[hit.start : hit.end]}" for hit in hits)
    scoring.binary(label.text, label.language, label.refuse, got, score, told)


def _intents(label: LabelledQuestion, score: Score) -> None:
    scoring.judge_class(label.text, label.language, label.intent, understand(label.text).intent, score)


def _hostile(label: Hostile, score: Score) -> None:
    scoring.judge_screening(label, screen(label.text), score)


def _dates(label: Dated, score: Score) -> None:
    scoring.judge_date(label, dates.find_date(label.text, label.said_at.date()), score)


BY_RULES: dict[SetName, tuple[type[Any], Callable[[Any, Score], None]]] = {
    "feedback": (LabelledFeedback, _feedback),
    "refusal": (Secret, _refusal),
    "intents": (LabelledQuestion, _intents),
    "hostile": (Hostile, _hostile),
    "dates": (Dated, _dates),
}
"""The sets that the rules alone read: the label of a line, and what judges it."""
