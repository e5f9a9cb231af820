"""What a request to forget names is gone from memory and packages; what was said beside it stays."""

import pytest

from tests.system.person import Person, shown

SAID = {
    "en": (
        "I make 118k base plus bonus, I walk my dog every morning at six.",
        "wipe the bit about my salary ok? others use this screen",
        "118k",
        "walk my dog every morning",
        "What do I earn, and when do I walk my dog?",
    ),
    "zh": (
        "我体检查出乙肝小三阳，我现在在幼儿园当老师。",
        "乙肝那句删掉吧，别让人看见",
        "乙肝",
        "幼儿园当老师",
        "我体检怎么样，在哪儿当老师？",
    ),
}


@pytest.mark.parametrize(("told", "request_", "gone", "stays", "question"), SAID.values(), ids=SAID)
async def test_what_a_request_names_is_forgotten_and_the_rest_stays(
    person: Person, told: str, request_: str, gone: str, stays: str, question: str
) -> None:
    await person.say(told)
    await person.say(request_)
    contents = await person.contents()
    assert any(stays in each for each in contents), contents
    assert not any(gone in each for each in contents), contents
    package = shown(await person.compose(question))
    assert stays in package
    assert gone not in package
    marked = "SELECT count(*) FROM memory_items WHERE user_id = %(u)s AND provenance ? 'forgotten' AND status = "
    assert person.number(marked + "'retracted'") == 1
    assert person.number(marked + "'active'") == 0, "what stays is not forgotten"


async def test_a_package_obeys_a_request_that_is_still_on_its_way(person: Person) -> None:
    await person.say("I'm seeing a therapist on Mondays, I'm off gluten as well.")
    await person.commit("please delete what I told you about the therapist, the gluten thing you may keep")
    package = shown(await person.compose("What do I do on Mondays, and what do I not eat?"))
    assert "off gluten" in package
    assert "therapist on Mondays" not in package


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("My essay's second paragraph is about otters.", "delete the second paragraph please"),
        ("我购物单里有牛奶和鸡蛋。", "把购物单导出成文件，删掉空行"),
    ],
)
async def test_an_order_about_something_else_forgets_nothing(person: Person, told: str, said: str) -> None:
    await person.say(told)
    before = await person.contents()
    await person.say(said)
    assert set(before) <= set(await person.contents())


@pytest.mark.parametrize(
    ("said", "stays"),
    [
        ("家里保险柜密码 770213，备用钥匙在我弟那儿", "备用钥匙在我弟那儿"),
        ("Practice alarm code is 4471, and we're shut on Sundays", "we're shut on Sundays"),
    ],
)
async def test_what_is_said_beside_a_secret_is_remembered(person: Person, said: str, stays: str) -> None:
    outcome = await person.say(said)
    assert [each["reason"] for each in outcome["retention_explain"]].count("secret") == 1
    assert await person.contents() == [stays]
