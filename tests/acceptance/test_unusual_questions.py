"""Unusual questions: six topics in one, a story before the question, a literal quote."""

from typing import Any

import pytest

from tests.system.person import Person, shown, user

FACTS = {
    "en": {
        "Rex": "Rex limps since he jumped off the wall.",
        "the lease": "The lease for the flat runs until June.",
        "my piano teacher": "My piano teacher moved to Graz and gives lessons by video.",
        "the blood test": "The blood test showed too little iron.",
        "the Lisbon trip": "For the Lisbon trip we take the night train.",
        "the blue car": "The blue car failed its inspection because of the brakes.",
    },
    "zh": {
        "旺财": "旺财从墙上跳下来以后一直瘸着。",
        "租约": "公寓的租约到六月底为止。",
        "钢琴老师": "钢琴老师搬去成都了，改成视频上课。",
        "体检": "体检查出来缺铁，医生开了铁剂。",
        "大理旅行": "大理旅行我们坐夜车去。",
        "蓝色的车": "蓝色的车因为刹车没通过年检。",
    },
}
CHATTER = {
    "en": [
        "Lunch was late today.",
        "The neighbours have a new fence.",
        "It rained on the way home.",
        "I read till two.",
    ],
    "zh": ["今天午饭吃得晚。", "邻居家新修了篱笆。", "回家路上下雨了。", "我看书看到两点。"],
}
LISTS = {"en": ("What about {}, and {}?", ", "), "zh": ("{}和{}怎么样了？", "、")}
STORIES = {
    "en": "I hope your day was better than mine. My boss called three meetings, the lift broke, and then the "
    "supermarket had no bread left, so we ate crackers. Anyway. Why did the blue car fail its inspection?",
    "zh": "希望你今天过得比我好。老板开了三个会，电梯还坏了，超市里面包也卖光了，我们只好吃饼干。不说这些了。"
    "蓝色的车为什么没通过年检？",
}
REPLIES = {"en": "Sounds good, thanks!", "zh": "好的，谢谢！"}


async def search_texts(person: Person, text: str, **ranking: Any) -> list[str]:
    """The results of a search for this."""
    plan = {"version": "0.1", "queries": [{"text": text}], "ranking": ranking}
    answer = await person.post("/v1/retrieve", {**person.whose, **plan})
    assert answer.status_code == 200, answer.text
    return [each["snippet"] for each in answer.json()["evidences"]]


async def tell(person: Person, language: str) -> None:
    """The facts, each in its own session among other messages."""
    for n, fact in enumerate(FACTS[language].values()):
        for text in (*CHATTER[language], fact, *CHATTER[language]):
            await person.commit(f"{text}", session=f"s{n}")
    reply = {"role": "assistant", "content": REPLIES[language]}
    await person.commit(messages=[user(CHATTER[language][0]), reply], session="s9")
    await person.system.settled()


@pytest.mark.parametrize("language", FACTS)
async def test_every_part_of_an_unusual_question_is_answered(person: Person, language: str) -> None:
    await tell(person, language)
    *things, last = FACTS[language]
    frame, comma = LISTS[language]
    facts = [fact.rstrip(".。") for fact in FACTS[language].values()]
    told = "\n".join(await search_texts(person, frame.format(comma.join(things), last)))
    assert [fact for fact in facts if fact not in told] == []
    together = " ".join(f"{thing}?" for thing in FACTS[language])
    package = await person.compose(together, session="new")
    assert [fact for fact in facts if fact not in shown(package)] == []
    assert facts[-1] in (await search_texts(person, STORIES[language]))[0]


@pytest.mark.parametrize("language", REPLIES)
async def test_a_reply_is_found_by_its_literal_words_and_is_no_evidence(person: Person, language: str) -> None:
    await tell(person, language)
    assert REPLIES[language] in await search_texts(person, REPLIES[language], min_score=0)
    package = await person.compose(REPLIES[language], session="new")
    assert not any(REPLIES[language] in each.snippet for each in package.evidence)
