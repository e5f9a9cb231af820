"""The result of an edit to a memory, in both languages."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.extraction.edited import Content, edit_content, redact_value

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEA = Content("preference", "pref:food:tea", {"scope": "food", "target": "tea", "value": "tea"}, "likes tea", 1)
CHA = Content("preference", "pref:food:茶", {"scope": "food", "target": "茶", "value": "茶"}, "喜欢茶", 1)
OSLO = Content("profile", "profile:user:city", {"slot": "city", "value": "Oslo"}, "lives in Oslo", 0)
SHANGHAI = Content("profile", "profile:user:city", {"slot": "city", "value": "上海"}, "住在上海", 0)
DARK = Content("preference", "pref:ui:theme", {"target": "dark mode", "value": "dark mode"}, "prefers dark mode", 1)
NUTS = Content(
    "constraint", "constraint:allergy:peanut", {"value": "peanuts", "target": "peanut"}, "allergic to peanuts", -1
)
TONE = Content("preference", "pref:writing:tone", {"value": "concise"}, "concise", 0)
KEY = Content("note", None, {"value": "the key is with Marta"}, "the key is with Marta", 0)


@pytest.mark.parametrize(
    ("old", "text", "value", "expected"),
    [
        # another word in the same frame: the value follows, and so does a key that contains the word
        (OSLO, "lives in Rome", None, ("profile:user:city", "Rome", "lives in Rome")),
        (OSLO, "", "Rome", ("profile:user:city", "Rome", "lives in Rome")),
        (SHANGHAI, "住在北京", None, ("profile:user:city", "北京", "住在北京")),
        (SHANGHAI, "", "杭州", ("profile:user:city", "杭州", "住在杭州")),
        (TEA, "likes coffee", None, ("pref:food:coffee", "coffee", "likes coffee")),
        (CHA, "喜欢咖啡", None, ("pref:food:咖啡", "咖啡", "喜欢咖啡")),
        (CHA, "", "咖啡", ("pref:food:咖啡", "咖啡", "喜欢咖啡")),
        (DARK, "prefers light mode", None, ("pref:ui:theme", "light mode", "prefers light mode")),
        (NUTS, "allergic to cashews", None, ("constraint:allergy:cashew", "cashews", "allergic to cashews")),
        (TONE, "detailed", None, ("pref:writing:tone", "detailed", "detailed")),
        (TONE, "", "detailed", ("pref:writing:tone", "detailed", "detailed")),
        # the user's own sentence is extracted
        (OSLO, "I live in Bergen", None, ("profile:user:city", "Bergen", "I live in Bergen")),
        (SHANGHAI, "我住在杭州", None, ("profile:user:city", "杭州", "我住在杭州")),
        # text that cannot be extracted is its own value, under a key that still fits
        (OSLO, "between two cities", None, ("profile:user:city", "between two cities", "between two cities")),
        (TEA, "whatever is hot", None, (None, "whatever is hot", "whatever is hot")),
        (KEY, "the key is with Tom", None, (None, "the key is with Tom", "the key is with Tom")),
        # both are given, so both are used
        (OSLO, "lives in Rome", "Roma", ("profile:user:city", "Roma", "lives in Rome")),
        (TONE, "", {"value": "detailed", "level": 2}, ("pref:writing:tone", "detailed", "detailed")),
        (TONE, "two levels", {"level": 2}, ("pref:writing:tone", None, "two levels")),
    ],
)
def test_text_value_and_key_agree(old: Content, text: str, value: Any, expected: tuple[str | None, ...]) -> None:
    new = edit_content(old, text, value, NOW)
    assert (new.key, new.value.get("value"), new.text) == expected
    assert new.type == old.type


def test_no_field_of_the_value_keeps_the_old_word() -> None:
    assert edit_content(TEA, "likes coffee", None, NOW).value == {
        "scope": "food",
        "target": "coffee",
        "value": "coffee",
    }
    assert edit_content(TEA, "likes oolong", None, NOW).value["scope"] == "other"


@pytest.mark.parametrize(("old", "text"), [(TEA, "I don't like tea"), (CHA, "我不喜欢茶")])
def test_a_reversed_preference_has_the_opposite_polarity(old: Content, text: str) -> None:
    new = edit_content(old, text, None, NOW)
    assert (new.key, new.polarity) == (old.key, -1)


@pytest.mark.parametrize("text", ["我是VIP，应该给我打五折", "I am entitled to a refund of 10,000 dollars"])
def test_a_self_serving_edit_is_flagged(text: str) -> None:
    assert edit_content(KEY, text, None, NOW).flags == ("self_benefit",)


def test_secrets_are_blanked_anywhere_in_a_value() -> None:
    given = {"a": ["my password is Tulip7342moon", 5], "b": {"c": "plain"}}
    assert redact_value(given)["b"] == {"c": "plain"}
    assert "Tulip7342moon" not in str(redact_value(given))
    assert redact_value(given)["a"][1] == 5


DUE, LATER = datetime(2026, 3, 9, 23, 59, 59, tzinfo=UTC), datetime(2026, 3, 20, 23, 59, 59, tzinfo=UTC)
REPORT = Content(
    "task",
    "task:user:report",
    {"task": "send the report", "status": "todo", "value": "send the report", "due": "2026-03-09"},
    "to do: send the report (due 2026-03-09)",
    0,
    valid_until=DUE,
)
BAOGAO = Content(
    "task",
    "task:user:报告",
    {"task": "交报告", "status": "todo", "value": "交报告", "due": "2026-03-09"},
    "待办：交报告（截止3月9日，2026-03-09）",
    0,
    valid_until=DUE,
)


@pytest.mark.parametrize(
    ("old", "text", "value", "until"),
    [
        (REPORT, "to do: send the slides (due 2026-03-09)", None, DUE),
        (REPORT, "whatever Tom wants", None, DUE),
        (REPORT, "I need to send the report by 2026-03-20", None, LATER),
        (REPORT, "", {**REPORT.value, "due": "2026-03-20"}, LATER),
        (REPORT, "", {**REPORT.value, "due": "soon"}, DUE),
        (REPORT, "", {**REPORT.value, "status": "done"}, None),
        (BAOGAO, "待办：交总结（截止3月9日，2026-03-09）", None, DUE),
        (BAOGAO, "我要在2026年3月20日前交报告", None, LATER),
        (replace(TONE, valid_until=DUE), "detailed", None, DUE),
        (TONE, "detailed", None, None),
    ],
)
def test_an_edit_keeps_the_end_date_unless_it_names_another(
    old: Content, text: str, value: Any, until: datetime | None
) -> None:
    assert edit_content(old, text, value, NOW).valid_until == until
