"""While the workers are full of one tenant's turns, another tenant's turns overtake them, once and in order."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from schemas.topics import AHEAD, ANALYSIS_AHEAD, OBSERVATION_AHEAD, TURN_AHEAD, TURN_COMMITTED
from services.compose.intake.commit import commit_turn
from tests.integration.commit.test_commit import turn
from tests.system.databases import Databases
from tests.system.kafka import of_tenant, publish
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for

pytestmark = pytest.mark.kafka
ORDINARY = {topic.name: name for name, topic in AHEAD.items()}
TURNS, USERS = 100, 10
OPEN = "SELECT count(*) FROM turns WHERE outcome_at IS NULL AND tenant_id = %(t)s"
LEARNT = "SELECT count(*) FROM observations WHERE tenant_id = %(t)s"


async def fill(system: System, loud: Person) -> None:
    """The workers handle the turns of a tenant that is alone."""
    await system.stop("observer")
    said = [turn(str(n)).model_copy(update={**loud.whose, "user_id": f"u{n % USERS}"}) for n in range(TURNS)]
    for n in range(0, TURNS, USERS):
        await asyncio.gather(*(commit_turn(each, system["compose"].rt, transport="http") for each in said[n:][:USERS]))
    under_way = "SELECT count(*) FROM turns_under_way WHERE tenant = %(t)s"
    await wait_for(lambda: system.number(under_way, t=loud.tenant_id) == TURNS, "the flood is under way")


async def test_another_tenants_turns_overtake_a_hundred_turns_in_order_and_once(
    databases: Databases, kafka: str, tmp_path: Path
) -> None:
    policy = policy_file(tmp_path, delivery={"tenant_about_s": 0.1})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as system:
        loud, quiet = Person(system), Person(system)
        await fill(system, loud)
        await quiet.commit("I live in Oslo.")
        await quiet.commit("I have moved, I live in Bergen now.")
        await system.start("observer")
        await wait_for(lambda: system.number(OPEN, t=quiet.tenant_id) == 0, "the other is learnt from")
        assert system.number(OPEN, t=loud.tenant_id) >= TURNS // 2, "the flood still waits"
        assert [text for text in await quiet.contents() if "Bergen" in text]
        assert not [text for text in await quiet.contents() if "Oslo" in text]
        lanes = [
            await of_tenant(kafka, quiet.tenant_id, t.name) for t in (TURN_AHEAD, OBSERVATION_AHEAD, ANALYSIS_AHEAD)
        ]
        assert all(lanes), "each step was taken ahead"
        assert not await of_tenant(kafka, quiet.tenant_id, TURN_COMMITTED.name)
        # everything is redelivered on both paths, and relay and observer restart in between
        learnt = system.number(LEARNT, t=quiet.tenant_id)
        await system.stop("observer", "relay")
        again = [record for lane in lanes for record in lane]
        await publish(kafka, [*again, *(replace(each, topic=ORDINARY[each.topic]) for each in again)])
        await system.start("relay", "observer")
        await quiet.commit("My dog is called Rex.")
        await wait_for(lambda: system.number(OPEN, t=quiet.tenant_id) == 0, "it goes on")
        await wait_for(lambda: system.number(OPEN, t=loud.tenant_id) == 0, "the flood is learnt from too")
        assert system.number(LEARNT, t=quiet.tenant_id) == learnt + 1
        assert [text for text in await quiet.contents() if "Bergen" in text]
