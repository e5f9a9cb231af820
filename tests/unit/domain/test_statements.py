"""The relation of a new statement to existing memories."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.vocabulary import Assertion, Provenance
from shared.clock import uuid7
from shared.domain.statements import RANK, ActiveMemory, Statement, candidate_id, input_hash, relate, sense_of
from shared.policy import ConfidencePolicy

POLICY = ConfidencePolicy()
NOW = datetime(2026, 7, 15, 9, 0, tzinfo=UTC)
TURN = UUID("01a1fda2-4ad4-7e6f-908c-cdd362966bba")
NEW = Statement(
    type="preference",
    key="pref:drink",
    sense="tea",
    assertion="declared",
    flags=(),
    confidence=0.5,
    retracts=False,
    said_at=NOW,
    session_id="s2",
)
OLD = ActiveMemory(
    memory_id=TURN,
    root_id=TURN,
    version=1,
    type="preference",
    key="pref:drink",
    sense="coffee",
    provenance="observation",
    assertion="declared",
    flags=(),
    confidence=0.5,
    valid_at=NOW - timedelta(days=1),
    source_sessions=("s1",),
)
LATER = NOW + timedelta(days=1)


@pytest.mark.parametrize(
    ("new", "known", "action", "reason"),
    [
        (NEW, [], "create", "new"),
        (NEW, [OLD], "supersede", "newer"),
        (NEW, [replace(OLD, sense="tea")], "confirm", "said_in_another_session"),
        (replace(NEW, session_id="s1"), [replace(OLD, sense="tea")], "confirm", "said_again"),
        (NEW, [replace(OLD, key="pref:music")], "create", "new"),
        (NEW, [replace(OLD, type="constraint")], "create", "new"),
        (NEW, [replace(OLD, key=None)], "create", "new"),
        (replace(NEW, key=None), [OLD], "create", "new"),
        (replace(NEW, key=None), [replace(OLD, key=None)], "create", "new"),
        (replace(NEW, key=None), [replace(OLD, key=None, sense="tea")], "confirm", "said_in_another_session"),
        (NEW, [replace(OLD, valid_at=LATER)], "skip", "older_than_known"),
        (NEW, [replace(OLD, valid_at=NOW)], "supersede", "newer"),
        (NEW, [replace(OLD, provenance="analysis")], "supersede", "newer"),
        (NEW, [replace(OLD, provenance="tool")], "ask", "weaker_than_known"),
        (NEW, [replace(OLD, provenance="confirmed_by_user")], "ask", "weaker_than_known"),
        (replace(NEW, assertion="tool"), [replace(OLD, provenance="confirmed_by_user")], "ask", "weaker_than_known"),
        (replace(NEW, assertion="correction"), [replace(OLD, provenance="confirmed_by_user")], "supersede", "newer"),
        (replace(NEW, assertion="directive"), [replace(OLD, valid_at=LATER)], "supersede", "newer"),
        (replace(NEW, retracts=True), [], "skip", "nothing_known_to_retract"),
        (replace(NEW, retracts=True), [OLD], "retract", "denied"),
        (replace(NEW, retracts=True), [replace(OLD, key="pref:music")], "skip", "nothing_known_to_retract"),
    ],
)
def test_the_relation_depends_on_key_polarity_type_and_time(
    new: Statement, known: list[ActiveMemory], action: str, reason: str
) -> None:
    found = relate(new, known, POLICY)
    assert (found.action, found.reason) == (action, reason)


@pytest.mark.parametrize(
    ("assertion", "flags", "stated", "provenance", "confidence"),
    [
        ("declared", (), 0.5, "observation", 0.5),
        ("declared", (), 1.0, "observation", 0.5),
        ("declared", (), 0.2, "observation", 0.2),
        ("inferred", (), 1.0, "observation", 0.6),
        ("directive", (), 0.9, "confirmed_by_user", 0.9),
        ("directive", ("self_benefit",), 1.0, "observation", 0.5),
        ("confirmed", ("self_benefit",), 0.3, "observation", 0.3),
        ("correction", (), 1.0, "confirmed_by_user", 1.0),
        ("tool", (), 1.0, "tool", 0.95),
        ("behaviour", (), 1.0, "analysis", 0.8),
    ],
)
def test_confidence_never_exceeds_the_cap_of_the_assertion(
    assertion: Assertion, flags: tuple[str, ...], stated: float, provenance: Provenance, confidence: float
) -> None:
    found = relate(replace(NEW, assertion=assertion, flags=flags, confidence=stated), [], POLICY)
    assert (found.provenance, found.confidence) == (provenance, confidence)


@pytest.mark.parametrize(
    ("new", "old", "provenance", "confidence"),
    [
        (NEW, OLD, "analysis", 0.7),
        (replace(NEW, session_id="s1"), OLD, "observation", 0.5),
        (replace(NEW, flags=("self_benefit",)), OLD, "observation", 0.5),
        (NEW, replace(OLD, flags=("self_benefit",)), "observation", 0.5),
        (NEW, replace(OLD, provenance="confirmed_by_user", confidence=0.9), "confirmed_by_user", 0.9),
        (replace(NEW, assertion="directive", confidence=0.9), OLD, "confirmed_by_user", 0.9),
        (NEW, replace(OLD, provenance="analysis", confidence=0.75), "analysis", 0.75),
    ],
)
def test_repetition_never_weakens_and_two_sessions_make_analysis(
    new: Statement, old: ActiveMemory, provenance: Provenance, confidence: float
) -> None:
    found = relate(new, [replace(old, sense=new.sense)], POLICY)
    assert (found.action, found.provenance) == ("confirm", provenance)
    assert found.confidence == pytest.approx(confidence)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("k", {"value": "Tea"}, "I like tea", 1), ("k", {"value": "tea "}, "tea it is", 1), True),
        (("k", {"value": "tea"}, "I like tea", 1), ("k", {"value": "tea"}, "I like tea", -1), False),
        (("k", {"value": "tea"}, "x", 1), ("k", {"value": "rum"}, "x", 1), False),
        (("k", {"value": "tea", "speaker": "lin"}, "x", 1), ("k", {"value": "tea", "quote": "q"}, "x", 1), True),
        (("k", {"value": "tea", "more": None}, "x", 1), ("k", {"value": "tea"}, "x", 1), True),
        (("k", {}, "I like tea", 1), ("k", {}, "i like  TEA", 1), True),
        ((None, {"value": "tea"}, "one", 1), (None, {"value": "tea"}, "two", 1), False),
        ((None, {"value": "a"}, "Ｔｅａ", 1), (None, {"value": "b"}, "tea", 1), True),
        (("k", {"a": 1, "b": 2}, "x", 1), ("k", {"b": 2, "a": 1}, "x", 1), True),
    ],
)
def test_two_wordings_of_one_fact_have_one_normal_form(one: tuple, other: tuple, same: bool) -> None:  # type: ignore[type-arg] # cases
    assert (sense_of(*one) == sense_of(*other)) is same


def test_equal_words_of_one_turn_have_one_id_that_sorts_with_the_turn() -> None:
    turn = uuid7()
    first = candidate_id(turn, input_hash(turn, 0, "note", None, "tea", False))
    assert first == candidate_id(turn, input_hash(turn, 0, "note", None, "tea", False))
    assert first != candidate_id(turn, input_hash(turn, 1, "note", None, "tea", False))
    assert (first.version, first.variant, first.int >> 80) == (7, turn.variant, turn.int >> 80)


STATEMENTS = st.builds(
    Statement,
    type=st.just("preference"),
    key=st.sampled_from(["a", "b", None]),
    sense=st.sampled_from(["x", "y", "z"]),
    assertion=st.sampled_from(list(POLICY.standings)),
    flags=st.sampled_from([(), ("self_benefit",)]),
    confidence=st.floats(0, 1),
    retracts=st.booleans(),
    said_at=st.integers(0, 10).map(lambda n: NOW + timedelta(days=n)),
    session_id=st.sampled_from(["s1", "s2", "s3"]),
)
MEMORIES = st.builds(
    replace,
    st.just(OLD),
    key=st.sampled_from(["a", "b", None]),
    sense=st.sampled_from(["x", "y", "z"]),
    provenance=st.sampled_from(list(RANK)),
    confidence=st.floats(0, 1),
    valid_at=st.integers(0, 10).map(lambda n: NOW + timedelta(days=n)),
)


@given(STATEMENTS, st.lists(MEMORIES, max_size=4))
def test_a_weaker_statement_never_overwrites_a_tool_result_or_a_confirmation(
    new: Statement, known: list[ActiveMemory]
) -> None:
    found = relate(new, known, POLICY)
    if found.action == "supersede":
        assert found.target
        strong = RANK[found.target.provenance] >= RANK["tool"]
        assert not strong or RANK[found.provenance] >= RANK[found.target.provenance]
    if found.action in ("supersede", "confirm", "retract", "ask"):
        assert found.target in known
        assert found.target.key == new.key
    if found.action == "confirm":
        assert found.target
        assert found.confidence >= found.target.confidence
        assert RANK[found.provenance] >= RANK[found.target.provenance]
    if found.action == "create":
        assert found.confidence <= POLICY.level_of(new.assertion, new.flags).cap
