"""Random observations of one user from a seed: with and without keys, repetitions, corrections, retractions. Pure."""

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from schemas.vocabulary import Assertion, MemoryType
from shared.domain.observations import ObservationRow
from shared.domain.statements import candidate_id, input_hash

BEGAN = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)
KEYS: tuple[tuple[MemoryType, str], ...] = (
    ("profile", "profile:user:city"),
    ("preference", "pref:ui:theme"),
    ("event", "event:周会"),
)
VALUES = ("Oslo", "杭州", "dark blue", "周三", "Lisbon")
SENTENCES: tuple[tuple[MemoryType, str], ...] = (
    ("note", "the spare key is under the blue pot"),
    ("profile", "我家的狗叫豆豆"),
    ("preference", "I never drink coffee after noon"),
)


@dataclass(frozen=True)
class Turn:
    """One turn with its observations."""

    turn_id: UUID
    session_id: str
    said_at: datetime
    rows: tuple[ObservationRow, ...]

    def of(self, *, urgent: bool) -> tuple[UUID, ...]:
        """The ids of its observations that skip analysis, or of the others."""
        return tuple(row.observation_id for row in self.rows if (row.priority == "urgent") == urgent)


def scene(seed: str, turns: int = 8) -> tuple[Turn, ...]:
    """The turns of one user; the same seed gives the same turns."""
    dice = random.Random(seed)
    return tuple(_turn(dice, n) for n in range(turns))


def _turn(dice: random.Random, n: int) -> Turn:
    at = BEGAN + timedelta(minutes=n)
    turn_id = UUID(int=(int(at.timestamp() * 1000) << 80) | 0x7 << 76 | 0x2 << 62 | dice.getrandbits(60))
    session_id = dice.choice(("first", "second"))
    rows = tuple(_row(dice, turn_id, session_id, at, ordinal) for ordinal in range(dice.choice((1, 1, 2, 3))))
    return Turn(turn_id, session_id, at, rows)


def _row(dice: random.Random, turn_id: UUID, session_id: str, at: datetime, ordinal: int) -> ObservationRow:
    kind, key = dice.choice(KEYS)
    value, old = dice.choice(VALUES), dice.choice(VALUES)
    shape = dice.choices(
        ("keyed", "keyless", "corrects", "corrects_words", "denies", "denies_words"), (0.4, 0.2, 0.2, 0.05, 0.1, 0.05)
    )[0]
    assertion: Assertion = dice.choice(("declared", "declared", "directive", "inferred", "behaviour"))
    match shape:
        case "keyed":
            return seen(turn_id, session_id, at, ordinal, kind, key, value, assertion)
        case "keyless":
            kind, text = dice.choice(SENTENCES)
            return seen(turn_id, session_id, at, ordinal, kind, None, text, assertion)
        case "corrects":
            return seen(turn_id, session_id, at, ordinal, kind, key, value, "correction", old)
        case "corrects_words":
            return seen(turn_id, session_id, at, ordinal, "note", None, f"{value}!", "correction", old)
        case "denies":
            return seen(turn_id, session_id, at, ordinal, kind, key, "", "correction", None, denies=True)
        case _:
            old = dice.choice((old, "coffee", "豆豆"))
            return seen(turn_id, session_id, at, ordinal, kind, None, f"not {old}", "correction", old, denies=True)


def seen(
    turn_id: UUID,
    session_id: str,
    at: datetime,
    ordinal: int,
    kind: MemoryType,
    key: str | None,
    value: str,
    assertion: Assertion,
    old: str | None = None,
    *,
    denies: bool = False,
) -> ObservationRow:
    """The observations of a turn."""
    text = f"{key.rpartition(':')[2]} {value}".strip() if key else value
    said = input_hash(turn_id, ordinal, kind, key, text, denies)
    initial = {"declared": 0.5, "inferred": 0.4, "behaviour": 0.7}.get(assertion, 0.9)
    return ObservationRow(
        observation_id=candidate_id(turn_id, said),
        turn_id=turn_id,
        session_id=session_id,
        ordinal=ordinal,
        priority="urgent" if assertion == "correction" else "normal",
        kind=kind,
        key=key,
        value={"value": value},
        text=text,
        assertion=assertion,
        epistemic="fact",
        polarity=0,
        confidence=initial,
        detector="rules",
        pattern="scene",
        language="en" if text.isascii() else "zh",
        retracts=denies,
        old_value=old,
        flags=(),
        valid_until=None,
        said_at=at,
        input_hash=said,
        span_end=len(text),
    )
