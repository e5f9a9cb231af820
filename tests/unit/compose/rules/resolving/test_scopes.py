"""Statements about another subject than that of the question are omitted."""

from datetime import UTC, datetime

import pytest

from services.compose.rules.candidates import Candidate, CoreMemory, Factors, RankedCandidate
from services.compose.rules.ranking.fuse import FusionResult
from services.compose.rules.resolving.scopes import drop_others, select_core_in_scope

NOW = datetime(2026, 11, 18, 10, tzinfo=UTC)


def left(question: str, *said: tuple[str, str | None]) -> list[str]:
    """The remaining messages."""
    ranked = [
        RankedCandidate(
            Candidate("turn", text, NOW, turn_id=f"t{n}", message_ordinal=0, role="user", name=name),
            1.0,
            1.0,
            Factors(1.0),
        )
        for n, (text, name) in enumerate(said)
    ]
    fused = drop_others(FusionResult(tuple(ranked), (), len(ranked)), question)
    assert len(fused.ranked) + len(fused.dropped) == len(said)
    return [each.candidate.text for each in fused.ranked]


@pytest.mark.parametrize(
    ("question", "own", "other"),
    [
        ("When is Li's order due?", "Li's order is due on Monday", "Wang's order is due on Friday"),
        ("Which taps does Ashby want?", "Ashby wants chrome taps", "Linden wants copper taps"),
        ("小李的订单什么时候到？", "小李的订单周一到", "小王的订单周五到"),
        ("海鸥项目用什么数据库？", "海鸥项目用Postgres", "鲸鱼项目用MySQL"),
    ],
)
def test_the_statement_about_the_other_subject_is_omitted(question: str, own: str, other: str) -> None:
    assert left(question, (other, None), (own, None)) == [own]


def test_everything_stays_without_a_statement_about_the_subject() -> None:
    assert len(left("When is Li's order due?", ("Wang's order is due on Friday", None))) == 1
    assert len(left("王老师的课几点？", ("李老师的课在下午三点", None))) == 1


def test_statements_without_a_name_or_by_the_subject_stay() -> None:
    said = (("The order is due on Monday", None), ("Anna's order came late", "Li"))
    assert len(left("When is Li's order due?", *said)) == 2


def test_a_short_name_can_denote_the_same_subject() -> None:
    said = (("Maxi needs his second shots on May 3rd", None), ("The kitten Maximilian needs his shots", None))
    assert len(left("When does Maximilian need his shots?", *said)) == 2


def test_orders_about_another_subject_are_not_core_memory_for_the_question() -> None:
    core = [
        CoreMemory("constraint", text, NOW, text)
        for text in ("给王总的报价不能超过三十万", "给李总的报价不能超过八十万", "我对花生过敏")
    ]
    kept = select_core_in_scope(core, "李总的报价是多少？")
    assert [each.text for each in kept] == ["给李总的报价不能超过八十万", "我对花生过敏"]
    assert select_core_in_scope(core, "报价是多少？") == core
