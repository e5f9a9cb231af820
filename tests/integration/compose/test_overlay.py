"""Compose predicts the changes that the evolver makes; the two statements behind the prediction find their rows."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from schemas.compose import IncomingMessage
from services.compose.context.changes import OpenTurns, predict_changes, to_turn
from shared.domain.statements import Statement
from shared.domain.subjects import Subject
from shared.domain.turns import Turn
from shared.policy import ConfidencePolicy
from shared.store import memory, turns
from tests.system.person import Person
from tests.system.running import WORKERS, System

SAID = (
    (["I live in Paris.", "I like coffee."], ["No, I live in Berlin now."]),
    (["I live in Berlin.", "I like Paris."], ["I don't live in Paris anymore."]),
    (["I like coffee.", "I like tea."], ["I no longer drink coffee.", "I like juice."]),
    (["我住在上海。", "我喜欢上海菜。"], ["不对，我现在住在北京。", "我喜欢北京菜。"]),
    (["我喜欢运动风。", "我喜欢猫。"], ["不是运动风, 我现在喜欢简约的"]),
    (["我对花生过敏。", "我对芒果过敏。"], ["不对，我对花生不过敏", "我对虾过敏。"]),
    (["我叫李雷。", "No, I live in Rome."], ["I live in Oslo.", "忘了我叫李雷"]),
    (["/remember The spare key is with Ana.", "I like chess."], ["Forget what I said about the spare key."]),
    (["Always answer in English.", "I live in Paris."], ["以后用中文回答。", "我不在巴黎", "Do I live in Berlin?"]),
)


async def find_ended(person: Person, before: Sequence[str]) -> set[str]:
    """The ended ones of these memories."""
    known = await person.memories(status="all")
    return {m["memory_id"] for m in known if m["memory_id"] in before and m["status"] != "active"}


async def test_the_overlay_ends_what_the_evolver_ends(system: System) -> None:
    people = [Person(system) for _ in SAID]
    for person, (learnt, _) in zip(people, SAID, strict=True):
        for text in learnt:
            await person.say(text, session="s1")
    before = [[m["memory_id"] for m in await person.memories()] for person in people]
    await system.stop(*WORKERS)
    try:
        for person, (_, since) in zip(people, SAID, strict=True):
            for text in since:
                await person.commit(text, session="s2")
        rt = system["compose"].rt
        foreseen: list[set[str]] = []
        for person in people:
            who = Subject(person.tenant_id, person.user_id)
            (pending,) = await rt.db.read(who, turns.load_pending(who, 64))
            found = await predict_changes(rt.db, who, OpenTurns(pending), None, ConfidencePolicy())
            foreseen.append({*found.masked})
    finally:
        await system.start(*WORKERS)
    await system.settled()
    ended = await asyncio.gather(*(find_ended(p, known) for p, known in zip(people, before, strict=True)))
    for of, by_compose, by_evolver in zip(SAID, foreseen, ended, strict=True):
        assert by_compose == by_evolver, of
    assert sum(map(len, foreseen)) >= len(SAID) - 2


async def test_one_statement_finds_the_memories_that_may_be_meant(system: System, person: Person) -> None:
    for text in ("I live in Paris.", "I like coffee.", "/remember 100% of the keys are with Ana."):
        await person.say(text)
    who = Subject(person.tenant_id, person.user_id)
    known = {m["content"]: m for m in await person.memories()}
    coffee = next(m for text, m in known.items() if "coffee" in text)

    async def concerned(of: Subject = who, **parts: Any) -> set[str]:
        said = Statement("note", None, "", "correction", (), 0.9, False, datetime.now(UTC), "s", **parts)
        (found,) = await system["compose"].rt.db.read(of, memory.load_concerned(of, [said]))
        return {m.content_text for m in found if m.type != "note"}

    assert await concerned(old_key="profile:user:city") == {"I live in Paris"}
    assert await concerned(old_value="COFFEE") == {coffee["content"]}
    assert await concerned(old_value="1_0% of") == set()
    assert await concerned() == set()
    assert await concerned(related=UUID(coffee["memory_id"])) == {coffee["content"]}
    other = Subject(person.tenant_id, "somebody-else")
    assert await concerned(other, related=UUID(coffee["memory_id"]), old_value="a") == set()


async def test_window_and_pending_turns_are_read_together(system: System, person: Person) -> None:
    who = Subject(person.tenant_id, person.user_id)
    db = system["compose"].rt.db
    for n in range(3):
        await person.say(f"message {n}", session="s1")
    await system.stop(*WORKERS)
    try:
        for n in range(3, 6):
            await person.commit(f"message {n}", session="s1" if n < 5 else "s2")
        (recent,) = await db.read(who, turns.recent(who, "s1", 4, 2))
        (few,) = await db.read(who, turns.load_pending(who, 64))
    finally:
        await system.start(*WORKERS)

    def texts(found: Sequence[Turn]) -> list[str]:
        return [event.content["text"] for turn in found for event in turn.events if event.content]

    assert texts(recent.window) == ["message 1", "message 2", "message 3", "message 4"]
    assert texts(recent.pending) == ["message 4", "message 5"]
    assert texts(few) == ["message 3", "message 4", "message 5"]
    await system.settled()
    (none,) = await db.read(who, turns.load_pending(who, 64))
    assert none == []


@pytest.mark.parametrize("text", ["Where do I live?", "我住在哪里？"])
async def test_the_current_message_is_read_too(system: System, person: Person, text: str) -> None:
    await person.say("I live in Paris.")
    who = Subject(person.tenant_id, person.user_id)
    rt = system["compose"].rt
    asked = to_turn(IncomingMessage(content=f"No, I live in Berlin now. {text}"), "s9", datetime.now(UTC))
    found = await predict_changes(rt.db, who, OpenTurns([]), asked, ConfidencePolicy())
    assert list(found.masked) == [m["memory_id"] for m in await person.memories(type="profile")]
