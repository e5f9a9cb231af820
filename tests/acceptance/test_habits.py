"""An activity that a user mentions repeatedly in short messages becomes one pattern; other frequent phrases do not."""

from collections.abc import Sequence
from typing import Any

import pytest

from services.cli.rebuild.run import rebuild
from shared.domain.subjects import Subject
from tests.system.erasures import completed, erase, found, mine_holds
from tests.system.person import Person, shown

pytestmark = pytest.mark.kafka

Json = dict[str, Any]
HABITS = {
    "zh": (
        (
            "跑步回来了",
            "刚跑完步",
            "去跑步了",
            "跑步回来了，好累",
            "今天跑完步了",
            "跑步打卡",
            "跑步结束",
            "刚跑步回来",
        ),
        "我平时怎么锻炼？",
        "pattern:habit:跑步",
        "好累",
    ),
    "en": (
        (
            "Just got back from my run",
            "went for a run",
            "run done!",
            "Back from a run, exhausted",
            "I'm off for a run",
            "Went for a run.",
            "morning run done",
            "just finished my run",
        ),
        "What do I do for exercise?",
        "pattern:habit:run",
        "exhausted",
    ),
}
BESIDE = {
    "zh": (
        "我住在杭州，是一名护士。",
        "我对花生过敏。",
        "我喜欢看科幻小说。",
        "下周三要去上海出差。",
        "我最近在学吉他。",
    ),
    "en": (
        "I live in Portland and work as a nurse.",
        "I'm allergic to peanuts.",
        "I love science fiction novels.",
        "I have a work trip to Denver next Wednesday.",
        "I'm learning the guitar.",
    ),
}
"""Other memories of the user."""
AGAIN = {
    "the same words": ("跑步回来了",) * 6,
    "the same words, en": ("went for a run",) * 6,
    "read as what happened": (
        "I went swimming this morning",
        "back from swimming",
        *("I went swimming this morning",) * 4,
    ),
    "read as a constraint": ("接孩子放学去了",) * 6,
    "read as a task": ("Just finished my flat white",) * 6,
}
ALL = pytest.mark.parametrize("language", HABITS)


async def tell(person: Person, texts: Sequence[str], start: int = 0) -> None:
    """Commits each message in its own session, on its own day."""
    for n, text in enumerate(texts, start):
        await person.say(text, session=f"day{n}", created_at=f"2026-03-{n + 2:02d}T07:30:00Z")


@ALL
async def test_six_sessions_create_one_pattern_and_nothing_else(person: Person, language: str) -> None:
    texts, _, key, _ = HABITS[language]
    await tell(person, texts[:6])
    (memory,) = await person.memories()
    assert (memory["type"], memory["key"], memory["content"]) == ("pattern", key, texts[3])
    assert (memory["provenance"]["class"], memory["assertion"]) == ("analysis", "behaviour")
    assert memory["confidence"] == pytest.approx(0.7)
    assert memory["value"] == {"times": 4, "since": "2026-03-02", "quote": texts[3]}


@ALL
async def test_a_related_question_gets_the_habit_in_its_package(person: Person, language: str) -> None:
    texts, question, *_ = HABITS[language]
    for n, text in enumerate(BESIDE[language]):
        await person.say(text, session=f"beside{n}", created_at=f"2026-02-{n + 2:02d}T07:30:00Z")
    await tell(person, texts[:6])
    package = await person.compose(question, session="later")
    (habit,) = [each.snippet for each in package.evidence if 'type="habit"' in each.snippet]
    assert texts[3] in habit
    assert texts[3] in shown(package)


@pytest.mark.parametrize("read", AGAIN)
async def test_one_memory_remains_however_a_single_mention_is_classified(person: Person, read: str) -> None:
    await tell(person, AGAIN[read])
    (memory,) = await person.memories()
    assert (memory["type"], memory["assertion"]) == ("pattern", "behaviour")


@ALL
async def test_the_pattern_is_renewed_at_eight_sessions_with_its_count(person: Person, language: str) -> None:
    texts, *_ = HABITS[language]
    await tell(person, texts)
    (memory,) = await person.memories()
    assert (memory["content"], memory["value"]["times"], memory["value"]["since"]) == (texts[7], 8, "2026-03-02")
    versions = (await person.get(f"/v1/memories/{memory['memory_id']}/history")).json()["memories"]
    assert [m["value"]["times"] for m in versions if m["type"] == "pattern"] == [4, 8]


@pytest.mark.parametrize(
    "said",
    [
        ("thank you", "thanks a lot", "thank you so much", "thank you!"),
        ("good morning", "Good morning!", "morning", "good morning"),
        ("yes please", "ok", "ok thanks", "yes please"),
        ("write me a mail", "write me an email", "please write me a mail", "write me a mail"),
        ("谢谢", "谢谢你", "多谢了", "谢谢啦"),
        ("早上好", "早", "早上好", "早安"),
        ("好的", "知道了", "好了", "好的知道了"),
        ("帮我写封邮件", "写封邮件", "帮我写封邮件吧", "帮我写封邮件"),
        ("我老公去跑步了", "我老公跑步去了", "我老公跑步回来了", "我老公去跑步了"),
    ],
)
async def test_other_short_messages_create_no_pattern(person: Person, said: Sequence[str]) -> None:
    await tell(person, [*said, said[0], said[1]])
    assert not [m for m in await person.memories() if m["type"] == "pattern"]


@ALL
async def test_mentions_on_two_days_create_no_pattern(person: Person, language: str) -> None:
    for n, text in enumerate(HABITS[language][0]):
        await person.say(text, session=f"s{n}", created_at=f"2026-03-{n % 2 + 2:02d}T{n + 7:02d}:30:00Z")
    assert not [m for m in await person.memories() if m["type"] == "pattern"]


@ALL
async def test_erasing_the_creating_turn_erases_the_pattern_and_the_next_turn_creates_it_again(
    person: Person, language: str
) -> None:
    texts, _, key, own = HABITS[language]
    await tell(person, texts[:5])
    await completed(person, await erase(person, "session", session_ids=["day3"]))
    assert not [m for m in await person.memories() if m["type"] == "pattern"]
    for table in found(person.system.dsn, own):
        assert not mine_holds(person, table, own), table
    await tell(person, texts[5:6], 5)
    (memory,) = [m for m in await person.memories() if m["type"] == "pattern"]
    assert (memory["key"], memory["content"], memory["value"]["times"]) == (key, texts[5], 5)


@ALL
async def test_erasing_another_session_leaves_the_pattern_without_that_sessions_words(
    person: Person, language: str
) -> None:
    texts, *_, own = HABITS[language]
    await tell(person, (texts[3], *texts[:3]))
    await completed(person, await erase(person, "session", session_ids=["day0"]))
    (memory,) = await person.memories()
    assert (memory["type"], memory["content"]) == ("pattern", texts[2])
    assert "day0" not in memory["source_sessions"]
    for table in found(person.system.dsn, own):
        assert not mine_holds(person, table, own), table


@ALL
async def test_a_rebuild_creates_the_same_pattern(person: Person, language: str) -> None:
    await tell(person, HABITS[language][0])
    rt, whose = person.system["observer"].rt, Subject(person.tenant_id, person.user_id)
    report = await rebuild(person.system.dsn, rt.settings, rt.policy, whose, apply=False, say=lambda *_: None)
    assert not report.differences


@ALL
async def test_a_confirmed_pattern_is_not_called_into_question(person: Person, language: str) -> None:
    texts, *_ = HABITS[language]
    await tell(person, texts[:4])
    (memory,) = await person.memories()
    path = f"/v1/memories/{memory['memory_id']}"
    answer = await person.system.http.patch(path, params=person.whose, json={"text": f"{texts[0]} (5 km)"})
    assert answer.status_code == 202, answer.text
    await person.outcome(answer.json()["turn_id"])
    await tell(person, texts[4:], 4)
    (memory,) = await person.memories()
    assert memory["content"] == f"{texts[0]} (5 km)"
    assert not (await person.get("/v1/conflicts")).json().get("conflicts")
