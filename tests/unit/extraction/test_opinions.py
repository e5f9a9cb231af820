"""A judgement about a thing is an opinion; plans, uncertain facts and self-descriptions are none."""

import pytest

from shared.extraction.opinions import gives_opinion
from tests.unit.extraction.say import stated

OPINIONS = """
I think Rust is overrated.
In my opinion the new office is too loud.
I find the new layout confusing.
I think remote work is better than the office.
If you ask me, the subscription is a waste of money.
I believe phones should be banned in schools.
I don't think the course is worth the money.
To me, jazz is boring.
Personally I think my boss is unfair to the interns.
I feel the city has become too expensive.
Honestly, I think Kubernetes is overkill for our project.
My opinion is that microservices are a mistake for small teams.
I've always thought that open offices are terrible.
The way I see it, the tax is unfair.
I'd say Lisbon is the best city for a winter.
The last album is rubbish, if you ask me.
Imo the sequel was disappointing.
I find my commute exhausting.
I think our landlord is unreliable.
I still believe tabs make no sense.
我觉得这家公司的管理太乱。
依我看学区房不值。
我认为远程办公比坐班好。
在我看来这部电影很无聊。
我觉得Rust被高估了。
个人觉得新食堂的菜太咸了。
我感觉这个城市越来越没意思。
我不觉得这个课值这个价。
说实话，我觉得我们经理不公平。
要我说，这手机不如上一代。
我认为微服务对小团队来说太复杂。
我觉得我们小区的物业很不负责。
我一直觉得学区房不值那个价。
在我看来孩子上国际学校没必要。
我觉得杭州比上海宜居。
我觉得我的工作很无聊。
我的看法是加班文化应该取消。
我真心觉得这家店好吃。
这本书过誉了，我觉得。
对我来说，开会就是浪费时间。
"""
NONE = """
I think I'll move in May.
I think we met in 2019.
I think the meeting is on Friday.
I think I'm allergic to shrimp.
I think my passport expires in June.
I think the code for the gate is on the fridge.
I believe his name is Tom.
I guess the shop closes at six.
I feel tired.
I feel good today.
I think I should lose weight.
I think I'm too old for this.
I think my knee is bad again.
I think we should be at the airport by nine.
I think the parcel should arrive on Monday.
I think the watch is worth 500 euros.
I think it's too late to order.
I found a flat in Leeds.
I found the keys in my good coat.
I find out on Friday.
I found a beautiful house in Leeds.
My sister lives in a beautiful house.
The office is on the third floor.
I work at the best bakery in town.
She thinks the office is too loud.
I thought I was too slow.
我觉得我得减肥了。
我觉得我们是2019年认识的。
我觉得会议应该在周五。
我感觉有点累。
我认为我对虾过敏。
我觉得他叫王强。
我觉得护照六月到期。
我觉得我胖了。
我想我五月会搬家。
我觉得我太胖了。
我感觉最近睡眠很差。
我觉得现在太晚了。
我觉得钥匙在抽屉里。
我感觉很好。
我觉得快递明天到。
我觉得我们应该八点出发。
我在一家很好的公司上班。
我妈觉得这家店好吃。
我看电影去了。
我觉得头有点疼。
我觉得小李是四川人。
我认为合同是去年签的。
我觉得自己很笨。
我感觉肚子不太舒服。
我觉得密码是生日。
"""


def listed(table: str) -> list[str]:
    """The sentences of a table, one per line."""
    return table.strip().splitlines()


@pytest.mark.parametrize("said", listed(OPINIONS))
def test_a_judgement_of_a_thing_is_an_opinion(said: str) -> None:
    assert gives_opinion(said)
    assert gives_opinion(said.rstrip(".。"))


@pytest.mark.parametrize("said", listed(NONE))
def test_similar_sentences_are_none(said: str) -> None:
    assert not gives_opinion(said)


@pytest.mark.parametrize(
    ("said", "epistemic"),
    [
        ("Remember that I think Rust is overrated.", "opinion"),
        ("I think Kubernetes is overkill for our project.", "opinion"),
        ("I think our landlord is unreliable.", "opinion"),
        ("I find my commute exhausting.", "opinion"),
        ("记住我觉得这家公司的管理太乱。", "opinion"),
        ("我觉得我们小区的物业很不负责。", "opinion"),
        ("在我看来孩子上国际学校没必要。", "opinion"),
        ("I think I'm moving to Ghent in May with my two cats.", "fact"),
        ("I think my meeting with the bank is on Friday at nine.", "fact"),
        ("I think I'm allergic to shrimp.", "fact"),
        ("I don't like working in our new office, I think it's too loud.", "preference"),
        ("我认为我对虾过敏。", "fact"),
        ("我想我五月会搬家。", "fact"),
        ("Remember that the office is on the third floor.", "fact"),
    ],
)
def test_an_opinion_is_stored_as_such(said: str, epistemic: str) -> None:
    found = stated(said)
    assert {one.epistemic for one in found} == {epistemic}


@pytest.mark.parametrize("text", ["I think Kubernetes is overkill for our project.", "我认为小米的手机性价比最高"])
def test_an_opinion_is_a_note_with_low_confidence(text: str) -> None:
    (one,) = stated(text)
    assert (one.kind, one.epistemic, one.assertion) == ("note", "opinion", "inferred")
