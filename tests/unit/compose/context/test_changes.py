"""Statements of pending turns are extracted once, not for each message, and dropped at an erasure."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from services.compose.context import changes
from shared.cache import UserCache
from shared.domain.subjects import Subject
from shared.domain.turns import Event, Turn
from shared.extraction import ObserveContext, Observed, ObservePolicy, TurnText, observe
from shared.policy import ConfidencePolicy

NOW = datetime(2026, 11, 21, tzinfo=UTC)
LIN = Subject("t", "lin")


def turn(text: str) -> Turn:
    """A turn of one message."""
    made = uuid4()
    said = Event(made, made, 0, "user_message", "user", None, {"text": text}, NOW)
    return Turn(made, "s", 1, made, "", "", NOW, NOW, False, (said,))


def statements(kept: UserCache[UUID, Any], one: Turn, epoch: int = 0) -> list[Any]:
    """The statements of the turn for a request in this epoch."""
    return list(changes.OpenTurns([one], epoch, kept).statements(LIN, ConfidencePolicy()))


@pytest.mark.parametrize("text", ["我住在柏林。", "No, I live in Berlin now.", "It rained."])
def test_a_turn_is_read_once_per_epoch(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[TurnText] = []

    def counted(of: TurnText, context: ObserveContext, policy: ObservePolicy) -> Observed:
        heard.append(of)
        return observe(of, context, policy)

    monkeypatch.setattr(changes, "observe", counted)
    kept, one = UserCache[UUID, Any](), turn(text)
    first = statements(kept, one)
    assert statements(kept, one) == first
    assert len(heard) == 1
    statements(kept, one, epoch=1)
    assert len(heard) == 2
