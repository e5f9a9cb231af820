"""Labelled conversations in their file formats, and the order of lines and questions."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.bench.dialogues import Talk, read, steps, turns
from tests.eval import golden_set

TALK = {
    "speaker_a": "Ana",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ana", "dia_id": "D1:1", "text": "Hi!"},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "Look.", "blip_caption": "a red boat"},
    ],
    "session_2_date_time": "9:00 am on 2 June, 2023",
    "session_2": [
        {"speaker": "Ana", "role": "user", "dia_id": "D2:01", "text": "I moved."},
        {"speaker": "Assistant", "role": "assistant", "dia_id": "D2:2", "text": "Where to?"},
        {"speaker": "Ana", "role": "user", "dia_id": "D2:3", "text": "To Porto."},
    ],
}


def _talk(folder: Path, *questions: dict[str, Any]) -> Talk:
    path = folder / "some_dev.json"
    path.write_text(json.dumps([{"sample_id": "one", "conversation": TALK, "qa": list(questions)}]))
    return read(path)


def test_captions_dates_and_places_are_read(tmp_path: Path) -> None:
    talk = _talk(tmp_path)
    assert [line.id for line in talk.lines] == ["D1:1", "D1:2", "D2:1", "D2:2", "D2:3"]
    assert talk.lines[1].text == "Look. [image: a red boat]"
    assert talk.lines[1].said_at == datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC)
    assert [len(turn) for turn in turns(talk.lines)] == [1, 1, 2, 1]


def test_a_category_has_its_name_from_the_file(tmp_path: Path) -> None:
    asked = {"question": "Where?", "evidence": ["D2:3"]}
    talk = _talk(
        tmp_path,
        {**asked, "category": 2},
        {**asked, "category": 1, "question_type": "several spans"},
        {**asked, "category": 4, "question_type": "Dynamic", "scope": "single_session"},
        asked,
        {**asked, "category": 5},
        {"question": "Who?", "category": 5, "question_type": "Unanswerable"},
    )
    names = [question.category for question in talk.questions]
    assert names == ["temporal", "several spans", "Dynamic, single session", "any", "adversarial", "Unanswerable"]
    assert [question.scored for question in talk.questions] == [True, True, True, True, False, False]


def test_evidence_can_name_several_places_at_once(tmp_path: Path) -> None:
    talk = _talk(tmp_path, {"question": "What?", "evidence": ["D1:02; D2:3"], "category": 1})
    assert talk.questions[0].evidence == {"D1:2", "D2:3"}


def test_a_question_is_asked_after_exactly_the_earlier_lines(tmp_path: Path) -> None:
    talk = _talk(
        tmp_path,
        {"question": "in place", "evidence": ["D1:1"], "asked_in": "D2:3"},
        {"question": "in May", "evidence": ["D1:1"], "ask_time": "2023-05"},
        {"question": "on the day", "evidence": ["D1:1"], "ask_time": "2023-06-02"},
        {"question": "whenever", "evidence": ["D1:1"]},
    )
    told: list[str] = []
    standing: dict[str, list[str]] = {}
    for step in steps(talk, at_their_time=True):
        told += [line.id for line in step.lines]
        standing |= {question.text: list(told) for question in step.questions}
    assert standing["in May"] == ["D1:1", "D1:2"]
    assert standing["in place"] == ["D1:1", "D1:2", "D2:1", "D2:2"]
    assert standing["on the day"] == standing["whenever"] == [line.id for line in talk.lines]
    assert talk.questions[1].at == datetime(2023, 6, 1, tzinfo=UTC)


def test_without_times_all_lines_precede_all_questions(tmp_path: Path) -> None:
    talk = _talk(tmp_path, {"question": "in place", "evidence": ["D1:1"], "asked_in": "D2:3"})
    (step,) = steps(talk, at_their_time=False)
    assert (len(step.lines), len(step.questions)) == (5, 1)


def test_a_limit_samples_questions_evenly(tmp_path: Path) -> None:
    talk = _talk(tmp_path, *({"question": str(n), "evidence": ["D1:1"]} for n in range(10)))
    assert [question.text for question in talk.part(None, 5).questions] == ["0", "2", "4", "6", "8"]
    assert talk.part(["another"]).lines == ()


def test_the_golden_set_includes_the_assistants_lines_and_unanswerable_questions() -> None:
    talk = read(golden_set.FILE)
    assert {line.role for line in talk.lines} == {"user", "assistant"}
    assert {"shares a word", "shares no word", "none"} == {question.category for question in talk.questions}
    ids = {(line.dialogue, line.id) for line in talk.lines}
    for question in talk.questions:
        assert {(question.dialogue, each) for each in question.evidence} <= ids
