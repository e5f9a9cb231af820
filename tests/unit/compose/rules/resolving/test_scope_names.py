"""Whether the names in a text refer to another subject than that of a question."""

import pytest

from services.compose.rules.resolving.scopes import find_other_kind


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("What is Li's order number?", "Wang's order ships Tuesday", True),
        ("When is Priya's review due?", "Tom's review is due Friday", True),
        ("What tiles did we agree on for the Dunmore site?", "For the Carver site we agreed on slate", True),
        ("Which database is project Atlas on?", "Project Beacon runs on DynamoDB", True),
        ("When does order 1077 ship?", "order 1042 ships on Monday", True),
        ("What did Dr. Ngo say?", "Dr. Alvarez told me to floss", True),
        ("李总那单预算是多少？", "给王总做的方案，预算卡在三十万以内", True),
        ("海鸥项目用什么数据库？", "鲸鱼项目跑在MySQL上", True),
        ("小李的订单什么时候到？", "王姐的快递周三到", True),
        ("王老师的课几点？", "李老师的课在下午三点", True),
        # it names none, or the one of the question
        ("Which database is project Atlas on?", "We decided on Postgres", False),
        ("Which database is project Atlas on?", "Atlas and project Beacon share one Postgres", False),
        ("What tiles did we agree on for the Dunmore site?", "Dunmore wants cedar shingles", False),
        ("王老师的课几点？", "课改到三点了", False),
        ("李总那单预算是多少？", "李总的单子宽松，八十万都行", False),
        # the question names none, or several
        ("Did Anna and Priya's order come?", "Tom's order came", False),
        ("What database do we use?", "Project Beacon runs on DynamoDB", False),
        ("What is my brother's name?", "Tom's review is Friday", False),
        ("我们项目用什么数据库？", "海鸥项目的数据库是Postgres", False),
        ("我的订单什么时候到？", "小李的订单周三到", False),
    ],
)
def test_a_text_with_another_name_of_the_same_kind_is_about_another_subject(
    question: str, text: str, other: bool
) -> None:
    assert bool(find_other_kind(question, text)) is other
