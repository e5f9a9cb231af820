"""Policies that store only dictation, or only certain types and keys; in both languages."""

from datetime import UTC, datetime

import pytest

from shared.extraction import MessageText, ObserveContext, Observed, ObservePolicy, TurnText, observe
from shared.extraction.keeping import BY_THE_WAY, KEY, KIND, keep_dictated, keep_kinds

AT = datetime(2026, 5, 1, tzinfo=UTC)


def read(text: str) -> Observed:
    """The observations of one user message."""
    return observe(TurnText((MessageText("user", text, None, 0, AT),)), ObserveContext(AT), ObservePolicy())


@pytest.mark.parametrize("text", ["I live in Oslo. I like jasmine tea.", "我住在苏州。我喜欢喝茉莉花茶。"])
def test_undictated_statements_are_dropped_with_the_reason(text: str) -> None:
    assert read(text).observations
    found = keep_dictated(read(text))
    assert found.observations == ()
    assert {note.decision for note in found.explain} == {"dropped"}
    assert BY_THE_WAY in {note.reason for note in found.explain}


@pytest.mark.parametrize(
    "text",
    [
        "Remember that my locker is number 12.",
        "记住：我的工位在三楼靠窗。",
        "Forget that I live in Oslo.",
        "忘掉我住在苏州这件事。",
    ],
)
def test_dictated_and_retracting_statements_stay(text: str) -> None:
    assert keep_dictated(read(text)) == read(text)
    assert read(text).observations


@pytest.mark.parametrize("text", ["I like jasmine tea.", "我喜欢喝茉莉花茶。"])
def test_policy_selects_types_and_keys(text: str) -> None:
    (one,) = read(text).observations
    assert keep_kinds(read(text), {one.kind}, ()) == read(text)
    by_kind = keep_kinds(read(text), {"task"}, ())
    assert (by_kind.observations, by_kind.explain[-1].reason) == ((), KIND)
    assert one.key
    by_key = keep_kinds(read(text), {one.kind}, (one.key[:11],))
    assert (by_key.observations, by_key.explain[-1].reason) == ((), KEY)
