"""Every page is accessible and not too wide, in both languages and themes."""

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

from tests.browser.conftest import Tab
from tests.browser.pages import PLAIN

GRAVE = ("serious", "critical")


async def find_violations(page: Page) -> list[str]:
    """The serious and critical findings of axe, with the first place of each."""
    found = (await Axe().run(page)).response["violations"]
    return [
        f"{page.url}: {each['id']}: {each['help']}: {each['nodes'][0]['html']} ({each['nodes'][0]['failureSummary']})"
        for each in found
        if each["impact"] in GRAVE
    ]


async def list_pages(tab: Tab) -> list[str]:
    """The addresses of all simple pages, and of a memory, two memories, a session and an erasure."""
    (memory,) = await tab.person.memories(query="Rotterdam")
    erased = await tab.person.post("/v1/erasures", {**tab.person.whose, "scope": "session", "session_ids": ["gone"]})
    (other,) = await tab.person.memories(query="jasmine")
    of_one = f"/memory/one/{memory['memory_id']}"
    of_two = f"/memory/merge?id={memory['memory_id']}&id={other['memory_id']}"
    more = (of_one, of_two, f"/memory/erase?id={memory['memory_id']}", "/memory/session?id=s1", "/memory/search?q=dog")
    return [*PLAIN, *more, f"/memory/erasures/{erased.json()['tombstone_id']}", "/nothing", "/whose"]


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("zh", "dark")])
async def test_no_page_has_a_serious_finding_or_is_too_wide(tab: Tab, language: str, theme: str) -> None:
    await tab.person.say("I live in Rotterdam.")
    await tab.person.say("I like jasmine tea.")
    await tab.person.say("My dog is called Rex.", session="gone")
    await tab.person.compose("Where do I live?")
    await tab.open("/")
    assert await find_violations(tab.page) == []
    await tab.come_in()
    for name, value in (("language", language), ("theme", theme)):
        await tab.page.locator(f"button[name={name}][value={value}]").click()
        await tab.page.wait_for_load_state()
    faults: list[str] = []
    for path in await list_pages(tab):
        await tab.open(path)
        faults += await find_violations(tab.page)
        for width in (360, 1180):
            await tab.page.set_viewport_size({"width": width, "height": 800})
            beyond = await tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if beyond > 0:
                faults.append(f"{path}: {beyond} pixels beyond {width}")
    tab.complaints = [each for each in tab.complaints if "404" not in each]  # the page for a missing address
    assert faults == []


async def test_the_sign_in_page_has_no_serious_finding_in_the_dark_theme(tab: Tab) -> None:
    await tab.open("/sign-in")
    await tab.page.locator("button[name=theme][value=dark]").click()
    await tab.page.wait_for_load_state()
    assert await find_violations(tab.page) == []
