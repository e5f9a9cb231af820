"""Extracts the statements of user messages for the tables of these tests."""

from datetime import UTC, datetime

from shared.extraction import MessageText, Observation, ObserveContext, Observed, ObservePolicy, TurnText, observe

NOW = datetime(2026, 7, 15, 9, 0, tzinfo=UTC)  # a Wednesday


def said(*texts: str, role: str = "user", name: str | None = None, recent: dict[str, int] | None = None) -> Observed:
    """The statements in the messages of one turn."""
    messages = tuple(MessageText(role, text, name, number, NOW) for number, text in enumerate(texts))  # pyright: ignore[reportArgumentType] - a role in tests
    return observe(TurnText(messages), ObserveContext(NOW, recent or {}), ObservePolicy())


def stated(text: str) -> list[Observation]:
    """The statements in one message, without entities that only passed the gate."""
    return [one for one in said(text).observations if one.detector != "entities"]


def shapes(text: str) -> list[tuple[str, str | None, int]]:
    """Kind, key and polarity of all statements in one message."""
    return [(one.kind, one.key, one.polarity) for one in stated(text)]
