"""A sentence is stored with the type of its content, never as an entity."""

import pytest

from tests.unit.extraction.say import stated


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("I run a small bakery in Hull, just me and a Saturday girl, Ines", {"profile"}),
        ("our solicitor is Helen Marsh", {"note", "profile"}),
        ("our stack: Django 5, htmx, postgres 16", {"note", "decision", "profile"}),
        ("i usually swim on tuesdays n fridays", {"pattern"}),
        ("we've got twins on the way, due in april", {"event", "profile"}),
        ("need to renew my passport before june", {"task"}),
        ("paid off the car loan finally!!", {"event", "task"}),
        ("im saving for a trip to peru, got 600 so far", {"goal"}),
        ("Budget is about 900 pounds for the two of us.", {"constraint"}),
        ("教练姓方，人挺耐心的", {"note", "profile"}),
        ("我每周三晚上打羽毛球", {"pattern"}),
        ("车贷还清了！！", {"event", "task"}),
        ("简历要在周日前发给猎头", {"task"}),
        ("我老婆怀孕了，预产期四月", {"event", "profile"}),
    ],
)
def test_a_sentence_has_the_type_of_its_content(text: str, kinds: set[str]) -> None:
    (one,) = stated(text)
    assert one.kind in kinds
