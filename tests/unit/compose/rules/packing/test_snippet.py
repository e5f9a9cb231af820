"""The part of a text that a result shows, in both languages; never longer than requested."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.compose.rules.packing.views import LEVELS, make_snippet

ZH = "今天天气不错。我把车停在了北门。晚上和老周吃火锅！他说下周去深圳出差。"
EN = (
    "The weather was fine. I parked the car at the north gate. We had hotpot with Zhou. He flies to Shenzhen next week."
)
LONG_ZH, LONG_EN = "没什么特别的事。" * 100 + ZH, "Nothing much happened. " * 50 + EN


@pytest.mark.parametrize(
    ("text", "question", "policy", "most", "shown", "level"),
    [
        (ZH, "车停在哪", "auto", 800, ZH, "l2"),
        (ZH, "车停在哪", "l2", 800, ZH, "l2"),
        (ZH, "车停在哪", "l0", 800, "…我把车停在了北门。…", "l0"),
        (EN, "where did I park the car", "l0", 800, "…I parked the car at the north gate.…", "l0"),
        (ZH, "出差", "l0", 800, "…他说下周去深圳出差。", "l0"),
        (EN, "Shenzhen", "l0", 800, "…He flies to Shenzhen next week.", "l0"),
        (ZH, "天气", "l0", 800, "今天天气不错。…", "l0"),
        (ZH, "车停在哪", "l1", 800, ZH, "l1"),
        (ZH, "", "l2", 5, "今天天气…", "l2"),
        ("", "x", "auto", 10, "", "l2"),
        ("no end", "end", "l0", 100, "no end", "l0"),
    ],
)
def test_levels(text: str, question: str, policy: str, most: int, shown: str, level: str) -> None:
    assert make_snippet(text, question, policy, most) == (shown, level)  # pyright: ignore[reportArgumentType] # a table


@pytest.mark.parametrize(
    ("text", "question", "meets"),
    [(LONG_ZH, "车停在哪", "北门"), (LONG_EN, "Where is the car parked?", "north gate"), (LONG_ZH, "深圳出差", "深圳")],
)
def test_a_passage_meets_the_question(text: str, question: str, meets: str) -> None:
    shown, level = make_snippet(text, question, "auto", 100)
    assert meets in shown
    assert shown.startswith("…")
    assert (len(shown) <= 100, level) == (True, "l1")
    assert len(make_snippet(text, question, "l1", 800)[0]) <= LEVELS["l1"]


@given(st.text(max_size=300), st.text(max_size=20), st.sampled_from(["l2", "l1", "l0", "auto"]), st.integers(1, 400))
def test_a_snippet_never_exceeds_its_limit(text: str, question: str, policy: str, most: int) -> None:
    assert len(make_snippet(text, question, policy, most)[0]) <= most  # pyright: ignore[reportArgumentType] # one of the four
