"""Commands reach compose: over TLS if the address says so, and with the key of the environment or a hint about it."""

import asyncio
from http.client import HTTPConnection, HTTPSConnection
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.cli.web import Web
from shared.errors import RefusedError
from tests.system.serving import serving


@pytest.mark.parametrize(
    ("address", "kind", "port"),
    [
        ("https://brain.example.com", HTTPSConnection, 443),
        ("https://brain.example.com:8443", HTTPSConnection, 8443),
        ("http://127.0.0.1", HTTPConnection, 80),
        ("http://127.0.0.1:8787", HTTPConnection, 8787),
    ],
)
def test_the_address_determines_the_connection(address: str, kind: type[HTTPConnection], port: int) -> None:
    reached = Web(address)._connection  # pyright: ignore[reportPrivateUsage] # nothing is sent to example.com
    assert (type(reached), reached.port) == (kind, port)


async def _answer(request: Request) -> Response:
    """Returns the requester; 401 for the requester `nobody`."""
    given = request.headers.get("authorization")
    if given in (None, "Bearer stale"):
        return JSONResponse({"code": "unauthenticated", "message": "authorization: of compose"}, 401)
    return JSONResponse({"given": given})


@pytest.mark.parametrize(
    ("key", "told"), [("", "requires a key: set SMARTBRAIN_API_KEY"), ("stale", "authorization: of compose")]
)
async def test_a_missing_key_gets_a_hint_and_an_invalid_one_the_reason(
    monkeypatch: pytest.MonkeyPatch, key: str, told: str
) -> None:
    def ask(url: str) -> dict[str, Any]:
        with Web(url) as web:
            return web.get("/", {})

    async with serving(Starlette(routes=[Route("/", _answer)])) as url:
        monkeypatch.setenv("SMARTBRAIN_API_KEY", key)
        with pytest.raises(RefusedError, match=told):
            await asyncio.to_thread(ask, url)
        monkeypatch.setenv("SMARTBRAIN_API_KEY", "good")
        assert await asyncio.to_thread(ask, url) == {"given": "Bearer good"}
