"""Text that memory has shown is not learnt again, however it returns; a deliberate repetition counts."""

import re
from dataclasses import dataclass
from typing import Any

import pytest

from schemas.context_package import ContextPackage
from services.cli.rebuild.run import rebuild
from shared.domain.subjects import Subject
from tests.system.person import Json, Person, user
from tests.system.wait import wait_for


@dataclass(frozen=True)
class Talk:
    """A known statement, a question, and a new statement."""

    said: tuple[str, ...]
    asked: str
    new: str
    hit: str
    reply: str


TALKS = (
    Talk(
        ("我住在杭州，是一名护士。", "我特别喜欢喝茉莉花茶，不加糖。", "我养了一只叫团子的橘猫。"),
        "我平时喜欢喝什么茶?",
        "我对花生过敏。",
        "花生",
        "您特别喜欢喝茉莉花茶，不加糖。",
    ),
    Talk(
        (
            "I live in Portland and work as a nurse.",
            "I really love jasmine tea without any sugar.",
            "I have an orange cat called Biscuit at home.",
        ),
        "Which tea do I like to drink?",
        "I'm allergic to peanuts.",
        "peanut",
        "You really love jasmine tea without any sugar.",
    ),
)
LANGUAGES = pytest.mark.parametrize("talk", TALKS, ids=["zh", "en"])
ROLES = {"developer": "system"}


async def compose_known(person: Person, talk: Talk) -> tuple[ContextPackage, list[Json]]:
    """A package that shows statements of another session, and the memories at that time."""
    for text in talk.said:
        await person.say(text)
    before = await person.memories()
    package = await person.compose(talk.asked, session="talk", debug=False)
    assert package.evidence

    async def recorded() -> bool:
        return (await person.get(f"/v1/receipts/{package.context_id}")).status_code == 200

    await wait_for(recorded, "the package is recorded")
    return package, before


def strip_tags(package: ContextPackage) -> list[str]:
    """The package's text about the user, without tags."""
    texts = [block.text for block in package.system_blocks if block.source.memory_item_id]
    texts += [each.snippet for each in package.evidence]
    return [re.sub(r"<[^<>]*>", "", text) for text in texts]


def to_figures(memories: list[Json]) -> dict[str, tuple[Any, ...]]:
    """The fields that change when a statement is repeated."""
    names = ("memory_id", "confidence", "provenance_class", "version", "source_sessions")
    return {m["content"]: tuple(str(m.get(name)) for name in names) for m in memories}


def only_new(person: Person, before: list[Json], after: list[Json], talk: Talk) -> None:
    """No known memory has changed, and only the new one was added."""
    was, now = to_figures(before), to_figures(after)
    assert {text: now.get(text) for text in was} == was
    added = set(now) - set(was)
    assert added
    assert all(talk.hit in text for text in added)
    again = person.system.rows(
        "SELECT text FROM memory_chunks WHERE tenant_id = %(t)s AND turn_id IS NOT NULL AND session_id = 'talk'",
        t=person.tenant_id,
    )
    assert not [row["text"] for row in again if any(said in row["text"] for said in talk.said)]


@LANGUAGES
async def test_package_messages_committed_as_a_turn_teach_nothing(person: Person, talk: Talk) -> None:
    package, before = await compose_known(person, talk)
    fed = [{**m, "role": ROLES.get(m["role"], m["role"])} for m in package.to_messages()]
    fed += [{"role": "assistant", "content": talk.reply}, user(talk.new)]
    await person.say(session="talk", context_id=package.context_id, messages=fed)
    only_new(person, before, await person.memories(), talk)


@LANGUAGES
@pytest.mark.parametrize("named", [True, False], ids=["named", "unnamed"])
async def test_a_package_pasted_into_a_message_teaches_nothing(person: Person, talk: Talk, named: bool) -> None:
    package, before = await compose_known(person, talk)
    pasted = "\n".join(m["content"] for m in package.to_messages()[:-1])
    more = {"context_id": package.context_id} if named else {}
    await person.say(f"{pasted}\n{talk.new}", session="talk", **more)
    only_new(person, before, await person.memories(), talk)


@LANGUAGES
async def test_texts_of_a_package_without_tags_teach_nothing(person: Person, talk: Talk) -> None:
    package, before = await compose_known(person, talk)
    await person.say("\n".join([*strip_tags(package), talk.new]), session="talk")
    only_new(person, before, await person.memories(), talk)


@LANGUAGES
async def test_a_tool_that_returns_memories_teaches_nothing(person: Person, talk: Talk) -> None:
    package, before = await compose_known(person, talk)
    calls = [
        {"name": "create_note", "args": {}, "result": {"id": "7", "title": talk.said[1], "status": "open"}},
        {"name": "search_memory", "args": {}, "result": "\n".join(talk.said)},
    ]
    await person.say(talk.new, session="talk", context_id=package.context_id, tool_calls=calls)
    was, now = to_figures(before), to_figures(await person.memories())
    assert {text: now.get(text) for text in was} == was
    assert not [text for text in set(now) - set(was) if any(said.rstrip("。.") in text for said in talk.said)]


@LANGUAGES
async def test_a_deliberate_repetition_counts(person: Person, talk: Talk) -> None:
    _, before = await compose_known(person, talk)
    await person.say(talk.said[1], session="talk")
    was, now = to_figures(before), to_figures(await person.memories())
    assert set(was) == set(now)
    assert [text for text in was if was[text] != now[text]] != []


@LANGUAGES
async def test_recalled_text_is_named_in_the_outcome_and_a_rebuild_agrees(person: Person, talk: Talk) -> None:
    package, _ = await compose_known(person, talk)
    pasted = "\n".join([*strip_tags(package), talk.new])
    turn = await person.commit(pasted, session="talk", context_id=package.context_id)
    outcome = await person.outcome(turn["turn_id"])
    assert "recalled" in {each.get("reason") for each in outcome["retention_explain"]}
    kept = person.system.rows("SELECT recalled FROM turns WHERE turn_id = %(t)s", t=turn["turn_id"])
    assert len(kept[0]["recalled"]["0"]) >= 2
    rt, whose = person.system["observer"].rt, Subject(person.tenant_id, person.user_id)
    report = await rebuild(person.system.dsn, rt.settings, rt.policy, whose, apply=False, say=lambda *_: None)
    assert not report.differences
