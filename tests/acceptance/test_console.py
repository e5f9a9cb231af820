"""The console lets in whom it should, shows nobody what is another's, and says how to go on."""

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


async def test_on_this_machine_a_name_leads_to_a_memory(url: str, person: Person) -> None:
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


async def test_every_answer_forbids_what_is_not_needed(url: str, person: Person) -> None:
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


async def test_whoever_is_not_signed_in_sees_no_page(url: str) -> None:
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


async def test_a_foreign_page_and_another_name_are_refused(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        for headers, status in (({"host": "evil.example"}, 421), ({"origin": "https://evil.example"}, 403)):
            assert (await http.post("/sign-in", headers=headers)).status_code == status
        assert (await http.get("/sign-in", headers={"host": "evil.example"})).status_code == 421


async def test_where_to_go_on_is_never_another_server(url: str, person: Person) -> None:
    async with visiting(url) as visitor:
        await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        visitor.http.follow_redirects = False
        evil = ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "/\n/evil.example")
        for wanted, led in (("/explain?a=b", "/explain?a=b"), *((each, "/") for each in evil)):
            sent = {"csrf": visitor.form_token, "next": wanted, "theme": "dark"}
            answer = await visitor.http.post("/appearance", data=sent)
            assert (answer.status_code, answer.headers["location"]) == (303, led)


async def test_the_language_and_the_look_are_switched(url: str, person: Person) -> None:
    async with visiting(url, language="zh-CN,zh;q=0.9") as visitor:
        await visitor.open("/sign-in")
        page = await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)
        assert 'lang="zh-CN"' in page
        assert "目前还一无所知" in page
        page = await visitor.send("/appearance", language="en", next="/memory")
        assert '<html lang="en"' in page
        assert "Nothing is known yet" in page
        assert 'data-theme="dark"' in await visitor.send("/appearance", theme="dark", next="/memory")


async def test_a_page_that_is_not_there_says_where_to_go(url: str) -> None:
    async with visiting(url) as visitor:
        page = await visitor.open("/nothing", 404)
        assert "Nothing was found here" in page
        assert "Back to the overview" in page


async def test_while_compose_is_away_the_page_says_so() -> None:
    async with serving_console("http://127.0.0.1:9") as url, visiting(url) as visitor:
        assert "Memory cannot be reached" in await visitor.open("/sign-in", 503)


async def test_the_address_of_compose_leads_to_the_console(system: System) -> None:
    for asked in ("/", "/?a=b"):
        answer = await system.http.get(asked)
        assert (answer.status_code, answer.headers["location"]) == (307, "http://compose:8789/")
    assert (await system.http.post("/")).status_code == 404


async def test_beyond_this_machine_it_does_not_start_while_compose_needs_no_key(system: System) -> None:
    async with listening(system) as compose_url:
        service = build(Settings(url=compose_url, http_host="0.0.0.0"))  # noqa: S104 # it is not listened on
        with pytest.raises(ConfigurationError, match="smartbrain keys create"):
            await service.run()
