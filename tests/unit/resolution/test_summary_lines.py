"""The lines of a summary that state ended facts."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from shared.resolution.summary_lines import EndedStatement, SummaryLine, find_stale_lines, restates_old_value

FIRST, SECOND = UUID(int=1), UUID(int=2)
THEN = datetime(2026, 3, 1, tzinfo=UTC)
LATER = THEN + timedelta(days=3)


@pytest.mark.parametrize(
    ("line", "text", "word"),
    [
        ("lives in Leiden", "lives in Leiden", "Leiden"),
        ("I live in Leiden, behind the harbour.", "I live in Leiden", "Leiden"),
        ("Leiden it is, then.", "lives in Leiden", "Leiden"),
        ("I live in Leiden, right beh…", "I live in Leiden, right behind the old harbour", None),
        ("我住在泉州，就在码头后面。", "住在泉州", "泉州"),
        ("助手：泉州很有味道。", "住在泉州", "泉州"),
    ],
)
def test_a_line_of_the_turn_that_stated_it_is_stale(line: str, text: str, word: str | None) -> None:
    ended = EndedStatement(text, word, FIRST, LATER)
    assert find_stale_lines([SummaryLine(line, FIRST, THEN)], [ended]) == {line}


@pytest.mark.parametrize(
    ("line", "text", "word", "stale"),
    [
        ("Since I live in Leiden the sea is near.", "lives in Leiden", "Leiden", True),
        ("We saw a play in Leiden.", "lives in Leiden", "Leiden", False),
        ("I live near the sea.", "lives in Leiden", "Leiden", False),
        ("因为住在泉州，离海很近。", "住在泉州", "泉州", True),
        ("在泉州看了一场木偶戏。", "住在泉州", "泉州", False),
        ("我住的地方离海很近。", "住在泉州", "泉州", False),
    ],
)
def test_a_line_of_another_turn_is_stale_if_it_states_the_value_of_the_same_fact(
    line: str, text: str, word: str, stale: bool
) -> None:
    ended = EndedStatement(text, word, FIRST, LATER)
    assert find_stale_lines([SummaryLine(line, SECOND, THEN)], [ended]) == ({line} if stale else set())


@pytest.mark.parametrize("said", ["I don't live in Leiden now, I live in Utrecht.", "我不住在泉州了，现在住厦门。"])
def test_a_line_that_states_the_end_stays(said: str) -> None:
    word = "Leiden" if said.isascii() else "泉州"
    ended = EndedStatement("lives in Leiden" if said.isascii() else "住在泉州", word, FIRST, LATER)
    assert not find_stale_lines([SummaryLine(said, SECOND, LATER)], [ended])
    assert find_stale_lines([SummaryLine(said, SECOND, THEN)], [ended])


@pytest.mark.parametrize(
    ("text", "old", "statement", "same"),
    [
        ("The dentist is on Tuesday.", "Tuesday", "The dentist moved to Thursday", True),
        ("Our book club meets on Tuesday.", "Tuesday", "The dentist moved to Thursday", False),
        ("周二去看牙医。", "周二", "牙医改到周四了", True),
        ("周二有读书会。", "周二", "牙医改到周四了", False),
    ],
)
def test_the_old_value_of_the_same_fact(text: str, old: str, statement: str, same: bool) -> None:
    assert restates_old_value(text, old, statement) is same
