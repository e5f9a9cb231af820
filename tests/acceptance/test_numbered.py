"""Statements that differ in a number coexist, within a session and across sessions; corrections replace."""

import pytest

from tests.system.person import Person

CITIES = ("Lyon", "Nice", "Lille", "Metz", "Brest", "Dijon", "Tours", "Nantes", "Reims", "Rouen")
CITIES_ZH = ("杭州", "南京", "武汉", "长沙", "成都", "重庆", "西安", "青岛", "厦门", "昆明")
KINDS = {
    "出差": [f"出差第{n}次住在{city}的全季酒店。" for n, city in enumerate(CITIES_ZH, 1)],
    "发票": [f"记住：发票{1041 + n}寄给了{city}分公司。" for n, city in enumerate(CITIES_ZH)],
    "trips": [f"On trip {n} I stayed in {city}." for n, city in enumerate(CITIES, 1)],
    "rooms": [f"Remember that room {n + 11} is the {city} meeting room." for n, city in enumerate(CITIES)],
    "tickets": [f"Remember that ticket {n + 310} is about the {city} login page." for n, city in enumerate(CITIES)],
}


@pytest.mark.parametrize("kind", KINDS)
async def test_ten_numbered_statements_coexist(person: Person, kind: str) -> None:
    names = CITIES_ZH if kind in ("出差", "发票") else CITIES
    learnt: list[str] = []
    for n, (text, name) in enumerate(zip(KINDS[kind], names, strict=True)):
        outcome = await person.say(text, session=f"s{n % 3}")
        if outcome["status"] == "derived":
            learnt.append(name)
    known = " ".join(await person.contents())
    assert len(learnt) >= 5
    assert [name for name in learnt if name not in known] == []


@pytest.mark.parametrize(
    ("said", "corrected", "gone", "stands"),
    [
        ("记住：我的房间号是302。", "更正：我的房间号不是302，是305。", "号是302", "305"),
        ("Remember that my room number is 302.", "Correction: my room number is 305, not 302.", "is 302", "305"),
        ("My standup is in room 12.", "The standup is not in room 12, it is in room 14.", "in room 12", "room 14"),
        ("我在公司的工位是12号。", "我在公司的工位不是12号，是15号。", "是12号", "15号"),
    ],
)
async def test_a_corrected_number_is_gone(person: Person, said: str, corrected: str, gone: str, stands: str) -> None:
    await person.say(said)
    await person.say(corrected, session="s2")
    known = " ".join(m["content"] for m in (await person.get("/v1/memories", limit=200)).json()["memories"])
    assert stands in known
    assert gone not in known
