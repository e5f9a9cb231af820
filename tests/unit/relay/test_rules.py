"""How many turns of each tenant may leave the outbox: all that fit while one is alone, few beside others."""

import pytest

from services.relay.rules import choose_ahead, share_room
from shared.domain.tenant_queues import TenantQueue, TenantQueues
from shared.policy import DeliveryPolicy

POLICY = DeliveryPolicy(turns_under_way=100, turns_beside_others=4)
MANY = 5
"""As far as the turns of one tenant are counted under this policy."""


def rooms(
    *waiting: tuple[str, int, int], about: str = "", recent: str = "", busy: int = 0, rested_s: float = 0
) -> dict[str, int]:
    """By tenant its room, where these tenants wait with so many turns, have so many under way, and others are about."""
    queues = tuple(TenantQueue(*each, rested_s) for each in waiting)
    return share_room(TenantQueues(queues, frozenset(about.split()), frozenset(recent.split()), busy), POLICY)


def test_whoever_is_alone_fills_the_workers() -> None:
    assert rooms(("flood", MANY, 0)) == {"flood": 100}
    assert rooms(("flood", MANY, 60), about="flood") == {"flood": 40}
    assert rooms(("flood", MANY, 100), about="flood") == {}


def test_room_is_given_by_the_quarter() -> None:
    assert rooms(("flood", MANY, 76), about="flood") == {}
    assert rooms(("flood", MANY, 75), about="flood") == {"flood": 25}


def test_a_flood_has_few_turns_under_way_while_another_tenant_waits_or_was_about_lately() -> None:
    assert rooms(("flood", MANY, 0), ("quiet", 1, 0)) == {"flood": 4, "quiet": 100}
    assert rooms(("flood", MANY, 3), about="flood quiet") == {"flood": 1}
    assert rooms(("flood", MANY, 80), about="quiet") == {}


@pytest.mark.parametrize("under_way", [0, 3, 90])
def test_a_quiet_tenant_leaves_at_once_beside_a_flood(under_way: int) -> None:
    assert rooms(("flood", MANY, under_way), ("quiet", 2, 1), about="flood quiet")["quiet"] >= 2


def test_floods_share_the_workers_between_them_and_are_held_back_for_whoever_is_quiet() -> None:
    assert rooms(("one", MANY, 0), ("two", MANY, 20), about="one two") == {"one": 50, "two": 30}
    assert rooms(("one", MANY, 0), ("two", MANY, 20), about="quiet") == {"one": 4}


def test_however_many_flood_each_may_have_as_many_under_way_as_beside_others() -> None:
    assert rooms(*((f"flood-{n}", MANY, 0) for n in range(90))) == {f"flood-{n}": 4 for n in range(90)}


def test_tenants_who_speak_now_and_then_do_not_hold_each_other_back() -> None:
    assert rooms(("one", 1, 0), ("two", 2, 0), ("three", 4, 0), about="four") == {"one": 4, "two": 4, "three": 4}


@pytest.mark.parametrize(("under_way", "leaving"), [(4, 0), (3, 1), (0, 4)])
def test_a_flood_waits_while_others_have_as_many_turns_or_for_a_moment_since_its_own_last_one(
    under_way: int, leaving: int
) -> None:
    first = [("quiet", leaving, 0)] if leaving else []
    for rested_s, room in ((0.19, {}), (0.2, {"flood": 4})):
        found = rooms(("flood", MANY, 0), *first, about="flood quiet", busy=under_way, rested_s=rested_s)
        found.pop("quiet", None)
        assert found == room


def test_a_flood_does_not_wait_for_fewer_turns_of_others_than_the_workers_take_at_once() -> None:
    assert rooms(("flood", MANY, 0), about="flood quiet", busy=3) == {"flood": 4}


def test_a_flood_rests_between_its_turns_in_the_moment_after_anothers() -> None:
    assert rooms(("flood", MANY, 0), about="flood quiet", recent="flood quiet", rested_s=0.09) == {}
    assert rooms(("flood", MANY, 0), about="flood quiet", recent="flood quiet", rested_s=0.1) == {"flood": 4}
    assert rooms(("flood", MANY, 0), about="flood quiet", recent="flood", rested_s=0.0) == {"flood": 4}


def test_floods_do_not_wait_for_each_others_turns() -> None:
    assert rooms(("flood", MANY, 3), about="flood quiet", recent="flood") == {"flood": 1}
    assert rooms(("one", MANY, 0), ("two", MANY, 0), about="one two", recent="one two") == {"one": 50, "two": 50}


def test_who_is_quiet_never_waits_for_anothers_turn() -> None:
    assert rooms(("one", 4, 0), ("two", 1, 0), about="one two three", busy=9) == {"one": 4, "two": 4}


def test_nobody_waits_where_nothing_waits() -> None:
    assert rooms(about="one two") == {}


def ahead(*waiting: tuple[str, int, int], crowding: str = "") -> frozenset[str]:
    """Whose turns go past others, where these have many under way."""
    queues = tuple(TenantQueue(*each, 0) for each in waiting)
    policy = DeliveryPolicy(ahead_of_turns=10)
    return choose_ahead(TenantQueues(queues, frozenset(), frozenset(), 0, frozenset(crowding.split())), policy)


def test_who_has_few_turns_goes_past_another_who_has_many() -> None:
    assert ahead(("quiet", 1, 0), ("busy", 4, 6), crowding="flood") == {"quiet", "busy"}
    assert ahead(("quiet", 1, 0)) == frozenset()


def test_who_has_many_turns_goes_past_nobody() -> None:
    assert ahead(("busy", 4, 7), ("other", 11, 0), ("flood", 11, 900), crowding="flood") == frozenset()


def test_nobody_goes_past_himself() -> None:
    assert ahead(("flood", 1, 9), crowding="flood") == frozenset()
    assert ahead(("flood", 1, 9), crowding="flood other") == {"flood"}
