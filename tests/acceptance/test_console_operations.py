"""An operator uses the console to find and release stuck work; figures and charts contain no user text."""

import re
from collections.abc import AsyncGenerator

import pytest

from tests.system.console import serving_console, visiting
from tests.system.dead_letters import dead_letter
from tests.system.person import Person
from tests.system.running import System, listening

SAID = "I love jasmine tea."
TABS = ("", "/letters", "/speed", "/erasures", "/turn", "/models", "/users")
GIVEN_UP = """
INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, turn_id, event_id, reason)
VALUES (%(t)s, %(u)s, gen_random_uuid(), 'observer', %(turn)s, gen_random_uuid(), 'the disk was full')
"""


@pytest.fixture
async def url(system: System) -> AsyncGenerator[str]:
    """The console of a compose that needs no key on this machine."""
    async with listening(system) as compose_url, serving_console(compose_url) as address:
        yield address


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_every_page_opens_without_user_text(url: str, person: Person, language: str) -> None:
    await person.say(SAID)
    async with visiting(url, language=language) as visitor:
        await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        for tab in TABS:
            page = await visitor.open(f"/operations{tab}")
            assert "jasmine" not in page, tab
            assert f'href="/operations{TABS[1]}"' in page, tab
        part = await visitor.open("/operations/flow")
        assert "<html" not in part
        assert "compose" in part
        assert {"en": "all tenants together", "zh": "包含所有租户"}[language] in part
        assert person.user_id in await visitor.open(f"/operations/users?begins={person.user_id}")
        for minutes in (60, 1440):
            assert "<polyline" in await visitor.open(f"/operations/speed?minutes={minutes}")


async def test_stuck_work_is_released_within_three_clicks(url: str, person: Person) -> None:
    turn = await person.commit(SAID)
    await person.outcome(turn["turn_id"])
    whose = f"?tenant={person.tenant_id}&user={person.user_id}"
    await person.system.change(GIVEN_UP, t=person.tenant_id, u=person.user_id, turn=turn["turn_id"])
    async with visiting(url) as visitor:
        await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        first = await visitor.open(f"/operations{whose}")
        assert "Events failed" in first
        assert 'href="/operations/letters"' in first
        second = await visitor.open(f"/operations/letters{whose}")
        (address,) = re.findall(r"/operations/quarantine/[^\"]+", second)
        third = await visitor.open(address)
        assert "the disk was full" in third
        assert "Effect of a redrive" in third
        form = {"tenant": person.tenant_id, "user": person.user_id}
        refused = await visitor.send(address.split("?")[0], 422, act="drop", reason="", **form)
        assert "reason" in refused
        await visitor.open(address)
        page = await visitor.send(address.split("?")[0], act="drop", reason="a test of the disk", **form)
        assert "It was dropped" in page
        assert "/operations/quarantine/" not in await visitor.open(f"/operations/letters{whose}")
        assert "a test of the disk" in await visitor.open(address)


async def test_a_dead_letter_is_redriven_once_after_a_preview_of_its_effect(url: str, person: Person) -> None:
    letter_id = await dead_letter(person)
    async with visiting(url) as visitor:
        await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        page = await visitor.open(f"/operations/letters?tenant={person.tenant_id}&user={person.user_id}")
        address = f"/operations/letters/{letter_id}"
        assert address in page
        page = await visitor.open(address)
        assert "The turn is committed." in page
        assert "Good morning" not in page
        assert "It was redriven" in await visitor.send(address, act="redrive", reason="the cause is mended")
        assert "redriven" in await visitor.open(address)


async def test_a_turn_is_followed_by_its_id(url: str, person: Person) -> None:
    turn = await person.commit(SAID)
    await person.outcome(turn["turn_id"])
    async with visiting(url) as visitor:
        await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        page = await visitor.open(f"/operations/turn?id={turn['turn_id']}")
        assert "All steps are done." in page
        assert page.count('<li class="done">') == 6
        assert "jasmine" not in page
        assert "not a turn id" in await visitor.open("/operations/turn?id=../users", 422)
        await visitor.open("/operations/turn?id=01a22113-9e90-74b3-a066-ef8bfb894409", 404)
