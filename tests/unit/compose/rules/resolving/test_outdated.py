"""Messages that state ended facts, and messages that only share their words."""

from datetime import UTC, datetime, timedelta

import pytest

from services.compose.rules.resolving.outdated import OutdatedStatement, outdated_statements

ENDED = datetime(2026, 11, 18, 10, tzinfo=UTC)
BEFORE, AFTER = ENDED - timedelta(days=9), ENDED + timedelta(days=9)


def statement(text: str, quote: str, value: str, instead: str | None = None, **more: object) -> OutdatedStatement:
    """A memory that held until `ENDED`."""
    return OutdatedStatement(ENDED, text, quote, value, instead, **more)  # type: ignore[arg-type]


LYON = statement("lives in Lyon", "I live in Lyon", "Lyon", "moved to Nice", certain=True)
VEGETARIAN = statement("diet: vegetarian", "I'm a vegetarian", "vegetarian", certain=True)
BUDGET = statement(
    "My budget for the laptop is $900",
    "My budget for the laptop is $900",
    "$900",
    "My budget for the laptop is now $1400",
)
SYNC = statement(
    "The weekly sync is on Mondays at 10", "The weekly sync is on Mondays at 10", "The weekly sync is on Mondays at 10",
    "weekly sync is on Wednesdays at 2",
)  # fmt: skip
CHANGSHA = statement("住在长沙", "我住在长沙", "长沙", "搬到珠海", certain=True)
BUDGET_ZH = statement("装修预算是十万", "装修预算是十万", "十万", "装修预算是十五万")
DATE_ZH = statement(
    "发布会定在5月3号", "发布会定在5月3号", "发布会定在5月3号", "发布会：5月17号", turns=frozenset({"t"})
)


@pytest.mark.parametrize(
    ("ended", "text", "role"),
    [
        (LYON, "Since you live in Lyon, you could visit the traboules.", "assistant"),
        (LYON, "Living in Lyon is fun.", "user"),
        (VEGETARIAN, "As a vegetarian you may like dal.", "assistant"),
        (VEGETARIAN, "Being vegetarian, I mostly cook lentils.", "user"),
        (BUDGET, "With a budget of $900 I'd pick the Acer Swift.", "assistant"),
        (SYNC, "Your weekly sync is Mondays at 10.", "assistant"),
        (CHANGSHA, "您住在长沙，可以去橘子洲逛逛。", "assistant"),
        (BUDGET_ZH, "十万的预算，硬装占六成比较合适。", "assistant"),
        (DATE_ZH, "好，5月3号。", "assistant"),
    ],
)
def test_a_paraphrase_of_the_old_value_is_outdated(ended: OutdatedStatement, text: str, role: str) -> None:
    assert outdated_statements([ended]).ended_at(text, BEFORE, role, "t") == ENDED


@pytest.mark.parametrize(
    ("ended", "text"),
    [
        (LYON, "We saw a match in Lyon with Tom, he spilled beer on me."),
        (LYON, "My sister lives in Lyon too, with her two kids."),
        (LYON, "I live for concerts."),
        (VEGETARIAN, "My cousin's bakery makes the best vegetarian croissants."),
        (BUDGET, "The old fridge cost $900."),
        (SYNC, "The dentist is on Tuesday at 10."),
        (CHANGSHA, "周末和老王去长沙动物园，看到了小熊猫。"),
        (CHANGSHA, "我姐姐也住在长沙，她是医生。"),
        (BUDGET_ZH, "这辆车卖了十万。"),
        (DATE_ZH, "5月3号我去看牙。"),
    ],
)
def test_a_message_that_only_shares_words_stays(ended: OutdatedStatement, text: str) -> None:
    assert outdated_statements([ended]).ended_at(text, BEFORE, "user", "t") is None


def test_a_report_of_the_change_is_not_outdated() -> None:
    known = outdated_statements([LYON, CHANGSHA])
    assert known.ended_at("Got it: you no longer live in Lyon but in Nice.", BEFORE, "assistant") is None
    assert known.ended_at("我从长沙搬到珠海住了", BEFORE, "user") is None


def test_the_user_may_repeat_it_and_the_assistant_may_not() -> None:
    known = outdated_statements([LYON])
    assert known.ended_at("I live in Lyon again.", AFTER, "user") is None
    assert known.ended_at("As you live in Lyon, take the train.", AFTER, "assistant") == ENDED


def test_a_statement_of_another_speaker_is_independent() -> None:
    assert outdated_statements([LYON]).ended_at("I live in Lyon too.", BEFORE, "user", None, "Joanna") is None


def test_memories_that_ended_otherwise_are_not_searched() -> None:
    wrong = statement("loves sci-fi movies", "I love sci-fi movies", "sci-fi movies", "recommends a book series")
    assert outdated_statements([wrong]).statements == ()
