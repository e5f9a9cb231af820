"""The public keys of an issuer over HTTP: read once, kept while the issuer fails, redirects not followed."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from shared.access.tokens import MOST_BYTES, PAUSE_S, TokenCheck
from shared.errors import TransientError
from shared.policy import TokenIssuer
from tests.system.issuer import AUDIENCE, URL, Issuer
from tests.system.serving import serving


@dataclass
class KeyServer:
    """Serves the key set of an issuer, or another response."""

    issuer: Issuer
    now: float = 0.0
    asked: int = 0
    instead: Response | None = None
    url: str = ""
    paths: list[str] = field(default_factory=list[str])

    async def answer(self, request: Request) -> Response:
        """The key set."""
        self.asked += 1
        self.paths.append(request.url.path)
        return self.instead or Response(self.issuer.shown_in.read_bytes(), media_type="application/json")

    def check(self) -> TokenCheck:
        """Accepts tokens of this issuer."""
        named = TokenIssuer(issuer=URL, audience=AUDIENCE, jwks=f"{self.url}/jwks.json", tenant="acme", keys_s=300)
        return TokenCheck({"staff": named}, lambda: self.now)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncGenerator[KeyServer]:
    issuer = Issuer(tmp_path / "jwks.json")
    issuer.add_key("first")
    made = KeyServer(issuer)
    app = Starlette(routes=[Route("/jwks.json", made.answer), Route("/elsewhere.json", made.answer)])
    async with serving(app) as made.url:
        yield made


async def test_concurrent_requests_read_keys_once_and_again_when_they_expire(server: KeyServer) -> None:
    check, token = server.check(), server.issuer.sign()
    holders = await asyncio.gather(*(check.identify(token) for _ in range(20)))
    assert {each.user_id for each in holders} == {"lin"}
    assert server.asked == 1
    server.now = 299
    await check.identify(token)
    assert server.asked == 1
    server.now = 301
    await check.identify(token)
    assert server.asked == 2


@pytest.mark.parametrize(
    "instead",
    [
        Response(status_code=500),
        Response("no", 200),
        Response('{"keys": []}', 200),
        Response(status_code=302, headers={"location": "/elsewhere.json"}),
        Response(b" " * (MOST_BYTES + 1), 200),
    ],
    ids=["broken", "no JSON", "no keys", "elsewhere", "endless"],
)
async def test_a_failing_issuer_keeps_known_keys_valid_and_admits_no_new_ones(
    server: KeyServer, instead: Response
) -> None:
    token, well = server.issuer.sign(), server.check()
    await well.identify(token)
    server.instead = instead
    server.now = 301
    assert (await well.identify(token)).user_id == "lin"
    fresh, before = server.check(), server.asked
    for _ in range(5):
        with pytest.raises(TransientError):
            await fresh.identify(token)
    assert server.asked == before + 1
    assert set(server.paths) == {"/jwks.json"}
    server.instead = None
    server.now += PAUSE_S + 1
    assert (await fresh.identify(token)).user_id == "lin"
