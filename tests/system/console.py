"""The console in front of a running system, and a visitor that submits forms like a browser."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from html import unescape
from typing import Any

import httpx

from services.console.app import build
from shared.connections import http_config
from shared.settings import Settings
from tests.system.serving import serving
from tests.system.wait import wait_for

FORM_TOKEN = re.compile(r'name="csrf" value="([0-9a-f]{64})"')


@asynccontextmanager
async def serving_console(compose_url: str, **settings: Any) -> AsyncGenerator[str]:
    """The console's address, in front of this compose."""
    service = build(Settings(url=compose_url, **settings))
    running = asyncio.create_task(service.run(), name="console")
    assert service.http
    try:

        async def ready() -> bool:
            if running.done():
                running.result()
            return (await service.ready())["serving"]

        await wait_for(ready, "the console serves")
        async with serving(service.http, config=http_config(service.http)) as url:
            yield url
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


class Visitor:
    """A browser without scripts: keeps its cookies and submits forms with their hidden fields."""

    def __init__(self, url: str, language: str = "en") -> None:
        self.http = httpx.AsyncClient(
            base_url=url, trust_env=False, timeout=60, headers={"accept-language": language}, follow_redirects=True
        )
        self.form_token = ""

    async def open(self, path: str, status: int = 200) -> str:
        """The page, unescaped."""
        return self._read(await self.http.get(path), status)

    async def send(self, path: str, status: int = 200, **fields: Any) -> str:
        """The page that follows the form."""
        return self._read(await self.http.post(path, data={"csrf": self.form_token, **fields}), status)

    async def sign_in(self, key: object = None, user: str = "", tenant: str = "") -> str:
        """The first page after the sign-in."""
        await self.open("/sign-in")
        named = {"user": user, "tenant": tenant} if key is None else {"key": str(key)}
        return await self.send("/sign-in", **named)

    def _read(self, answer: httpx.Response, status: int) -> str:
        assert answer.status_code == status, (answer.url, answer.status_code, answer.text)
        found = FORM_TOKEN.search(answer.text)
        self.form_token = found.group(1) if found else self.form_token
        return unescape(answer.text)


@asynccontextmanager
async def visiting(url: str, language: str = "en") -> AsyncGenerator[Visitor]:
    """A visitor at the console, closed at the end."""
    visitor = Visitor(url, language)
    try:
        yield visitor
    finally:
        await visitor.http.aclose()
