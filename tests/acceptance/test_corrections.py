"""A correction ends what it names, and leaves what merely has the same words."""

import pytest

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
async def test_a_correction_leaves_what_merely_has_the_same_words(
    person: Person, said: tuple[str, ...], corrects: str, stays: tuple[str, ...], ends: str
) -> None:
    for text in (*said, corrects):
        await person.say(text)
    known = await person.contents()
    assert set(stays) <= set(known)
    assert ends not in known
