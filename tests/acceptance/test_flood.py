"""During a flood of one tenant, another tenant's turns are observed while most of the flood still waits."""

import asyncio

from services.compose.intake.commit import commit_turn
from tests.integration.commit.test_commit import turn
from tests.system.databases import Databases
from tests.system.person import Person
from tests.system.running import running, settings_for
from tests.system.wait import wait_for

TURNS, USERS = 300, 20


async def test_a_quiet_tenant_overtakes_three_hundred_waiting_turns(databases: Databases, kafka: str) -> None:
    async with running(settings_for(databases.fresh(), kafka)) as system:
        await system.stop("relay")
        loud, quiet = Person(system), Person(system)
        said = [turn(str(n)).model_copy(update={**loud.whose, "user_id": f"u{n % USERS}"}) for n in range(TURNS)]
        for n in range(0, TURNS, USERS):
            await asyncio.gather(
                *(commit_turn(each, system["compose"].rt, transport="http") for each in said[n : n + USERS])
            )
        await quiet.commit("I live in Oslo.")
        await system.start("relay")
        await wait_for(quiet.contents, "the quiet tenant is learnt from")
        earlier = system.number(
            "SELECT count(*) FROM turns WHERE tenant_id = %(loud)s"
            " AND outcome_at < (SELECT outcome_at FROM turns WHERE tenant_id = %(quiet)s)",
            loud=loud.tenant_id,
            quiet=quiet.tenant_id,
        )
        assert earlier <= TURNS // 10
