"""Sign-in to the console with a key: the key decides which data is visible; without `read` no text is shown."""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest

from services.console.areas import AREAS
from shared.access.secrets import KeyText, make_key_id, make_secret
from shared.db import Database
from shared.store import api_keys
from tests.system.console import serving_console, visiting
from tests.system.databases import Databases
from tests.system.keys import add_key, with_key
from tests.system.running import System, listening, running, settings_for
from tests.system.wait import wait_for

TENANT = "people"
OF_ANNA = "I live in Rotterdam."


@dataclass(frozen=True)
class ClosedHouse:
    """A compose that needs a key, with the console in front of it."""

    system: System
    url: str
    db: Database
    key: KeyText


@pytest.fixture(scope="module")
async def house(databases: Databases, kafka: str) -> AsyncGenerator[ClosedHouse]:
    """Anna's turn is stored; no worker runs."""
    async with running(settings_for(databases.fresh(), kafka), ("compose",)) as system:
        db = system["compose"].rt.db
        key = await add_key(db, TENANT)
        said = {"user_id": "anna", "session_id": "rotterdam", "messages": [{"role": "user", "content": OF_ANNA}]}
        answer = await system.http.post("/v1/turns", json=said, headers=with_key(key))
        assert answer.status_code == 201
        async with listening(system) as compose_url, serving_console(compose_url) as url:
            yield ClosedHouse(system, url, db, key)


async def test_only_a_valid_key_signs_in(house: ClosedHouse) -> None:
    async with visiting(house.url) as visitor:
        page = await visitor.open("/memory")
        assert "Your key" in page
        for key in (KeyText(make_key_id(), make_secret()), "hello", "ключ", ""):
            page = await visitor.send("/sign-in", 401, key=str(key), next="/memory")
            assert "This key is unknown" in page
        own = await add_key(house.db, TENANT, user="anna")
        page = await visitor.sign_in(own)
        assert "anna" in page
        assert str(own) not in page
        assert "rotterdam" in await visitor.open("/memory/sessions")
        page = await visitor.send("/sign-out")
        assert "Your key" in page
        assert "Your key" in await visitor.open("/memory")


async def test_a_key_of_one_user_shows_no_other_user(house: ClosedHouse) -> None:
    async with visiting(house.url) as visitor:
        await visitor.sign_in(await add_key(house.db, TENANT, user="ben"))
        assert "rotterdam" not in await visitor.open("/memory/sessions")
        await visitor.open("/memory/session?id=rotterdam", 404)
        await visitor.send("/whose", 422, user="anna")
        assert "rotterdam" not in await visitor.open("/memory/sessions")


async def test_a_key_of_a_tenant_asks_for_the_user(house: ClosedHouse) -> None:
    async with visiting(house.url) as visitor:
        page = await visitor.sign_in(house.key)
        assert "Whose memory?" in page
        page = await visitor.send("/whose", user="anna", next="/memory/sessions")
        assert "rotterdam" in page
        await visitor.send("/whose", 403, user="anna", tenant="another")
        page = await visitor.open("/memory/sessions", 403)
        assert "Your key does not allow this" in page


async def test_a_key_with_a_user_prefix_is_limited_to_it(house: ClosedHouse) -> None:
    async with visiting(house.url) as visitor:
        await visitor.sign_in(await add_key(house.db, TENANT, users_from="an"))
        assert "rotterdam" in await visitor.send("/whose", user="anna", next="/memory/sessions")
        await visitor.send("/whose", 403, user="ben", next="/memory/sessions")


async def test_an_operator_sees_no_text(house: ClosedHouse) -> None:
    async with visiting(house.url) as visitor:
        page = await visitor.sign_in(await add_key(house.db, TENANT, scopes=["operate"]))
        assert "System status" in page
        assert "/memory" not in re.findall(r'href="([^"]*)"', page)
        for area in AREAS:
            for entry in area.pages:
                path = re.sub(r"\{[^}]*\}", "x", entry.path)
                if area.scope == "operate" or entry.method == "POST":
                    continue
                answer = await visitor.http.get(path)
                assert answer.status_code == 403, path
                assert "Your key does not allow this" in answer.text
                assert "otterdam" not in answer.text


async def test_a_read_only_key_offers_no_change(house: ClosedHouse) -> None:
    async with visiting(house.url) as visitor:
        await visitor.sign_in(await add_key(house.db, TENANT, user="anna", scopes=["read"]))
        page = await visitor.open("/memory/session?id=rotterdam")
        acts = re.findall(r'action="([^"]*)"', page)
        assert set(acts) == {"/appearance", "/sign-out"}
        await visitor.send("/memory/session/end", 403, id="rotterdam")
        await visitor.open("/memory/erase?scope=session&id=rotterdam", 403)
        await visitor.send("/memory/erase", 403, scope="session", id="rotterdam", sure="yes")


async def test_revoking_a_key_ends_the_session(house: ClosedHouse) -> None:
    async with visiting(house.url) as visitor:
        key = await add_key(house.db, TENANT, user="anna")
        await visitor.sign_in(key)
        assert "rotterdam" in await visitor.open("/memory/sessions")
        async with house.db.system() as conn:
            await api_keys.revoke(conn, key.key_id)

        async def is_led_out() -> bool:
            return "Your key" in await visitor.open("/memory/sessions")

        await wait_for(is_led_out, "the session is over")
