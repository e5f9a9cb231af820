"""What unfinished turns state is read once, not at every message."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from services.compose import overlay
from shared.policy import ConfidencePolicy
from shared.reading import ObserveContext, Observed, ObservePolicy, TurnText, observe
from shared.store.turns import Event, Turn

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def turn(text: str) -> Turn:
    """A turn of one message."""
    made = uuid4()
    said = Event(made, made, 0, "user_message", "user", None, {"text": text}, NOW)
    return Turn(made, "s", 1, made, "", "", NOW, NOW, False, (said,))


@pytest.mark.parametrize("text", ["我住在柏林。", "No, I live in Berlin now.", "It rained."])
def test_a_turn_is_read_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[TurnText] = []

    def counted(of: TurnText, context: ObserveContext, policy: ObservePolicy) -> Observed:
        heard.append(of)
        return observe(of, context, policy)

    monkeypatch.setattr(overlay, "observe", counted)
    one = turn(text)
    first = overlay.read_once(one, ConfidencePolicy())
    assert overlay.read_once(one, ConfidencePolicy()) == first
    assert len(heard) == 1


def test_only_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlay, "READ_MAX", 3)
    monkeypatch.setattr(overlay, "READ_LATELY", {})
    for n in range(10):
        overlay.read_once(turn(f"I live in Oslo {n}."), ConfidencePolicy())
    assert len(overlay.READ_LATELY) <= 3
