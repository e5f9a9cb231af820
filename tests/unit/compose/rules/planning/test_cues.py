"""People, times and references in a question, in both languages."""

from datetime import UTC, datetime

import pytest

from services.compose.rules.planning import cues

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "speaker", "sure"),
    [
        ("What did Jon say?", "Jon", 1.0),
        ("What did Gina give to Jon?", "Gina", cues.FIRST_OF_TWO),
        ("Do Jon and Gina dance?", None, 1.0),
        ("What do Gina, Jon like?", None, 1.0),
        ("Who won?", None, 1.0),
        ("林悦送给陈浩什么？", "林悦", cues.FIRST_OF_TWO),
        ("林悦和陈浩去了哪里？", None, 1.0),
        ("陈浩是怎么戒烟的？", "陈浩", 1.0),
    ],
)
def test_the_first_of_two_people_is_the_one_asked_about(question: str, speaker: str | None, sure: float) -> None:
    read = cues.read_cues(question, ("Gina", "Jon", "林悦", "陈浩"), NOW)
    assert (read.speaker, read.sure) == (speaker, sure)


def test_a_speaker_of_whom_one_is_less_sure_moves_less() -> None:
    read = cues.read_cues("What did Gina give to Jon?", ("Gina", "Jon"), NOW)
    assert cues.compare_speaker("Gina", read) == cues.FIRST_OF_TWO == -cues.compare_speaker("Jon", read)
    assert cues.compare_speaker(None, read) == 0.0


def test_names_in_the_question_and_of_speakers_are_known() -> None:
    known = cues.read_cues("Did Jon see Laura in Boston?", ("Jon Smith",), NOW).known
    assert {"laura", "boston", "jon", "smith"} <= known
    assert "李明" in cues.read_cues("我和李明去了哪里？", (), NOW).known


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("We met last week", True),
        ("It was in June", True),
        ("at 7:30", True),
        ("a few months ago", True),
        ("Thanks, that was lovely", False),
        ("昨天去爬山了", True),
        ("三月十二号", True),
        ("我喜欢喝茶", False),
    ],
)
def test_times_are_told_in_both_languages(text: str, tells: bool) -> None:
    assert cues.names_time(text) is tells
