"""Explanations in a browser: a message, two policies, a package, its replay."""

import pytest

from tests.browser.conftest import Tab
from tests.browser.test_every_page import find_violations


async def test_a_message_is_explained_and_two_policies_are_compared(tab: Tab) -> None:
    await tab.person.say("I love jasmine tea.")
    await tab.come_in()
    await tab.page.get_by_role("link", name="Explain").click()
    await tab.page.get_by_role("link", name="Try a message").first.click()
    await tab.page.get_by_label("Message").fill("Which tea do I like?")
    await tab.page.get_by_role("button", name="Explain").click()
    for heading in ("For people", "Budget", "Plan", "For the model"):
        await tab.page.get_by_role("heading", name=heading).wait_for()
    await tab.see("I love jasmine tea")
    assert await find_violations(tab.page) == []
    await tab.page.get_by_text("With another policy").click()
    await tab.page.get_by_label("Second policy, for comparison").fill('{"compose": {"inject_limit": 0}}')
    await tab.page.get_by_role("button", name="Explain").click()
    await tab.page.get_by_role("heading", name="Policy 2").wait_for()
    assert await tab.page.locator(".sides > section").count() == 2
    assert await find_violations(tab.page) == []


async def test_a_package_is_opened_and_replayed(tab: Tab) -> None:
    await tab.person.say("我喜欢喝茉莉花茶。")
    await tab.person.compose("我喜欢喝什么茶？", session="asked")
    await tab.come_in()
    await tab.page.get_by_role("button", name="中文").click()
    await tab.page.get_by_role("link", name="解释").click()
    await tab.page.locator("tbody tr td a").first.click()
    await tab.page.get_by_role("heading", name="当时的上下文包").wait_for()
    await tab.see("茉莉花茶")
    assert await find_violations(tab.page) == []
    await tab.page.get_by_role("link", name="现在会是什么？").click()
    await tab.see("没有变化")
    assert await find_violations(tab.page) == []


@pytest.mark.parametrize("act", ["Redrive", "Drop"])
async def test_stuck_work_is_released_in_three_clicks(tab: Tab, act: str) -> None:
    turn = await tab.person.commit("I love jasmine tea.")
    await tab.person.outcome(turn["turn_id"])
    whose = {"t": tab.person.tenant_id, "u": tab.person.user_id, "turn": turn["turn_id"]}
    await tab.person.system.change(GIVEN_UP, **whose)
    await tab.person.system.change(UNSETTLED, turn=turn["turn_id"])
    await tab.come_in()
    await tab.open(f"/operations?tenant={tab.person.tenant_id}&user={tab.person.user_id}")
    await tab.page.get_by_role("link", name="that wait for you to redrive or drop them: 1").click()
    await tab.page.locator("tbody tr td a").first.click()
    await tab.see("the disk was full")
    assert await find_violations(tab.page) == []
    await tab.page.get_by_label("Reason").fill("there is room again")
    await tab.page.get_by_role("button", name=act, exact=True).click()
    await tab.see("It was redriven" if act == "Redrive" else "It was dropped")
    await tab.person.system.change(
        "UPDATE turns SET outcome_at = now() WHERE turn_id = %(turn)s AND outcome_at IS NULL", turn=turn["turn_id"]
    )


async def test_the_flow_refreshes_and_a_turn_is_followed(tab: Tab) -> None:
    turn = await tab.person.commit("I love jasmine tea.")
    await tab.person.outcome(turn["turn_id"])
    await tab.come_in()
    await tab.page.get_by_role("link", name="Operations").click()
    async with tab.page.expect_response(lambda answer: "/operations/flow" in answer.url):
        pass
    await tab.page.get_by_placeholder("Turn id").fill(turn["turn_id"])
    await tab.page.get_by_role("button", name="Follow").click()
    await tab.see("All steps are done.")
    assert await find_violations(tab.page) == []


GIVEN_UP = """
INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, turn_id, event_id, reason)
VALUES (%(t)s, %(u)s, gen_random_uuid(), 'observer', %(turn)s, gen_random_uuid(), 'the disk was full')
"""
UNSETTLED = "UPDATE turns SET outcome_at = NULL WHERE turn_id = %(turn)s"
