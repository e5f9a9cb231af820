"""Sign-in and sign-out with an organisation's identity provider."""

from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, expect

from tests.browser.conftest import hear
from tests.browser.test_every_page import find_violations
from tests.system.databases import Databases
from tests.system.sign_in import opening_door


async def test_users_sign_in_with_their_organisation_and_out_again(
    databases: Databases, kafka: str, tmp_path: Path, context: BrowserContext
) -> None:
    page = await context.new_page()
    async with opening_door(databases, kafka, tmp_path) as door:
        complaints = hear(page, door.url, door.server.issuer.url)
        await page.goto(f"{door.url}/memory/facts")
        await expect(page).to_have_url(f"{door.url}/sign-in?next=/memory/facts")
        assert await find_violations(page) == []
        await page.get_by_role("link", name="Sign in with your organisation").click()
        await page.wait_for_url(f"{door.url}/memory/facts")
        await page.get_by_text("lin", exact=True).click()
        await expect(page.get_by_role("link", name="Choose another person")).to_have_count(0)
        await page.get_by_role("button", name="Sign out").click()
        await page.wait_for_url(f"{door.url}/sign-in")
        await page.go_back()
        await expect(page).to_have_url(f"{door.url}/sign-in?next=/memory/facts")
        assert complaints == []
        door.server.identity = {"nonce": "another"}
        await page.get_by_role("link", name="Sign in with your organisation").click()
        await expect(page.get_by_text("Sign-in failed")).to_be_visible()
        assert urlsplit(page.url).path == "/sign-in/back"
        assert not [each for each in complaints if "401" not in each]
