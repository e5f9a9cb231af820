"""Sign-in to the console with an issuer: authorization code with PKCE, bound to one browser."""

import time
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.system.console import Visitor, visiting
from tests.system.databases import Databases
from tests.system.sign_in import Door, opening_door


@pytest.fixture(scope="module")
async def one_door(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Door]:
    """For all tests of this file."""
    async with opening_door(databases, kafka, tmp_path_factory.mktemp("issuer")) as opened:
        yield opened


@pytest.fixture
def door(one_door: Door) -> Door:
    """The issuer, reset."""
    one_door.renew()
    return one_door


async def go(visitor: Visitor, path: str = "/sign-in/issuer") -> str:
    """The address to which the issuer redirects the browser."""
    visitor.http.follow_redirects = False
    there = (await visitor.http.get(path)).headers["location"]
    async with httpx.AsyncClient(trust_env=False) as http:
        return (await http.get(there)).headers["location"]


@pytest.mark.parametrize(("language", "told"), [("en", "Sign in with your organisation"), ("zh", "使用组织账号登录")])
async def test_a_user_known_to_the_issuer_sees_their_own_memory(door: Door, language: str, told: str) -> None:
    async with visiting(door.url, language) as visitor:
        assert told in await visitor.open("/sign-in?next=/memory")
        back = await go(visitor, "/sign-in/issuer?next=/memory")
        assert back.startswith(f"{door.url}/sign-in/back?")
        answer = await visitor.http.get(back)
        assert (answer.status_code, answer.headers["refresh"]) == (200, "0; url=/memory")
        assert "SameSite=Strict" in next(c for c in answer.headers.get_list("set-cookie") if "smartbrain_session" in c)
        page = await visitor.open("/memory")
        assert "lin" in page
        assert "/whose" not in page, "a token is of one user"
    (sent,) = door.server.redeemed
    assert sent["grant_type"] == "authorization_code"


async def test_a_code_is_valid_once_for_the_browser_that_requested_it(door: Door) -> None:
    async with visiting(door.url) as visitor, visiting(door.url) as other:
        back = await go(visitor)
        await go(other)
        assert "Sign-in failed" in await other.open(back, 401)
        assert not door.server.redeemed
        assert "Sign-in failed" in await visitor.open(back, 401), "the state was used up"
        again = await go(visitor)
        await visitor.open(again)
        assert "Sign-in failed" in await visitor.open(again, 401)
        assert len(door.server.redeemed) == 1


async def test_the_redirect_carries_fresh_state_nonce_and_challenge(door: Door) -> None:
    async with visiting(door.url) as visitor:
        visitor.http.follow_redirects = False
        ways = [await visitor.http.get("/sign-in/issuer") for _ in range(2)]
        asked = [parse_qs(urlsplit(each.headers["location"]).query) for each in ways]
        for name in ("state", "nonce", "code_challenge"):
            assert len({each[name][0] for each in asked}) == 2
        (cookie,) = [c for c in ways[0].headers.get_list("set-cookie") if c.startswith("smartbrain_sign_in=")]
        assert "HttpOnly; SameSite=Lax" in cookie


WRONG: dict[str, dict[str, Any]] = {
    "another nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "another audience": {"aud": "another"},
    "another client": {"aud": ["console", "another"], "azp": "another"},
    "another issuer": {"iss": "https://evil.example"},
    "over": {"exp": int(time.time()) - 3600},
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG)
async def test_an_identity_of_another_sign_in_is_refused(door: Door, claims: dict[str, Any]) -> None:
    door.server.identity = claims
    async with visiting(door.url) as visitor:
        page = await visitor.open(await go(visitor), 401)
        assert "Sign-in failed" in page
        assert (await visitor.http.get("/memory")).headers["location"].startswith("/sign-in")


async def test_a_token_that_compose_refuses_signs_nobody_in(door: Door) -> None:
    door.server.access = {"org": "acme", "aud": "another"}
    async with visiting(door.url) as visitor:
        page = await visitor.open(await go(visitor), 401)
        assert "another audience" in page
        assert (await visitor.http.get("/memory")).headers["location"].startswith("/sign-in")


async def test_a_refusal_by_the_issuer_and_another_issuer_sign_nobody_in(door: Door) -> None:
    async with visiting(door.url) as visitor:
        for change in ({"code": "none"}, {"iss": "https://evil.example"}, {"state": "none"}):
            back = httpx.URL(await go(visitor)).copy_merge_params(change)
            assert "Sign-in failed" in await visitor.open(str(back), 401)
        denied = httpx.URL(await go(visitor)).copy_remove_param("code").copy_add_param("error", "access_denied")
        assert "access_denied" in await visitor.open(str(denied), 401)
