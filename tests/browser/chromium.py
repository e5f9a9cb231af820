"""Chromium for tests of the console."""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = "SMARTBRAIN_TEST_CHROMIUM"
MISSING = f"no Chromium here: `apt-get install chromium`, or name one with {CHROMIUM}"


def find_chromium() -> str | None:
    """The path of the browser; None if there is none."""
    return os.environ.get(CHROMIUM) or next(filter(None, map(shutil.which, NAMES)), None)


@asynccontextmanager
async def opening_browser() -> AsyncGenerator[Browser]:
    """The browser, closed at the end."""
    async with async_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # there is no sandbox for root
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=sandbox)
        try:
            yield browser
        finally:
            await browser.close()
