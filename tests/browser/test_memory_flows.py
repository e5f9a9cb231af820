"""Managing memory in a browser."""

import re

from playwright.async_api import expect

from tests.browser.conftest import Tab
from tests.system.conflicts import contradicted


async def remember(tab: Tab, text: str) -> None:
    box = tab.page.get_by_label("What should be remembered?")
    if not await box.is_visible():
        await tab.page.get_by_text("Add a memory by hand").click()
    await box.fill(text)
    await tab.page.get_by_role("button", name="Remember", exact=True).click()
    await tab.see(f"Remembered: {text[:40]}")


async def test_the_first_visit_leads_to_a_first_memory(tab: Tab) -> None:
    await tab.come_in()
    await tab.see("Nothing is known yet")
    await remember(tab, "My bike is green")
    await expect(tab.page.get_by_role("heading", level=1)).to_have_text("What is known about you")
    await expect(tab.page.get_by_role("link", name="My bike is green")).to_be_visible()
    await tab.page.get_by_role("button", name="Undo").click()
    await tab.see("Retracted")


async def test_a_search_responds_during_typing(tab: Tab) -> None:
    await tab.person.say("I live in Rotterdam.")
    await tab.person.say("My dog is called Rex.")
    await tab.come_in()
    await tab.page.keyboard.press("/")
    await tab.page.keyboard.type("Rotterdam")
    await tab.see("1 found")
    await expect(tab.page.locator("#found").get_by_text("Rex")).to_have_count(0)
    await expect(tab.page).to_have_url(f"{tab.url}/memory")
    await tab.page.get_by_role("searchbox").fill("xylophone")
    await tab.see("Nothing matches these words")


async def test_an_edit_is_undone(tab: Tab) -> None:
    await tab.come_in()
    await remember(tab, "My bike is green")
    await tab.page.get_by_role("link", name="My bike is green").click()
    await tab.page.get_by_text("Edit", exact=True).click()
    await tab.page.get_by_label("What is right?").fill("My bike is blue")
    await tab.page.get_by_role("button", name="Save").click()
    await expect(tab.page.get_by_role("heading", level=1)).to_have_text("My bike is blue")
    await tab.page.get_by_role("button", name="Undo").click()
    await expect(tab.page.get_by_role("heading", level=1)).to_have_text("My bike is green")
    assert await tab.page.locator(".versions > li").count() == 3


async def test_a_suppressed_memory_is_restored(tab: Tab) -> None:
    await tab.come_in()
    await remember(tab, "My bike is green")
    await tab.page.get_by_role("link", name="My bike is green").click()
    await tab.page.get_by_role("button", name="Never mention again").click()
    await tab.see("It stays stored but is never mentioned")
    await expect(tab.page.get_by_role("button", name="Never mention again")).to_have_count(0)
    await tab.page.get_by_role("button", name="Undo").click()
    await tab.see("It may be mentioned again.")
    await expect(tab.page.get_by_role("button", name="Never mention again")).to_be_visible()


async def test_two_memories_are_merged_and_separated(tab: Tab) -> None:
    await tab.come_in()
    for text in ("The boat is called Nightjar", "The boat key hangs by the door"):
        await remember(tab, text)
    await tab.open("/memory/notes")
    await tab.page.get_by_label("Select all on this page").check()
    await tab.page.get_by_role("button", name="Merge").click()
    await tab.page.get_by_label("The boat is called Nightjar").check()
    await tab.page.get_by_role("button", name="Merge", exact=True).click()
    await tab.see("2 memories were merged.")
    await expect(tab.page.get_by_role("heading", level=1)).to_have_text("The boat is called Nightjar")
    await tab.page.get_by_role("button", name="Undo").click()
    await tab.see("1 restored.")
    await expect(tab.page.get_by_role("link", name="The boat key hangs by the door")).to_be_visible()


async def test_a_conflict_is_settled(tab: Tab) -> None:
    await contradicted(tab.person, "concise", "wordy")
    await tab.come_in()
    await tab.page.get_by_role("link", name="Decide").click()
    side = tab.page.locator(".side", has_text="wordy")
    await side.get_by_role("button", name="This is right").click()
    await tab.see("instead of: concise")


async def test_all_selected_memories_are_erased_to_their_proof(tab: Tab) -> None:
    await tab.person.say("I live in Rotterdam.")
    await tab.come_in()
    await tab.page.get_by_role("link", name="Facts").click()
    await tab.page.get_by_label("Select all on this page").check()
    await tab.page.get_by_role("button", name="Erase permanently").click()
    await tab.see("Erase this permanently?")
    await tab.page.get_by_label("I understand that it cannot be restored.").check()
    await tab.page.get_by_role("button", name="Erase permanently").click()
    await tab.page.wait_for_url(re.compile(r"/memory/erasures/"))
    await tab.see("0 matching rows were left")
    await tab.open("/memory")
    await tab.see("Nothing is known yet")


async def test_language_and_theme_are_switched(tab: Tab) -> None:
    await tab.come_in()
    paper = await tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    await tab.page.get_by_role("button", name="中文").click()
    await tab.see("目前还一无所知")
    assert await tab.page.locator("html").get_attribute("lang") == "zh-CN"
    await tab.page.get_by_role("button", name="深色").click()
    await expect(tab.page.locator("html")).to_have_attribute("data-theme", "dark")
    assert await tab.page.evaluate("getComputedStyle(document.body).backgroundColor") != paper
    await tab.open("/memory/facts")
    await tab.see("全部已知内容")


async def test_everything_works_with_the_keyboard(tab: Tab) -> None:
    press, write = tab.page.keyboard.press, tab.page.keyboard.type
    await tab.open("/")
    await expect(tab.page.locator("#user")).to_be_focused()
    await write(tab.person.user_id)
    await press("Tab")
    await press("Enter")
    await press("Tab")
    await write(tab.person.tenant_id)
    await press("Enter")
    await tab.page.wait_for_url(f"{tab.url}/memory")
    await press("Tab")
    await expect(tab.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await press("Enter")
    for _ in range(10):
        await press("Tab")
        if await tab.page.locator("#text").evaluate("box => box === document.activeElement"):
            break
    await write("My bike is green")
    await press("Tab")
    await press("Enter")
    await tab.see("Remembered: My bike is green")
    link = tab.page.get_by_role("link", name="My bike is green")
    await link.focus()
    assert await link.evaluate("link => getComputedStyle(link).outlineStyle") == "solid", "where one is can be seen"
    await press("Enter")
    await tab.page.wait_for_url(re.compile(r"/memory/one/"))


async def test_user_text_is_not_executed(tab: Tab) -> None:
    text = "<script>document.title = 'mine'</script> <b>bold</b>"
    await tab.come_in()
    await remember(tab, text)
    await tab.page.get_by_role("link", name="<script>").click()
    await tab.page.wait_for_url(re.compile(r"/memory/one/"))
    await expect(tab.page.get_by_role("heading", level=1)).to_have_text(text)
    assert "mine" not in await tab.page.title()
