"""The browser that drives the console: Chromium as the system has it."""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = "SMARTBRAIN_TEST_CHROMIUM"
MISSING = f"no Chromium here: `apt-get install chromium`, or name one with {CHROMIUM}"


def find_chromium() -> str | None:
    """Where it is; None where there is none."""
    return os.environ.get(CHROMIUM) or next(filter(None, map(shutil.which, NAMES)), None)


@asynccontextmanager
async def opening_browser() -> AsyncGenerator[Browser]:
    """The browser, closed at the end."""
    async with async_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # it has none for root
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=sandbox)
        try:
            yield browser
        finally:
            await browser.close()
