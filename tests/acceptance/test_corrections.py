"""A correction ends the memory that it names and leaves memories that only share words with it."""

import pytest

from tests.system.erasures import completed, erase
from tests.system.person import Person

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize(
    ("said", "corrects", "stays", "ends"),
    [
        (
            ("The sales review is on Tuesday.", "The hiring sync is on Tuesday."),
            "The sales review is on Friday, not Tuesday.",
            ("The hiring sync is on Tuesday", "The sales review is on Friday"),
            "The sales review is on Tuesday",
        ),
        (
            ("产品周会是周三下午三点。", "销售例会是周三下午三点。"),
            "产品周会不是周三下午三点，是周五下午四点。",
            ("销售例会是周三下午三点", "产品周会是周五下午四点"),
            "产品周会是周三下午三点",
        ),
        (
            ("I like folk music.", "I like folk music festivals."),
            "I no longer like folk music.",
            ("I like folk music festivals",),
            "I like folk music",
        ),
        (("我喜欢喝绿茶。", "我喜欢喝绿茶拿铁。"), "我不再喜欢喝绿茶了。", ("我喜欢喝绿茶拿铁",), "我喜欢喝绿茶"),
    ],
)
async def test_a_correction_leaves_memories_that_only_share_words(
    person: Person, said: tuple[str, ...], corrects: str, stays: tuple[str, ...], ends: str
) -> None:
    for text in (*said, corrects):
        await person.say(text)
    known = await person.contents()
    assert set(stays) <= set(known)
    assert ends not in known


@pytest.mark.parametrize(
    ("said", "then", "stands"),
    [
        (
            "我们决定分区域上线，先上杭州机房，再上上海机房。",
            "对了，我上周搬家了，我现在住在上海。",
            ("我们决定分区域上线，先上杭州机房，再上上海机房", "我现在住在上海"),
        ),
        (
            "We decided to roll out by region, first Leeds, then Oslo.",
            "By the way, I moved last week, I live in Oslo now.",
            ("We decided to roll out by region, first Leeds, then Oslo", "I moved last week, I live in Oslo now"),
        ),
        ("我的手术约在15号，在协和做。", "手术改到20号了。", ("我的手术约在20号，在协和做",)),
        (
            "My surgery is on the 15th, Brennan drives me.",
            "They moved the surgery to the 20th.",
            ("My surgery is on the 20th, Brennan drives me",),
        ),
    ],
)
async def test_a_shared_place_ends_nothing_and_a_moved_day_replaces_the_old_one(
    person: Person, said: str, then: str, stands: tuple[str, ...]
) -> None:
    await person.say(said)
    await person.say(then)
    known = await person.contents()
    assert set(stands) <= set(known)
    assert "手术改到20号了" not in known
    assert not any("15" in text for text in known)


async def test_the_rest_of_an_ended_memory_stays_alone_and_is_erased_with_it(person: Person) -> None:
    await person.say("Our standup is at 9, I take the notes.")
    await person.say("The standup moved to 10.")
    known = {each["content"]: each["memory_id"] for each in await person.memories()}
    assert "I take the notes" in known
    assert not any("at 9" in text or (text != "I take the notes" and "notes" in text) for text in known)
    await completed(person, await erase(person, "items", memory_ids=[known["I take the notes"]]))
    assert not any("notes" in text for text in await person.contents())
