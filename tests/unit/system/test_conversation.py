"""Generated conversations are extracted as intended; otherwise they would prove nothing."""

from datetime import UTC, datetime
from itertools import islice

import pytest

from shared.extraction import MessageText, ObserveContext, ObservePolicy, TurnText, observe
from tests.system import conversation

AT = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)
SEEDS = [f"seed {n}" for n in range(8)]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_turn_is_extracted_as_intended(seed: str) -> None:
    for said, _ in islice(conversation.turns(seed), 250):
        turn = TurnText((MessageText("user", said.text, None, 0, AT),))
        found = observe(turn, ObserveContext(occurred_at=AT), ObservePolicy()).observations
        found = [one for one in found if one.kind != "entity"]
        stated = [(one.kind, f"{one.text} {one.value}") for one in found if not one.retracts]
        assert all(any(fact.said_in(*each) for each in stated) for fact in said.holds), said
        assert (said.part == "chatter") == (not found), said
        # a sentence can name what it replaces: `moved from Tuesday to Wednesday`
        fresh = [one for one in found if not one.retracts and not (one.old_value and one.old_value in one.text)]
        so = [fact for fact in said.ends if any(fact.said_in(one.kind, one.text) for one in fresh)]
        assert so == [], said
        corrects = any(one.assertion == "correction" and one.priority == "urgent" for one in found)
        assert corrects == (said.part in ("corrects", "denies")), said


def test_a_seed_is_reproducible_and_states_the_expected_memories() -> None:
    once, again = (list(islice(conversation.turns("seed"), 300)) for _ in range(2))
    assert [said for said, _ in once] == [said for said, _ in again]
    assert [said for said, _ in once] != [said for said, _ in islice(conversation.turns("another"), 300)]
    expected = once[-1][1].expected
    latest: dict[conversation.Fact, bool] = {}
    for said, _ in once:
        latest |= dict.fromkeys(said.ends, False) | dict.fromkeys(said.holds, True)
    assert expected == latest
    assert {fact.type for fact in expected} >= {"profile", "preference", "event", "constraint", "task", "goal", "note"}


def test_corrections_are_five_percent_in_both_languages() -> None:
    told = [said for n in range(20) for said, _ in islice(conversation.turns(f"user {n}"), 250)]
    corrected = [said for said in told if said.part == "corrects"]
    assert 0.035 < len(corrected) / len(told) < 0.065
    for language in ("zh", "en"):
        assert sum(said.language == language for said in corrected) > 50
