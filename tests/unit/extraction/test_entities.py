"""Entities are complete names, without numbers, dates and text that is stored otherwise."""

import pytest

from tests.unit.extraction.say import said

NAMED = [
    ("We use PostgreSQL and MongoDB here", {"postgresql", "mongodb"}),
    ("Ticket HB-12 is open since March 20", {"hb-12"}),
    ("The review with Mei is on Tuesday, October 20 at 15:00.", {"mei"}),
    ("I bought an iPhone 15 in Berlin", {"iphone 15", "berlin"}),
    ("Wow, 30 people came at 10 am on Friday", set[str]()),
    ("Printers are broken again.", set[str]()),
    ("UTF-8 and 22 files", set[str]()),
]


@pytest.mark.parametrize(("text", "names"), NAMED)
def test_names_are_complete_and_numbers_are_none(text: str, names: set[str]) -> None:
    assert {mention.canonical for mention in said(text).mentions} == names


@pytest.mark.parametrize("text", ["我叫林晓，记住林晓", "My name is Priya Patel. Priya Patel from here on."])
def test_the_users_own_name_is_no_entity(text: str) -> None:
    assert [one.key for one in said(text).observations if one.detector == "entities"] == []
