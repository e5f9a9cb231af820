"""The messages that a time in a question includes, and those that it excludes."""

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pytest

from services.compose.rules.planning.cues import read_cues
from services.compose.rules.ranking.weigh import MOST_BY_DATE, SAID_THEN, SignalScores, score_dates

NOW = datetime(2026, 4, 23, 9, tzinfo=UTC)  # a Thursday
LEAST = 0.2


@dataclass(frozen=True)
class Message:
    """The messages and their times."""

    text: str
    said_at: datetime


def chances(question: str, said: list[tuple[int, str]], met: float = 0.05) -> list[float]:
    """The probability of each message of that day in April, if the words of the question alone match `met` of each."""
    messages = [Message(text, datetime(2026, 4, day, 19, tzinfo=UTC)) for day, text in said]
    nothing = np.zeros(len(messages))
    scored = SignalScores(
        np.arange(len(messages), 0, -1.0),
        nothing,
        nothing,
        np.full(len(messages), met),
        {},
        np.zeros(len(messages), dtype=np.bool_),
    )
    found = score_dates(read_cues(question, (), NOW), messages, scored, LEAST, NOW)  # type: ignore[arg-type]
    return found.round(2).tolist()


@pytest.mark.parametrize("question", ["上周我做了些什么？", "What did I do last week?"])
def test_a_time_alone_matches_messages_of_that_time_only(question: str) -> None:
    said = [(6, "fishing with Zhou"), (15, "an interview"), (21, "new soil")]
    assert chances(question, said) == [0.0, SAID_THEN, 0.0]


@pytest.mark.parametrize(
    ("question", "told"),
    [("上周我做了些什么？", "上周去爬山了"), ("What did I do last week?", "Went hiking last week")],
)
def test_reports_from_soon_after_that_time_match_too(question: str, told: str) -> None:
    assert chances(question, [(15, "an interview"), (21, told)]) == [SAID_THEN, SAID_THEN]


def test_a_time_without_messages_excludes_nothing() -> None:
    assert chances("上周我做了些什么？", [(2, "fishing")], 0.5) == [0.5]


@pytest.mark.parametrize("question", ["What did Sam recommend last week?", "上周小王推荐了什么书？"])
def test_if_no_words_match_within_the_time_its_best_message_is_included(question: str) -> None:
    found = chances(question, [(15, f"message {n}") for n in range(MOST_BY_DATE + 2)])
    assert found == [LEAST] * MOST_BY_DATE + [0.05, 0.05]


@pytest.mark.parametrize("question", ["What should I cook tonight?", "今晚做什么菜好？"])
def test_a_time_that_is_not_over_adds_nothing(question: str) -> None:
    assert chances(question, [(23, "the printer jams")]) == [0.05]
