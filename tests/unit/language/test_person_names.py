"""A person's name is extracted even if it is rare or stated together with other facts; in both languages."""

from datetime import UTC, datetime

import pytest

from shared.extraction import MessageText, ObserveContext, ObservePolicy, TurnText, observe
from shared.language.names import is_name, is_nothing_else

AT = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)
NAMES = {
    "zh": (
        "林晓",
        "邵子博",
        "韩子",
        "丁晨芳",
        "欧阳雪松",
        "上官婉",
        "马桐",
        "張偉",
        "贾梅晓",
        "田芳嘉",
        "王建国",
        "陆瑶",
    ),
    "en": ("Fatima", "Priya Patel", "Ryan", "Theo", "Justin Khan", "Emma", "Susan Okafor", "Lin Xiao", "Sven", "Noah"),
}
SAID = {
    "zh": (
        "我叫{}。",
        "我叫{}，我对花生过敏。",
        "你好，我是{}，请问怎么安装Python？",
        "大家好，我是{}。",
        "叫我{}就行，我住在杭州。",
        "我的名字是{}",
    ),
    "en": (
        "My name is {}.",
        "My name is {} and I am allergic to peanuts.",
        "You can call me {}.",
        "Hello! I'm called {}. I run every morning.",
        "I'm {}, I live in Leeds.",
        "Call me {}, please.",
    ),
}


def known(text: str) -> dict[str, str]:
    """The values stored under a key."""
    turn = TurnText((MessageText("user", text, None, 0, AT),))
    found = observe(turn, ObserveContext(occurred_at=AT), ObservePolicy()).observations
    return {each.key: each.text for each in found if each.key}


@pytest.mark.parametrize(("said", "name"), [(s, n) for lang, said in SAID.items() for s in said for n in NAMES[lang]])
def test_a_name_is_extracted(said: str, name: str) -> None:
    found = known(said.format(name))
    assert any(name in found.get(f"profile:user:{slot}", "") for slot in ("name", "call_me")), found


@pytest.mark.parametrize(
    "text",
    [
        "我叫外卖。",
        "我叫黄焖鸡米饭外卖，多久能到？",
        "我叫车回家。",
        "我叫他来接我。",
        "我是程序员。",
        "我是高中生。",
        "我是温州人。",
        "我是白领。",
        "我是成功的。",
        "我是安全员。",
        "我是真心的。",
        "我是江南人。",
        "如果我叫林晓，你会怎么称呼我？",
        "她说我叫王芳。",
        "Call me the moment you land.",
        "Call me a cab.",
        "I'm sure.",
        "I'm Not happy.",
    ],
)
def test_other_words_are_no_name(text: str) -> None:
    assert not {"profile:user:name", "profile:user:call_me"} & known(text).keys()


@pytest.mark.parametrize(
    ("text", "name", "alone"),
    [
        ("林晓", True, True),
        ("欧阳雪松", True, True),
        ("高兴", True, False),
        ("江南", True, False),
        ("成功", True, False),
        ("程序员", False, False),
        ("小林", False, False),
        ("欧阳", False, False),
        ("王", False, False),
        ("Lin", False, False),
        ("", False, False),
    ],
)
def test_a_name_consists_of_a_surname_and_given_names(text: str, name: bool, alone: bool) -> None:
    assert (is_name(text), is_nothing_else(text)) == (name, alone)
