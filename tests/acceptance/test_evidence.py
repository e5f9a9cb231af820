"""Evidence is informative: no gaps where package text was removed, and no bare replies."""

import pytest

from schemas.context_package import ContextPackage
from shared.language.replies import says_something
from tests.system.person import Person, user

TALKS = {
    "en": (
        ["We plan the move to Lyon, {n} boxes are packed.", "The van for the move costs {n} euros."],
        ["ok", "Will do.", "Sounds good!"],
        ["Let's continue with the move.", "What did I say about the move?", "ok"],
    ),
    "zh": (
        ["搬家去里昂的计划，已经打包了{n}个箱子。", "搬家的货车要{n}欧元。"],
        ["好的。", "收到，马上办。", "嗯嗯"],
        ["我们继续搬家的计划吧。", "搬家的事我说过什么？", "好的"],
    ),
}
SHOWN = {
    "en": (
        "The plumber fixed the boiler on Tuesday and left the bill with Ana.",
        "When did the plumber fix the boiler?",
    ),
    "zh": ("我的备用钥匙放在安娜家，自行车停在老汤的车库里。", "我的备用钥匙放在哪儿？"),
}


def list_evidence_texts(package: ContextPackage) -> list[str]:
    """The text of the evidence without tags."""
    return [each.snippet.partition(">")[2].rpartition("</")[0] for each in package.evidence]


@pytest.mark.parametrize("language", TALKS)
async def test_a_bare_reply_is_no_evidence(person: Person, language: str) -> None:
    statements, replies, questions = TALKS[language]
    for n in range(12):
        said, answer = statements[n % 2].format(n=n), replies[n % 3]
        messages = [user(said), {"role": "assistant", "content": answer}, user(replies[(n + 1) % 3])]
        await person.commit(messages=messages)
    await person.system.settled()
    for session in ("s1", "s2"):
        for question in questions:
            package = await person.compose(question, session=session)
            assert all(says_something(each) for each in list_evidence_texts(package)), list_evidence_texts(package)
            plan = {
                "version": "0.1",
                "queries": [{"text": question, "mode": mode} for mode in ("hybrid", "relational")],
            }
            pack = (await person.post("/v1/retrieve", {**person.whose, **plan, "session_id": session})).json()
            snippets = [each["snippet"] for each in pack["evidences"]]
            assert all(says_something(each) for each in snippets), snippets
        assert list_evidence_texts(await person.compose(questions[1], session="s2"))


@pytest.mark.parametrize("language", SHOWN)
async def test_an_answer_that_repeats_a_package_is_no_evidence(person: Person, language: str) -> None:
    said, question = SHOWN[language]
    await person.say(said)
    package = await person.compose(question)
    assert list_evidence_texts(package)
    shown = "\n".join(f"- “{each}”。" for each in list_evidence_texts(package))
    messages = [user(question), {"role": "assistant", "content": shown}]
    await person.say(session="s2", context_id=package.context_id, messages=messages)
    long = "\n".join([shown] * 12) + "\nAnything else? The pharmacy sells lupin-free bread. 药店有卖。"
    messages = [user(question), {"role": "assistant", "content": long}]
    await person.say(session="s3", context_id=package.context_id, messages=messages)
    again = await person.compose(question, session="s4")
    assert said.rstrip("。.") in "\n".join(list_evidence_texts(again))
    for each in list_evidence_texts(again):
        assert says_something(each), list_evidence_texts(again)
        assert " " * 6 not in each
