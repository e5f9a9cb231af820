"""Receipts and proofs of erasures are kept for three years, then deleted."""

import pytest

from services.governor import handler as governor
from tests.system.dead_letters import dead_letter
from tests.system.erasures import completed, erase, mine
from tests.system.person import Person
from tests.system.running import System
from tests.system.wait import wait_for

KEPT = ("tombstones", "erasure_steps", "audit_events")


@pytest.mark.parametrize(("days", "left"), [(1000, 2), (1100, 0)])
async def test_receipts_stay_for_three_years(person: Person, system: System, days: int, left: int) -> None:
    package = await person.compose("What tea do I like?")
    await wait_for(lambda: mine(person, "memory_receipts"), "recorded")
    await system.change(
        "UPDATE memory_receipts SET created_at = now() - make_interval(days => %(days)s) WHERE context_id = %(c)s"
        " RETURNING context_id",
        days=days,
        c=package.context_id,
    )
    await governor.prune_all(system["governor"].rt)
    assert len(mine(person, "memory_receipts")) == left
    assert (await person.get(f"/v1/receipts/{package.context_id}")).status_code == (200 if left else 404)


async def test_anonymous_figures_expire_with_the_other_receipts(person: Person, system: System) -> None:
    package = await person.compose("What tea do I like?")
    await wait_for(lambda: mine(person, "memory_receipts"), "recorded")
    await completed(person, await erase(person, "all"))
    counted = "SELECT count(*) FROM memory_receipts WHERE context_id = %(c)s AND user_id LIKE 'erased:%%'"
    assert system.number(counted, c=package.context_id) == 2
    for days, left in ((1000, 2), (1100, 0)):
        await system.change(
            "UPDATE memory_receipts SET created_at = now() - make_interval(days => %(days)s) WHERE context_id = %(c)s"
            " RETURNING context_id",
            days=days,
            c=package.context_id,
        )
        await governor.prune_all(system["governor"].rt)
        assert system.number(counted, c=package.context_id) == left


async def test_the_proof_of_an_erasure_stays_for_three_years(person: Person, system: System) -> None:
    await person.say("I prefer oolong tea.")
    receipt = await erase(person, "all")
    await completed(person, receipt)
    other = Person(system)
    await other.say("I prefer oolong tea.")
    await completed(other, await erase(other, "all"))
    for years, left in ((2, True), (4, False)):
        await system.change("ALTER TABLE audit_events DISABLE TRIGGER append_only")
        for statement in (
            "UPDATE tombstones SET completed_at = now() - make_interval(years => %(y)s) WHERE user_id = %(u)s",
            "UPDATE audit_events SET at = now() - make_interval(years => %(y)s) WHERE user_id = %(u)s",
        ):
            await system.change(f"{statement} RETURNING tombstone_id", y=years, u=person.user_id)
        await system.change("ALTER TABLE audit_events ENABLE TRIGGER append_only")
        await governor.prune_all(system["governor"].rt)
        assert [bool(mine(person, table)) for table in KEPT] == [left] * 3, years
        seen = await person.get(f"/v1/erasures/{receipt['tombstone_id']}")
        assert seen.status_code == (200 if left else 404)
    assert [bool(mine(other, table)) for table in KEPT] == [True] * 3
    assert mine(person, "erasure_epochs"), "what was thought before it is late for ever"


async def test_operator_acts_stay_for_three_years(person: Person, system: System) -> None:
    letter = await dead_letter(person)
    done = await person.post(f"/v1/dead-letters/{letter}/drop", {"requested_by": "olga", "reason": "a test"})
    assert done.status_code == 200, done.text
    for years, left in ((2, 1), (4, 0)):
        await system.change("ALTER TABLE audit_events DISABLE TRIGGER append_only")
        aged = "UPDATE audit_events SET at = now() - make_interval(years => %(y)s) WHERE user_id = %(u)s"
        await system.change(aged, y=years, u=person.user_id)
        await system.change("ALTER TABLE audit_events ENABLE TRIGGER append_only")
        await governor.prune_all(system["governor"].rt)
        assert len(mine(person, "audit_events")) == left, years
