"""Profile keys come from an allowlist that policy can extend; synonyms of a slot share its key (R032)."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.system.databases import Databases
from tests.system.person import Person
from tests.system.running import System, policy_file, running, settings_for

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, with one additional slot in the policy."""
    policy = policy_file(tmp_path_factory.mktemp("policy"), observer={"profile_slots": ["favourite_colour"]})
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


def _item(key: str, value: str) -> dict[str, Any]:
    return {"type": "profile", "key": key, "value": value, "text": value, "confirmed": True}


async def _keys(person: Person) -> dict[str | None, str]:
    return {each["key"]: each["content"] for each in await person.memories()}


async def test_an_unknown_slot_is_a_note_and_a_slot_of_the_policy_is_a_profile(person: Person) -> None:
    await person.say(
        "Here is what I filled in.",
        items=[_item("profile:user:zzz_random_key_1", "xyzzy"), _item("profile:user:favourite_colour", "teal")],
    )
    known = {each["content"]: (each["type"], each["key"]) for each in await person.memories()}
    assert known["teal"] == ("profile", "profile:user:favourite_colour")
    assert known["profile:user:zzz_random_key_1: xyzzy"] == ("note", None)


@pytest.mark.parametrize(("first", "second"), [("job", "occupation"), ("location", "city"), ("nickname", "call_me")])
async def test_synonyms_share_a_slot(person: Person, first: str, second: str) -> None:
    await person.say("Here it is.", items=[_item(f"profile:user:{first}", "the old one")])
    await person.say("And again.", items=[_item(f"profile:user:{second}", "the new one")])
    assert await _keys(person) == {f"profile:user:{second}": "the new one"}


@pytest.mark.parametrize("said", ["We decided to go in May.", "我们门店的客群偏年轻，主要是学生。"])
async def test_ordinary_statements_have_no_key(person: Person, said: str) -> None:
    await person.say(said)
    assert list(await _keys(person)) == [None]
