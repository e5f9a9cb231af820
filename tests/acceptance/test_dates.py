"""A date keeps the precision with which it was stated: a month stays a month, and no day is invented."""

import re

import pytest

from tests.system.person import Person

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize(
    ("said", "form"),
    [
        ("We are moving to Porto in May.", r"\d{4}-05"),
        ("我们五月份要搬到青岛去。", r"\d{4}-05"),
        ("Our daughter was born in the summer of 2019.", None),
        ("Remind me to renew the lease by March 14.", r"\d{4}-03-14"),
        ("提醒我三月十四号之前续租。", r"\d{4}-03-14"),
    ],
)
async def test_a_date_keeps_its_stated_precision(person: Person, said: str, form: str | None) -> None:
    await person.say(said)
    (memory,) = await person.memories()
    value = memory["value"]
    told = value.get("due") or value.get("event_date")
    if form is None:
        assert told is None or not re.fullmatch(r"\d{4}-\d\d-\d\d", told)
    else:
        assert re.fullmatch(form, told or ""), value
