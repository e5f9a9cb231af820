"""A correction replaces one value in the memory that it corrects; the rest keeps its words."""

from typing import Any

import pytest

from tests.system.erasures import completed, erase, found, mine_holds
from tests.system.person import Person, shown

pytestmark = pytest.mark.kafka

Json = dict[str, Any]
CASES = {
    "en": (
        "My flight to Lisbon leaves at 7:40 on Friday and I'm taking the green suitcase.",
        "no, 9:15",
        ("9:15", "green suitcase"),
        "7:40",
        "When does my flight to Lisbon leave?",
    ),
    "en, a role": (
        "My manager is Theo Brandt and we meet every other Wednesday.",
        "My manager is now Yolanda Pierce.",
        ("Yolanda Pierce", "every other Wednesday"),
        "Theo",
        "Who is my manager?",
    ),
    "zh": (
        "我的快递放在三号楼的柜子里，取件码是李阿姨保管。",
        "打错了，四号楼",
        ("四号楼", "李阿姨"),
        "三号楼",
        "我的快递在哪里？",
    ),
    "zh, a role": (
        "我们部门经理是王强，每周一都要开晨会。",
        "部门经理换成了赵敏。",
        ("赵敏", "每周一"),
        "王强",
        "我们部门经理是谁？",
    ),
}
PARTS = {
    "en": (
        "I see Dr Whitcombe for my thyroid, he put me on 100 of levothyroxine.",
        "My consultant's changed, I'm seen by a Dr Rahmani at the Northgate clinic now.",
        "Rahmani",
        "levothyroxine",
        "Whitcombe",
        "Which doctor do I see for my thyroid?",
    ),
    "zh": (
        "我烟一天半包，酒一口不碰，体检尿酸偏高。",
        "烟戒了，今天第十天。",
        "烟戒了",
        "酒一口不碰",
        "半包",
        "我现在还抽烟吗？",
    ),
}
"""The statement, the message that ends part of it, and words of the resulting, remaining and ended text."""
ENDED = {
    "en": (
        "I drive for Lyft on weekends, my sister is a dentist",
        "I don't drive for Lyft any more.",
        "Lyft",
        "dentist",
    ),
    "zh": ("我每天早上跑步，晚上八点以后不接电话。", "我现在不跑步了。", "跑步", "不接电话"),
}
ALL = pytest.mark.parametrize("case", CASES)


async def _commit_correction(person: Person, case: str, session: str = "first") -> Json:
    """The memory after the statement and its correction."""
    said, correction, *_ = CASES[case]
    await person.say(said, session="first")
    await person.say(correction, session=session)
    words = CASES[case][2]
    left = [m for m in await person.memories() if all(word in m["content"] for word in words)]
    assert len(left) == 1, await person.contents()
    return left[0]


@ALL
async def test_a_correction_changes_the_value_and_keeps_the_rest(person: Person, case: str) -> None:
    memory = await _commit_correction(person, case)
    old, question = CASES[case][3:]
    assert not [text for text in await person.contents() if old in text]
    package = await person.compose(question, session="later")
    evidence = "\n".join(each.snippet for each in package.evidence) + "\n".join(b.text for b in package.system_blocks)
    assert CASES[case][2][0] in evidence
    assert old not in shown(package)
    assert memory["content"] in evidence


@pytest.mark.parametrize("language", ENDED)
async def test_the_rest_of_an_ended_statement_stays_and_is_erased_with_its_turn(person: Person, language: str) -> None:
    said, end, ended, rest = ENDED[language]
    await person.say(said, session="first")
    turn = await person.commit(end, session="second")
    package = await person.compose(rest, session="third")
    assert rest in shown(package)
    await person.outcome(turn["turn_id"])
    (content,) = [text for text in await person.contents() if rest in text]
    assert ended not in content
    await completed(person, await erase(person, "session", session_ids=["first"]))
    for table in found(person.system.dsn, rest):
        assert not mine_holds(person, table, rest), table


@pytest.mark.parametrize("session", ["first", "second"])
@pytest.mark.parametrize("case", ["en, a role", "zh, a role"])
async def test_erasing_either_turn_erases_the_amended_memory(person: Person, case: str, session: str) -> None:
    _, _, words, old, _ = CASES[case]
    await _commit_correction(person, case, "second")
    value = {"first": old, "second": words[0]}[session]
    await completed(person, await erase(person, "session", session_ids=[session]))
    for table in found(person.system.dsn, value):
        assert not mine_holds(person, table, value), table
    assert not [text for text in await person.contents() if words[0] in text and words[1] in text]


@ALL
async def test_the_previous_version_can_be_restored_and_amended_again(person: Person, case: str) -> None:
    _, _, words, old, _ = CASES[case]
    memory = await _commit_correction(person, case)
    chain = (await person.get(f"/v1/memories/{memory['memory_id']}/history")).json()["memories"]
    assert [old in each["content"] for each in chain] == [True, False]
    answer = await person.system.http.post(f"/v1/memories/{chain[0]['memory_id']}/restore", params=person.whose)
    assert answer.status_code == 202, answer.text
    await person.outcome(answer.json()["turn_id"])
    assert [text for text in await person.contents() if old in text and words[1] in text]
    assert not [text for text in await person.contents() if words[0] in text]
    back = await person.system.http.post(f"/v1/memories/{memory['memory_id']}/restore", params=person.whose)
    assert back.status_code == 202, back.text
    await person.outcome(back.json()["turn_id"])
    assert [text for text in await person.contents() if words[0] in text and words[1] in text]
    assert not [text for text in await person.contents() if old in text]


@ALL
async def test_the_next_package_after_the_correction_has_the_new_value(person: Person, case: str) -> None:
    said, correction, words, _, question = CASES[case]
    await person.say(said, session="first")
    await person.commit(correction, session="first")
    package = await person.compose(question, session="first")
    assert words[0] in shown(package)


@pytest.mark.parametrize("language", PARTS)
async def test_the_remaining_part_of_a_memory_coexists_with_the_end_of_the_other_part(
    person: Person, language: str
) -> None:
    said, end, new, rest, old, question = PARTS[language]
    await person.say(said, session="first")
    turn = await person.commit(end, session="second")
    package = shown(await person.compose(question, session="third"))
    assert new in package
    assert old not in package
    await person.outcome(turn["turn_id"])
    known = {each["content"]: each["memory_id"] for each in await person.memories()}
    (left,) = [text for text in known if rest in text]
    (stands,) = [text for text in known if new in text]
    assert left != stands
    assert left in said
    assert not any(old in text for text in known)
    chain = (await person.get(f"/v1/memories/{known[stands]}/history")).json()["memories"]
    assert [old in each["content"] for each in chain] == [True, False]
    answer = await person.system.http.post(f"/v1/memories/{chain[0]['memory_id']}/restore", params=person.whose)
    await person.outcome(answer.json()["turn_id"])
    contents = await person.contents()
    assert any(old in text for text in contents)
    assert not any(new in text for text in contents)


@pytest.mark.parametrize("session", ["first", "second"])
@pytest.mark.parametrize("language", PARTS)
async def test_the_remaining_part_of_a_memory_is_erased_with_its_turn(
    person: Person, language: str, session: str
) -> None:
    said, end, new, rest, old, _ = PARTS[language]
    await person.say(said, session="first")
    await person.say(end, session="second")
    await completed(person, await erase(person, "session", session_ids=[session]))
    gone, stays = ((old, rest), new) if session == "first" else ((new,), rest)
    for value in gone:
        for table in found(person.system.dsn, value):
            assert not mine_holds(person, table, value), table
    assert [text for text in await person.contents() if stays in text]


@pytest.mark.parametrize(
    ("first", "second", "stay"),
    [
        (
            "My friend Dana owns a bakery in Leeds.",
            "My friend is now Tom's business partner in York.",
            "bakery in Leeds",
        ),
        ("My brother Ben lives in Leeds.", "My brother is Tom, the tall one.", "Ben lives in Leeds"),
        ("我朋友小林在医院当护士。", "我朋友现在是大刘，我们一起爬山。", "小林在医院"),
    ],
)
async def test_a_correction_of_a_shared_role_ends_none_of_its_holders(
    person: Person, first: str, second: str, stay: str
) -> None:
    await person.say(first)
    await person.say(second)
    listed = (await person.get("/v1/memories", limit=200)).json()["memories"]
    assert [m for m in listed if stay in m["content"]], listed


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("I moved the repo to GitLab and my mentor is Priya Nair.", "Priya Nair reviews what I push to GitLab."),
        ("我把仓库搬到 GitLab 了，导师是陈国栋。", "陈国栋会在 GitLab 上看我提交的代码。"),
    ],
)
async def test_names_are_listed_only_on_request(person: Person, said: str, again: str) -> None:
    await person.say(said)
    await person.say(again)
    listed = (await person.get("/v1/memories", limit=200)).json()["memories"]
    assert listed
    assert not [m for m in listed if m["type"] == "entity" and m["key"]]
    names = (await person.get("/v1/memories", limit=200, type="entity")).json()["memories"]
    assert names
    assert all(m["type"] == "entity" for m in names)


async def _talk(person: Person, *lines: tuple[str, str]) -> None:
    """Commits the lines one after the other, each by a named speaker."""
    for name, text in lines:
        messages = [{"role": "user", "name": name, "content": text}]
        answer = await person.post("/v1/turns", {**person.whose, "session_id": "s1", "messages": messages})
        assert answer.status_code in (200, 201), answer.text
        await person.outcome(answer.json()["turn_id"])


@pytest.mark.parametrize(
    ("speaker", "said", "thanks", "kept"),
    [
        ("Melanie", "I ran a charity race for mental health last Saturday.", "Thanks, Caroline!", "charity race"),
        ("Jon", "I'm working on opening a dance studio in Leeds.", "Congrats, Gina!", "dance studio"),
        ("小林", "我上周六跑了一场马拉松。", "谢谢，阿强！", "马拉松"),
    ],
)
async def test_thanks_to_a_name_change_no_statement(
    person: Person, speaker: str, said: str, thanks: str, kept: str
) -> None:
    await _talk(person, (speaker, said), (speaker, thanks))
    assert [text.partition(":")[0] for text in await person.contents() if kept in text] == [speaker]


@pytest.mark.parametrize(
    ("first", "second", "said", "answered", "kept"),
    [
        ("Melanie", "Caroline", "I live in Oslo and work as a nurse.", "I live in Bergen, not Oslo.", "Oslo"),
        ("Melanie", "Caroline", "My flight to Lisbon leaves at 7:40 on Friday.", "no, 9:15", "7:40"),
        ("小林", "阿强", "我住在泉州，在医院当护士。", "我住在厦门，不是泉州。", "泉州"),
        ("小林", "阿强", "我的快递放在三号楼的柜子里。", "打错了，四号楼", "三号楼"),
    ],
)
async def test_a_correction_by_one_speaker_leaves_the_statements_of_others(
    person: Person, first: str, second: str, said: str, answered: str, kept: str
) -> None:
    await _talk(person, (first, said), (second, answered))
    assert [text for text in await person.contents() if text.startswith(first) and kept in text]
