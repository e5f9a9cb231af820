"""`make screenshots`: pictures of the console for the READMEs, with the data of a month."""

import asyncio
import tempfile
from pathlib import Path

import httpx
from playwright.async_api import Page

from services.cli.supervisor import Supervisor
from shared.settings import Settings
from tests.browser.chromium import MISSING, find_chromium, opening_browser

ROOT = Path(__file__).parents[2]
IMAGES, DEMO = ROOT / "docs" / "images", ROOT / "deploy" / "demo"
USER = "lin"
MOST_BYTES = 150_000
CORRECTED = "住在"


async def shoot(console: str, compose: str) -> None:
    """One picture per page: the overview in English with the light theme, a memory in Chinese with the dark theme."""
    async with opening_browser() as browser:
        page = await browser.new_page(viewport={"width": 1180, "height": 800}, locale="en-GB")
        await page.goto(console)
        await page.locator("#user").fill(USER)
        await page.get_by_role("button", name="Show").click()
        await keep(page, f"{console}/memory", "console-overview")
        query = {"user_id": USER, "status": "superseded", "limit": 200}
        async with httpx.AsyncClient(base_url=compose, trust_env=False) as http:
            past = (await http.get("/v1/memories", params=query)).json()["memories"]
        one = next((each for each in past if CORRECTED in each["content"]), past[0])
        for name, value in (("language", "zh"), ("theme", "dark")):
            await page.locator(f"button[name={name}][value={value}]").click()
            await page.wait_for_load_state()
        await keep(page, f"{console}/memory/one/{one['superseded_by'] or one['memory_id']}", "console-memory-zh")


async def keep(page: Page, address: str, name: str) -> None:
    """Writes the picture to the documents, reduced in size."""
    await page.goto(address)
    path = IMAGES / f"{name}.png"
    await page.screenshot(path=path)
    size = path.stat().st_size
    print(f"{path.relative_to(ROOT)}: {size:,} bytes")
    if size > MOST_BYTES:
        raise SystemExit(f"{path.name} is larger than {MOST_BYTES:,} bytes")


def main() -> None:
    """Creates the pictures with the current code."""
    if not find_chromium():
        raise SystemExit(MISSING)
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, Supervisor(Settings(data=Path(folder), http_port=0)) as machine:
        place = machine.start()
        with httpx.Client(base_url=place.http, trust_env=False, timeout=60) as http:
            for line in (line for file in sorted(DEMO.glob("*.jsonl")) for line in file.read_bytes().splitlines()):
                turn = http.post("/v1/turns", content=line, headers={"content-type": "application/json"})
                turn.raise_for_status()
            whose = {"user_id": USER}
            while http.get(f"/v1/turns/{turn.json()['turn_id']}/outcome", params=whose).json()["state"] != "complete":
                pass
        asyncio.run(shoot(place.services["console"], place.http))


if __name__ == "__main__":
    main()
