"""Without pgvector or pg_trgm the system searches by words, says so, and uses the extensions when they return."""

import asyncio
from collections.abc import AsyncGenerator

import psycopg
import pytest

from shared.store.schema import migrate
from tests.ollama.server import ScriptedOllama
from tests.system.databases import Databases, change, number
from tests.system.person import Person, shown
from tests.system.running import System, running, settings_for
from tests.system.wait import wait_for

FORBID = """
CREATE FUNCTION public.forbid() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not here'; END $$;
CREATE EVENT TRIGGER forbid ON ddl_command_start WHEN TAG IN ('CREATE EXTENSION') EXECUTE FUNCTION public.forbid();
"""
UNEMBEDDED = "SELECT count(*) FROM memory_chunks WHERE active AND embedding_model_id IS NULL"


@pytest.fixture
async def system(databases: Databases, kafka: str, ollama: ScriptedOllama) -> AsyncGenerator[System]:
    """Every service, with an embedding model."""
    async with running(settings_for(databases.fresh(), kafka, ollama_url=ollama.url, embedding_dimension=64)) as each:
        yield each


async def test_an_extension_can_be_removed_and_added_during_requests(person: Person) -> None:
    dsn = person.system.dsn
    await person.say("The ferry to the islands leaves at nine.", session="first")
    await wait_for(lambda: not number(dsn, UNEMBEDDED), "every chunk has a vector")
    asking = asyncio.gather(*(person.compose("Which ferry leaves?", session="second") for _ in range(5)))
    await change(dsn, "DROP EXTENSION vector CASCADE")
    await change(dsn, "DROP EXTENSION pg_trgm CASCADE")
    assert all("ferry" in shown(package) for package in await asking)
    for _ in range(10):
        package = await person.compose("Which ferry leaves?", session="second")
        assert "ferry" in shown(package)
        assert "pgvector_unavailable" in package.degraded_reason
    misspelt = await person.compose("Which ferry goes to Rottnestt?", session="second")
    assert {"pgvector_unavailable", "trigram_unavailable"} <= set(misspelt.degraded_reason)

    await person.say("我每天下午都喝茶。", session="first")
    assert "喝茶" in shown(await person.compose("我什么时候喝茶？", session="second"))
    assert number(dsn, UNEMBEDDED) > 0

    await migrate(dsn)
    await wait_for(lambda: not number(dsn, UNEMBEDDED), "every chunk has a vector again")
    package = await person.compose("Which ferry leaves?", session="second")
    assert not [reason for reason in package.degraded_reason if "vector" in reason or "trigram" in reason]
    assert package.debug
    assert any(arm.arm.startswith("vector") and arm.candidates for arm in package.debug.explain.arms)


async def test_a_server_without_the_extensions_searches_by_words(
    databases: Databases, kafka: str, ollama: ScriptedOllama
) -> None:
    dsn = databases.empty()
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(FORBID)
    await migrate(dsn)
    async with running(settings_for(dsn, kafka, ollama_url=ollama.url, embedding_dimension=64)) as without:
        person = Person(without)
        await person.say("I prefer green tea.")
        package = await person.compose("Which tea do I prefer?")
        assert "green tea" in shown(package)
        assert "pgvector_unavailable" in package.degraded_reason
