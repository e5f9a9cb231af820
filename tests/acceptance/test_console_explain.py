"""The console explains results: a message under one or two policies, a stored package, its replay, uses of a memory."""

import re
from collections.abc import AsyncGenerator

import pytest

from tests.system.console import Visitor, serving_console, visiting
from tests.system.person import Person
from tests.system.running import System, listening
from tests.system.wait import wait_for

SAID = {"en": "I love jasmine tea.", "zh": "我喜欢喝茉莉花茶。"}
ASKED = {"en": "Which tea do I like?", "zh": "我喜欢喝什么茶？"}
HIT = {"en": "jasmine tea", "zh": "茉莉花茶"}
SEEN = {
    "en": ("For people", "Budget", "Time of each step", "Plan", "candidates", "For the model"),
    "zh": ("给人看的内容", "预算", "各步骤用时", "检索计划", "个候选", "模型收到的内容"),
}


@pytest.fixture
async def url(system: System) -> AsyncGenerator[str]:
    """The console of a compose that needs no key on this machine."""
    async with listening(system) as compose_url, serving_console(compose_url) as address:
        yield address


async def signed_in(visitor: Visitor, person: Person) -> None:
    """The user's memory is open."""
    await visitor.sign_in(user=person.user_id, tenant=person.tenant_id)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_message_is_tried_and_every_step_is_shown(url: str, person: Person, language: str) -> None:
    await person.say(SAID[language])
    async with visiting(url, language=language) as visitor:
        await signed_in(visitor, person)
        await visitor.open("/explain/message")
        page = await visitor.send("/explain/message", message=ASKED[language])
        assert not [each for each in SEEN[language] if each not in page]
        assert HIT[language] in page
        assert "<user_memory" in page.split(SEEN[language][-1])[1], "as the model gets it"
        assert "<user_memory" not in page.split(SEEN[language][0])[1].split(SEEN[language][1])[0], "as a person does"
        assert page.count("<svg") > 2
        assert person.number("SELECT count(*) FROM injections WHERE user_id = %(u)s") == 0


async def test_two_policies_are_compared_and_an_invalid_one_is_named(url: str, person: Person) -> None:
    await person.say(SAID["en"])
    async with visiting(url) as visitor:
        await signed_in(visitor, person)
        await visitor.open("/explain/message")
        asked = {"message": ASKED["en"], "policy": "{}", "other": '{"compose": {"inject_limit": 0}}'}
        page = await visitor.send("/explain/message", **asked)
        one, other = page.split("Policy 2")[0], page.split("Policy 2")[-1]
        assert "Policy 1" in one
        assert HIT["en"] in one.split("For the model")[1]
        assert HIT["en"] not in other.split("For the model")[1]
        page = await visitor.send("/explain/message", 422, message=ASKED["en"], policy='{"compose": {"evidence": 1}}')
        assert "policy.compose.evidence" in page
        assert "not a JSON" in await visitor.send("/explain/message", 422, message=ASKED["en"], policy="{")
        assert "message" in await visitor.send("/explain/message", 422, message="")


async def test_a_package_is_opened_with_its_receipts_and_replayed(url: str, person: Person) -> None:
    await person.say(SAID["en"])
    package = await person.compose(ASKED["en"], session="asked")
    recorded = "SELECT count(*) FROM injections WHERE context_id = %(c)s"
    await wait_for(lambda: person.system.number(recorded, c=package.context_id), "the package is recorded")
    (known,) = [each for each in await person.memories() if HIT["en"] in each["content"]]
    async with visiting(url) as visitor:
        await signed_in(visitor, person)
        address = f"/explain/packages/{package.context_id}"
        assert address in await visitor.open("/explain")
        page = await visitor.open(address)
        assert "What the agent received: " in page
        assert re.search(rf'<a href="/memory/one/{known["memory_id"]}">[^<]*{HIT["en"]}', page), (
            "in its words, not its id"
        )
        assert "It met the question; it stands first among the evidence" in page
        assert "Nothing has changed" in await visitor.open(f"{address}/replay")
        await person.say("I don't like jasmine tea any more, I like oolong tea now.", session="later")
        page = await visitor.open(f"{address}/replay")
        assert "Nothing has changed" not in page
        assert "oolong" in page.split("The package now")[0], "among what is new or says something else"
        page = await visitor.open(f"/explain/memories/{known['memory_id']}")
        assert known["content"] in page
        await visitor.open("/explain/packages/00000000-0000-7000-8000-000000000000", 404)


async def test_the_empty_page_explains_the_first_step(url: str, person: Person) -> None:
    async with visiting(url) as visitor:
        await signed_in(visitor, person)
        page = await visitor.open("/explain")
        assert "No package yet" in page
        assert "/explain/message" in page
