"""Sign-in to the console: it admits the right people, shows no data of others, and offers a way to continue."""

import re
from collections.abc import AsyncGenerator

import httpx
import pytest

from services.console.app import build
from services.console.areas import AREAS
from services.console.door import POLICY
from shared.errors import ConfigurationError
from shared.settings import Settings
from tests.system.console import serving_console, visiting
from tests.system.person import Person
from tests.system.running import System, listening

PAGES = [entry for area in AREAS for entry in area.pages]


@pytest.fixture
async def url(system: System) -> AsyncGenerator[str]:
    """The console of a compose that needs no key on this machine."""
    async with listening(system) as compose_url, serving_console(compose_url) as address:
        yield address


async def test_on_this_machine_a_name_opens_a_memory(url: str, person: Person) -> None:
    async with visiting(url) as visitor:
        assert "Whose memory?" in await visitor.open("/")
        page = await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        assert "Nothing is known yet" in page
        assert person.user_id in page
        for address in ("/", "/memory", "/explain", "/operations"):
            await visitor.open(address)
        for cookie in visitor.http.cookies.jar:
            assert cookie.name in ("smartbrain_session", "smartbrain_visit")
            assert not cookie.secure, "there is no https on this machine"


async def test_every_response_forbids_unneeded_capabilities(url: str, person: Person) -> None:
    async with visiting(url) as visitor:
        await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        for path in ("/", "/sign-in", "/memory", "/operations", "/nothing", "/static/console.css", "/live"):
            answer = await visitor.http.get(path)
            assert answer.headers["content-security-policy"] == POLICY, path
            assert "unsafe" not in POLICY
            assert answer.headers["x-frame-options"] == "DENY"
            kept = path.startswith("/static/")
            assert ("immutable" in answer.headers["cache-control"]) == kept
            assert ("no-store" in answer.headers["cache-control"]) != kept
        answer = await httpx.AsyncClient(trust_env=False).get(f"{url}/sign-in")
        assert re.fullmatch(
            r"smartbrain_visit=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict", answer.headers["set-cookie"]
        )


async def test_no_page_is_shown_without_sign_in(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        for entry in PAGES:
            path = re.sub(r"\{[^}]*\}", "x", entry.path)
            answer = await http.request(entry.method, path)
            if entry.method == "POST":
                assert answer.status_code == 403, path
            else:
                assert (answer.status_code, answer.headers["location"].split("?")[0]) == (303, "/sign-in"), path


async def test_a_form_without_its_token_changes_nothing(url: str, person: Person) -> None:
    async with visiting(url) as visitor:
        await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        posts = [entry.path for entry in PAGES if entry.method == "POST"]
        for path in (*posts, "/sign-out", "/whose", "/appearance", "/sign-in"):
            address = re.sub(r"\{[^}]*\}", "x", path)
            for given in ({}, {"csrf": "0" * 64}, {"csrf": "é"}):
                answer = await visitor.http.post(address, data=given)
                assert answer.status_code == 403, path
                assert "Nothing was changed" in answer.text
        assert "Nothing is known yet" in await visitor.open("/memory"), "still signed in"


async def test_a_foreign_origin_and_another_host_name_are_refused(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        for headers, status in (({"host": "evil.example"}, 421), ({"origin": "https://evil.example"}, 403)):
            assert (await http.post("/sign-in", headers=headers)).status_code == status
        assert (await http.get("/sign-in", headers={"host": "evil.example"})).status_code == 421


async def test_the_redirect_target_is_never_another_server(url: str, person: Person) -> None:
    async with visiting(url) as visitor:
        await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        visitor.http.follow_redirects = False
        evil = ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/\n/evil.example")
        for wanted, led in (("/explain?a=b", "/explain?a=b"), *((each, "/") for each in evil)):
            sent = {"csrf": visitor.form_token, "next": wanted, "theme": "dark"}
            answer = await visitor.http.post("/appearance", data=sent)
            assert (answer.status_code, answer.headers["location"]) == (303, led)


async def test_language_and_theme_can_be_switched(url: str, person: Person) -> None:
    async with visiting(url, language="zh-CN,zh;q=0.9") as visitor:
        await visitor.open("/sign-in")
        page = await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        assert 'lang="zh-CN"' in page
        assert "目前还一无所知" in page
        page = await visitor.send("/appearance", language="en", next="/memory")
        assert '<html lang="en"' in page
        assert "Nothing is known yet" in page
        assert 'data-theme="dark"' in await visitor.send("/appearance", theme="dark", next="/memory")


async def test_a_missing_page_offers_a_link(url: str) -> None:
    async with visiting(url) as visitor:
        page = await visitor.open("/nothing", 404)
        assert "Nothing was found here" in page
        assert "Back to the overview" in page


async def test_the_page_says_that_compose_is_unavailable() -> None:
    async with serving_console("http://127.0.0.1:9") as url, visiting(url) as visitor:
        assert "Memory cannot be reached" in await visitor.open("/sign-in", 503)


async def test_the_address_of_compose_leads_to_the_console(system: System) -> None:
    for asked in ("/", "/?a=b"):
        answer = await system.http.get(asked)
        assert (answer.status_code, answer.headers["location"]) == (307, "http://compose:8789/")
    assert (await system.http.post("/")).status_code == 404


async def test_the_console_requires_keys_when_other_machines_can_reach_it(system: System) -> None:
    async with listening(system) as compose_url:
        service = build(Settings(url=compose_url, http_host="0.0.0.0"))  # noqa: S104 # it is not listened on
        with pytest.raises(ConfigurationError, match="smartbrain keys create"):
            await service.run()
