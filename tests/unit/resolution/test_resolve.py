"""A user's explicit choice holds, whatever was known. Pure."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from schemas.vocabulary import Provenance
from shared.domain.statements import ActiveMemory, Statement
from shared.policy import ConfidencePolicy
from shared.resolution.operations import Confirm, Write
from shared.resolution.resolve import resolve
from tests.system.memories import a_memory, in_line

POLICY = ConfidencePolicy()
NOW = datetime(2026, 3, 1, tzinfo=UTC)
_ID, _KEY = UUID(int=1), "profile:user:city"
KNOWN = ActiveMemory(
    _ID, _ID, 4, "profile", _KEY, "oslo", "confirmed_by_user", "correction", (), 0.9, NOW, source_sessions=()
)
CHOSEN = Statement("profile", "profile:user:city", "rome", "directive", (), 0.9, False, NOW, "panel", chosen=True)


@pytest.mark.parametrize("standing", ["observation", "analysis", "tool", "confirmed_by_user"])
@pytest.mark.parametrize("later_s", [-1, 0, 3600])
def test_it_supersedes_the_memory_under_its_key(standing: Provenance, later_s: int) -> None:
    known = replace(KNOWN, provenance=standing, valid_at=NOW + timedelta(seconds=later_s))
    done = resolve(CHOSEN, [known], POLICY)
    assert isinstance(done, Write)
    assert done.ends == (known,)
    assert (done.relation.provenance, done.relation.reason) == ("confirmed_by_user", "chosen")


def test_it_ends_its_memory_under_any_key() -> None:
    other = replace(KNOWN, memory_id=UUID(int=2), key=None, type="note", sense="x")
    done = resolve(replace(CHOSEN, key=None, type="note", related=other.memory_id), [other], POLICY)
    assert isinstance(done, Write)
    assert done.ends == (other,)


def test_it_confirms_an_equal_memory() -> None:
    known = replace(KNOWN, sense="rome", provenance="observation", confidence=0.4)
    done = resolve(replace(CHOSEN, related=known.memory_id), [known], POLICY)
    assert isinstance(done, Confirm)
    assert (done.relation.provenance, done.relation.confidence) == ("confirmed_by_user", 0.9)


def test_a_self_serving_choice_stays_within_its_cap() -> None:
    done = resolve(replace(CHOSEN, flags=("self_benefit",)), [KNOWN], POLICY)
    assert isinstance(done, Write)
    assert (done.relation.provenance, done.relation.confidence) == ("observation", 0.5)


def test_versions_follow_what_they_supersede_and_their_root_whatever_their_dates() -> None:
    first = a_memory(1, at=NOW)
    second = a_memory(2, root=1, version=2, at=NOW - timedelta(days=9), supersedes=(1,))
    third = a_memory(3, root=1, version=3, at=NOW - timedelta(days=20))
    other = a_memory(4, at=NOW - timedelta(days=30), version=7)
    joined = a_memory(5, root=4, version=8, at=NOW - timedelta(days=40), supersedes=(3, 4))
    expected = [4, 1, 2, 3, 5]
    assert in_line([joined, third, first, other, second]) == expected
    assert in_line([second, other, first, third, joined]) == expected
