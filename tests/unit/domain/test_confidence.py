"""Confidence by assertion: the table of model 4.2.1 and its caps (X10, OC139, OC140, OC142)."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from schemas.vocabulary import Assertion
from shared.domain.statements import ActiveMemory, Statement, relate
from shared.policy import ConfidencePolicy

POLICY = ConfidencePolicy()
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def make_statement(
    assertion: Assertion, confidence: float = 1.0, *, flags: tuple[str, ...] = (), session: str = "s2"
) -> Statement:
    return Statement("preference", "pref:ui:theme", "dark", assertion, flags, confidence, False, NOW, session)


def make_memory(assertion: Assertion, confidence: float, *, flags: tuple[str, ...] = ()) -> ActiveMemory:
    provenance = POLICY.level_of(assertion, flags).provenance
    one = UUID(int=1)
    return ActiveMemory(
        one, one, 1, "preference", "pref:ui:theme", "dark", provenance, assertion, flags, confidence, NOW, ("s1",)
    )


@pytest.mark.parametrize(
    ("assertion", "provenance", "cap"),
    [
        ("inferred", "observation", 0.6),  # OC139
        ("behaviour", "analysis", 0.8),  # OC140
        ("declared", "observation", 0.5),  # OC142
        ("directive", "confirmed_by_user", 1.0),
        ("correction", "confirmed_by_user", 1.0),
        ("tool", "tool", 0.95),
    ],
)
def test_confidence_never_exceeds_the_cap_of_the_assertion(assertion: Assertion, provenance: str, cap: float) -> None:
    relation = relate(make_statement(assertion), [], POLICY)
    assert (relation.provenance, relation.confidence) == (provenance, cap)


@pytest.mark.parametrize("assertion", ["directive", "correction", "declared", "tool"])
def test_a_self_serving_claim_has_low_confidence(assertion: Assertion) -> None:
    relation = relate(make_statement(assertion, flags=("self_benefit",)), [], POLICY)
    assert (relation.provenance, relation.confidence) == ("observation", 0.5)


def test_a_declaration_in_two_sessions_becomes_analysis() -> None:
    relation = relate(make_statement("declared", 0.5), [make_memory("declared", 0.5)], POLICY)
    assert (relation.action, relation.provenance, relation.confidence) == ("confirm", "analysis", 0.7)


def test_a_declaration_twice_in_one_session_stays_an_observation() -> None:
    relation = relate(make_statement("declared", 0.5, session="s1"), [make_memory("declared", 0.5)], POLICY)
    assert (relation.action, relation.provenance, relation.confidence) == ("confirm", "observation", 0.5)


def test_a_self_serving_claim_is_never_promoted_by_repetition() -> None:
    old = make_memory("declared", 0.4, flags=("self_benefit",))
    relation = relate(make_statement("declared", 0.5, flags=("self_benefit",)), [old], POLICY)
    assert relation.provenance == "observation"
