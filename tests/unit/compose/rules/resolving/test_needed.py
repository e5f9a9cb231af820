"""Core memory that is always included: forms of address and answers, dangers, and relevant orders."""

from datetime import UTC, datetime

import pytest

from schemas.vocabulary import Intent, MemoryType
from services.compose.rules.candidates import CoreMemory
from services.compose.rules.resolving.scopes import asks_for_all, find_need, select_needed

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def _core(category: str, type: MemoryType, text: str = "x") -> CoreMemory:
    return CoreMemory(type=type, text=text, updated_at=NOW, memory_id=f"{category}:{text}", category=category)


@pytest.mark.parametrize(
    ("category", "type", "need"),
    [
        ("profile:user:name", "profile", "address"),
        ("constraint:reply:call-anna", "constraint", "address"),
        ("pref:writing:language", "preference", "answers"),
        ("constraint:allergy:peanuts", "constraint", "safety"),
        ("constraint:diet:vegan", "constraint", "safety"),
        ("constraint:budget", "constraint", "order"),
        ("preference", "preference", "order"),
        ("pref:food:tea", "preference", None),
        ("profile:user:city", "profile", None),
        ("goal", "goal", None),
    ],
)
def test_what_a_memory_is_needed_for(category: str, type: MemoryType, need: str | None) -> None:
    assert find_need(_core(category, type)) == need


def test_orders_are_included_if_they_concern_the_message() -> None:
    core = [
        _core("constraint:trip", "constraint", "no early flights"),
        _core("constraint:car", "constraint", "no trucks"),
        _core("pref:food:tea", "preference", "tea"),
        _core("constraint:allergy:peanuts", "constraint", "allergic to peanuts"),
        _core("profile:user:name", "profile", "Anna"),
    ]
    near = {"no early flights": 0.7, "tea": 0.9}
    kept = select_needed(core, "other", lambda text: near.get(text, 0.1))
    assert [each.text for each in kept] == ["Anna", "allergic to peanuts", "no early flights"]


@pytest.mark.parametrize(
    ("type", "text", "intent", "carried"),
    [
        ("constraint", "I have gout and can't touch seafood", "other", True),
        ("constraint", "我痛风，海鲜一概不能碰", "small_talk", True),
        ("profile", "I'm 14 weeks pregnant", "recommend", True),
        ("profile", "怀孕三个月了", "task", True),
        ("profile", "I'm 14 weeks pregnant", "small_talk", False),
        ("profile", "lives in Leeds", "recommend", False),
        ("constraint", "Mental health is important to me", "other", False),
        ("constraint", "健康对我很重要", "other", False),
    ],
)
def test_health_restrictions_are_always_included_and_health_facts_for_advice(
    type: MemoryType, text: str, intent: Intent, carried: bool
) -> None:
    assert bool(select_needed([_core(type, type, text)], intent, lambda _: 0.0)) is carried


@pytest.mark.parametrize(
    ("message", "intent", "all_of_it"),
    [
        ("What do you know about me?", "preference_check", True),
        ("Tell me everything you remember about me", "preference_check", True),
        ("你都记得我什么？", "preference_check", True),
        ("你了解我的哪些偏好？", "preference_check", True),
        ("What do you know about my car?", "preference_check", False),
        ("我的车你还记得吗？", "preference_check", False),
        ("What do you know about me?", "task", False),
    ],
)
def test_everything_is_included_if_everything_is_asked_for(message: str, intent: Intent, all_of_it: bool) -> None:
    assert asks_for_all(message, intent) is all_of_it
