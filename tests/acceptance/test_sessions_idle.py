"""An idle session ends on its own and reopens."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.acceptance.test_sessions import TALK, archived, languages, session, turns
from tests.system.databases import Databases
from tests.system.person import Person, shown
from tests.system.running import System, policy_file, running, settings_for


@pytest.fixture
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service; a session ends after five seconds without a turn."""
    slices: dict[str, Any] = {"session": {"idle_hours": 5 / 3600}, "delivery": {"redrive_every_s": 0.2}}
    policy = policy_file(tmp_path_factory.mktemp("policy"), **slices)
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as system:
        yield system


@languages
async def test_an_idle_session_ends_once_and_again_after_it_was_reopened(system: System, language: str) -> None:
    said, *_, later, _, _ = TALK[language]
    person = Person(system)
    await person.say(said[0], created_at="2020-01-01T00:00:00Z")
    assert (await session(person))["state"] == "open", "what was said long ago and is told now is not idle"
    seen = await archived(person)
    assert seen["summary"]["reason"] == "session_end"
    assert turns(person) == 2
    await person.say(later)
    package = await person.compose(later, session="s1")
    assert "PostgreSQL" in shown(package)
    assert len((await archived(person, blocks=2))["blocks"]) == 2
    rounds = system.number("SELECT count(*) FROM redriven")
    assert (turns(person), rounds) == (4, 2)
    assert await system.settled() == 4
