"""Import of another user's export in a browser."""

import json
import re
from pathlib import Path
from typing import Any

from playwright.async_api import FilePayload, expect

from tests.browser.conftest import Tab
from tests.browser.test_every_page import find_violations
from tests.system.wait import wait_for


async def take_along(tab: Tab) -> dict[str, Any]:
    await tab.come_in()
    await tab.page.get_by_role("link", name="Settings").click()
    async with tab.page.expect_download() as started:
        await tab.page.get_by_role("link", name="JSON").click()
    return read_document(await (await started.value).path())


def read_document(path: str | Path) -> dict[str, Any]:
    return json.loads(Path(path).read_bytes())


async def choose(tab: Tab, document: object) -> None:
    async with tab.page.expect_file_chooser() as opened:
        await tab.page.get_by_label("An exported file (JSON)").click()
    file = FilePayload(name="memory.json", mimeType="application/json", buffer=json.dumps(document).encode())
    await (await opened.value).set_files(file)


async def drop(tab: Tab, path: Path) -> None:
    """Drops the file on the field, as from the desktop."""
    box = await tab.page.get_by_label("An exported file (JSON)").bounding_box()
    assert box
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    devtools = await tab.page.context.new_cdp_session(tab.page)
    for kind in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        await devtools.send("Input.dispatchDragEvent", {"type": kind, **place, "data": data})
    await expect(tab.page.get_by_label("An exported file (JSON)")).to_have_value(re.compile(path.name))


async def test_an_export_is_imported_for_another_user(tab: Tab, tmp_path: Path) -> None:
    await tab.person.say("I live in Rotterdam.")
    document = await take_along(tab)
    await tab.open("/whose")
    await tab.page.get_by_label("User id", exact=True).fill(f"{tab.person.user_id}-elsewhere")
    await tab.page.get_by_role("button", name="Show").click()
    await tab.see("Nothing is known yet")
    await tab.page.get_by_role("link", name="Settings").click()
    (memory,) = document["memories"]
    bring_in = tab.page.get_by_role("button", name="Import")
    await choose(tab, {**document, "memories": [{**memory, "confidence": "quite"}]})
    await bring_in.click()
    await tab.see("memories.0.confidence")
    assert await find_violations(tab.page) == []
    tab.complaints = [each for each in tab.complaints if "422" not in each]  # the page that names the field
    await tab.page.go_back()
    file = tmp_path / "memory.json"
    file.write_text(json.dumps(document))
    await bring_in.scroll_into_view_if_needed()
    await drop(tab, file)
    await bring_in.click()
    await tab.see("Imported: 1 memories, 1 turns, 1 conversations.")
    await tab.page.get_by_role("link", name="Facts").click()

    async def learnt() -> bool:
        await tab.page.reload()
        return await tab.page.get_by_role("link", name="Rotterdam").count() == 1

    await wait_for(learnt, "what was brought in is known")
