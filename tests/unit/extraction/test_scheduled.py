"""Appointments keep their key when moved, tasks when completed; the pattern gates exclude no match."""

from datetime import date

import pytest

from shared.extraction import ObserveContext, ObservePolicy, ToolText, TurnText, gates, guards_words, observe
from shared.language.patterns import LazyPattern
from tests.unit.extraction.say import NOW, said, stated

APPOINTED = [
    ("The design review with Mei is on Tuesday, October 20 at 15:00.", "event:design-review", date(2026, 10, 20), None),
    (
        "The design review with Mei has moved: it is not on Tuesday, it is on Thursday, October 22 at 10:00.",
        "event:design-review",
        date(2026, 10, 22),
        "Tuesday",
    ),
    ("评审会是周三下午三点", "event:评审会", date(2026, 7, 15), None),
    ("评审会改到周四", "event:评审会", date(2026, 7, 16), None),
    ("评审会不是周三，是周四", "event:评审会", date(2026, 7, 16), "周三"),
    ("评审会时间变了，不是周三，是周四", "event:评审会", date(2026, 7, 16), "周三"),
    ("my dentist appointment is next Monday at 9", "event:dentist", date(2026, 7, 20), None),
    ("the dentist is now on Friday", "event:dentist", date(2026, 7, 17), None),
    ("下周一上午十点和王总开会", "event:和王总开会", date(2026, 7, 20), None),
]


@pytest.mark.parametrize(("text", "key", "day", "old"), APPOINTED)
def test_the_key_of_an_appointment_is_its_subject(text: str, key: str, day: date, old: str | None) -> None:
    assert [(one.kind, one.key, one.event_date, one.old_value) for one in stated(text)] == [("event", key, day, old)]


def test_a_ticket_keeps_its_key_when_completed() -> None:
    opened = ToolText("create_ticket", {"title": "写集成测试"}, '{"ticket_id": "HB-1", "state": "todo"}', "ok", 1)
    closed = ToolText("update_ticket", {"ticket_id": "HB-1"}, '{"ticket_id": "HB-1", "state": "closed"}', "ok", 1)
    both = [observe(TurnText((), (tool,)), ObserveContext(NOW), ObservePolicy()) for tool in (opened, closed)]
    assert [(one.observations[0].key, one.observations[0].value["status"]) for one in both] == [
        ("task:tool:hb-1", "todo"),
        ("task:tool:hb-1", "done"),
    ]
    assert stated("HB-1 is done")[0].key == "task:tool:hb-1"


def test_texts_are_the_users_own_words() -> None:
    assert stated("I prefer light mode in my editor now")[0].text == "I prefer light mode in my editor now"


SEEN = [
    "我最近在学吉他",
    "If I were you, I'd try it",
    "As my boss said, not today",
    "他说我喜欢吃甜的",
    "I'm not sure, maybe",
]


@pytest.mark.parametrize("text", SEEN)
def test_a_gate_is_open_for_every_match_of_its_pattern(text: str) -> None:
    patterns = [one for one in vars(guards_words).values() if isinstance(one, LazyPattern)]
    bits = {pattern: gates.gate(pattern) for pattern in patterns}
    open_for = gates.mask(text)
    assert [pattern.pattern for pattern in patterns if pattern.search(text) and not open_for & bits[pattern]] == []


def test_an_appointment_of_somebody_else_is_none() -> None:
    assert [one for one in said("His appointment is on Monday").observations if one.kind == "event"] == []
