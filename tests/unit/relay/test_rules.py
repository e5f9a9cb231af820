"""The number of turns of each tenant that may leave the outbox: all that fit while it is alone, few among others."""

import pytest

from services.relay.rules import choose_ahead, share_room
from shared.domain.tenant_queues import TenantQueue, TenantQueues
from shared.policy import DeliveryPolicy

POLICY = DeliveryPolicy(turns_under_way=100, turns_beside_others=4)
MANY = 5
"""The limit up to which the turns of one tenant are counted under this policy."""


def rooms(
    *waiting: tuple[str, int, int], about: str = "", recent: str = "", busy: int = 0, rested_s: float = 0
) -> dict[str, int]:
    """By tenant its capacity, given the tenants' waiting turns, turns in progress, and recent activity."""
    queues = tuple(TenantQueue(*each, rested_s) for each in waiting)
    return share_room(TenantQueues(queues, frozenset(about.split()), frozenset(recent.split()), busy), POLICY)


def test_a_single_tenant_uses_all_capacity() -> None:
    assert rooms(("flood", MANY, 0)) == {"flood": 100}
    assert rooms(("flood", MANY, 60), about="flood") == {"flood": 40}
    assert rooms(("flood", MANY, 100), about="flood") == {}


def test_capacity_is_granted_in_quarters() -> None:
    assert rooms(("flood", MANY, 76), about="flood") == {}
    assert rooms(("flood", MANY, 75), about="flood") == {"flood": 25}


def test_a_flood_has_few_turns_in_progress_while_another_tenant_waits_or_was_recently_active() -> None:
    assert rooms(("flood", MANY, 0), ("quiet", 1, 0)) == {"flood": 4, "quiet": 100}
    assert rooms(("flood", MANY, 3), about="flood quiet") == {"flood": 1}
    assert rooms(("flood", MANY, 80), about="quiet") == {}


@pytest.mark.parametrize("under_way", [0, 3, 90])
def test_a_quiet_tenants_turn_leaves_at_once_beside_a_flood(under_way: int) -> None:
    assert rooms(("flood", MANY, under_way), ("quiet", 2, 1), about="flood quiet")["quiet"] >= 2


def test_floods_share_the_capacity_and_are_limited_for_quiet_tenants() -> None:
    assert rooms(("one", MANY, 0), ("two", MANY, 20), about="one two") == {"one": 50, "two": 30}
    assert rooms(("one", MANY, 0), ("two", MANY, 20), about="quiet") == {"one": 4}


def test_each_of_many_floods_has_the_capacity_of_one_among_others() -> None:
    assert rooms(*((f"flood-{n}", MANY, 0) for n in range(90))) == {f"flood-{n}": 4 for n in range(90)}


def test_occasional_tenants_do_not_delay_each_other() -> None:
    assert rooms(("one", 1, 0), ("two", 2, 0), ("three", 4, 0), about="four") == {"one": 4, "two": 4, "three": 4}


@pytest.mark.parametrize(("under_way", "leaving"), [(4, 0), (3, 1), (0, 4)])
def test_a_flood_waits_while_others_have_as_many_turns_or_shortly_after_its_own_last_one(
    under_way: int, leaving: int
) -> None:
    first = [("quiet", leaving, 0)] if leaving else []
    for rested_s, room in ((0.19, {}), (0.2, {"flood": 4})):
        found = rooms(("flood", MANY, 0), *first, about="flood quiet", busy=under_way, rested_s=rested_s)
        found.pop("quiet", None)
        assert found == room


def test_a_flood_does_not_wait_for_fewer_turns_than_the_workers_take_at_once() -> None:
    assert rooms(("flood", MANY, 0), about="flood quiet", busy=3) == {"flood": 4}


def test_a_flood_pauses_between_its_turns_shortly_after_anothers() -> None:
    assert rooms(("flood", MANY, 0), about="flood quiet", recent="flood quiet", rested_s=0.09) == {}
    assert rooms(("flood", MANY, 0), about="flood quiet", recent="flood quiet", rested_s=0.1) == {"flood": 4}
    assert rooms(("flood", MANY, 0), about="flood quiet", recent="flood", rested_s=0.0) == {"flood": 4}


def test_floods_do_not_wait_for_each_other() -> None:
    assert rooms(("flood", MANY, 3), about="flood quiet", recent="flood") == {"flood": 1}
    assert rooms(("one", MANY, 0), ("two", MANY, 0), about="one two", recent="one two") == {"one": 50, "two": 50}


def test_a_quiet_tenant_never_waits() -> None:
    assert rooms(("one", 4, 0), ("two", 1, 0), about="one two three", busy=9) == {"one": 4, "two": 4}


def test_nothing_is_limited_without_waiting_turns() -> None:
    assert rooms(about="one two") == {}


def ahead(*waiting: tuple[str, int, int], crowding: str = "") -> frozenset[str]:
    """The tenants whose turns overtake others, given these turns in progress."""
    queues = tuple(TenantQueue(*each, 0) for each in waiting)
    policy = DeliveryPolicy(ahead_of_turns=10)
    return choose_ahead(TenantQueues(queues, frozenset(), frozenset(), 0, frozenset(crowding.split())), policy)


def test_a_tenant_with_few_turns_overtakes_one_with_many() -> None:
    assert ahead(("quiet", 1, 0), ("busy", 4, 6), crowding="flood") == {"quiet", "busy"}
    assert ahead(("quiet", 1, 0)) == frozenset()


def test_a_tenant_with_many_turns_overtakes_none() -> None:
    assert ahead(("busy", 4, 7), ("other", 11, 0), ("flood", 11, 900), crowding="flood") == frozenset()


def test_no_tenant_overtakes_itself() -> None:
    assert ahead(("flood", 1, 9), crowding="flood") == frozenset()
    assert ahead(("flood", 1, 9), crowding="flood other") == {"flood"}
