"""A browser on the console of the shared system; every error on a page fails its test."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.browser.chromium import MISSING, find_chromium, opening_browser
from tests.system.console import serving_console
from tests.system.person import Person
from tests.system.running import System, listening

WAIT_MS = 30_000


def pytest_configure() -> None:
    """Skips the tests without a browser."""
    if not find_chromium():
        pytest.exit(MISSING, 2)


@pytest.fixture(scope="session")
async def browser() -> AsyncGenerator[Browser]:
    """Chromium, once for all tests."""
    async with opening_browser() as opened:
        yield opened


@pytest.fixture
async def url(system: System) -> AsyncGenerator[str]:
    """The console."""
    async with listening(system) as compose_url, serving_console(compose_url) as address:
        yield address


def hear(page: Page, *known: str) -> list[str]:
    """The page's errors from now on: script errors, policy violations, requests to other servers."""
    complaints: list[str] = []

    def hear_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(f"{message.type}: {message.text}")

    def hear_request(request: Request) -> None:
        if not request.url.startswith(known):
            complaints.append(f"asked {request.url}")

    page.on("console", hear_console)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", hear_request)
    return complaints


@dataclass
class Tab:
    """A tab of a new browser profile, and the errors of its pages."""

    url: str
    person: Person
    page: Page
    complaints: list[str]

    async def open(self, path: str) -> None:
        """Loads the page with its scripts."""
        await self.page.goto(self.url + path, wait_until="load")

    async def come_in(self) -> None:
        """Opens the user's memory."""
        await self.open("/")
        if not await self.page.locator("#user").count():
            return
        await self.page.get_by_label("User id", exact=True).fill(self.person.user_id)
        await self.page.locator("details.more summary").click()
        await self.page.locator("input[name=tenant]").fill(self.person.tenant_id)
        await self.page.get_by_role("button", name="Show").click()
        await self.page.wait_for_url(f"{self.url}/memory")

    async def see(self, text: str) -> None:
        """The text is visible."""
        await self.page.get_by_text(text).first.wait_for()


@pytest.fixture
async def context(browser: Browser) -> AsyncGenerator[BrowserContext]:
    """A new browser profile."""
    opened = await browser.new_context(locale="en-GB", viewport={"width": 1180, "height": 860})
    opened.set_default_timeout(WAIT_MS)
    yield opened
    await opened.close()


@pytest.fixture
async def tab(url: str, person: Person, context: BrowserContext) -> AsyncGenerator[Tab]:
    """A tab of the user, which must have no errors at the end."""
    page = await context.new_page()
    opened = Tab(url, person, page, hear(page, url))
    yield opened
    assert opened.complaints == []
