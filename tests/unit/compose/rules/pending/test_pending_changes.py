"""The effects of pending statements: memories, later statements, and what is then hidden."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import UUID

import pytest

from schemas.compose import IncomingMessage
from schemas.vocabulary import Assertion
from services.compose.context.changes import (
    OpenTurns,
    list_shown_turns,
    predict_changes,
    read_statements,
    to_turn,
)
from services.compose.rules.pending.foresight import settle_statements
from services.compose.rules.pending.pending_changes import (
    NOTHING,
    MemorySnapshot,
    MessagePosition,
    PendingChanges,
    PendingObservation,
    list_pending_candidates,
)
from shared.clock import uuid7
from shared.db import Database
from shared.domain.statements import ActiveMemory
from shared.domain.subjects import Subject
from shared.domain.turns import Event, Turn
from shared.policy import ConfidencePolicy

POLICY = ConfidencePolicy()
NOW = datetime(2026, 7, 15, 9, 0, tzinfo=UTC)
WHO = Subject("t", "u")


def turn(text: str, minutes: int = 0, session: str = "s2", seq: int = 1) -> Turn:
    """A turn with this user message."""
    at = NOW + timedelta(minutes=minutes)
    turn_id = uuid7()
    event = Event(uuid7(), turn_id, 0, "user_message", "user", None, {"text": text}, at)
    return Turn(turn_id, session, seq, uuid7(), "", "", at, at, False, (event,))


def known(text: str, minutes: int = -60, assertion: Assertion | None = None) -> MemorySnapshot:
    """The memory that the workers made of the one thing that this message states."""
    (said,) = read_statements(turn(text, minutes, "s1"), POLICY, now=False)
    statement = said.statement
    standing = POLICY.level_of(assertion or statement.assertion, statement.flags)
    memory = ActiveMemory(
        said.memory_id,
        said.memory_id,
        1,
        statement.type,
        statement.key,
        statement.sense,
        standing.provenance,
        assertion or statement.assertion,
        statement.flags,
        standing.initial,
        statement.said_at,
        ("s1",),
        said.polarity,
        said.text,
        said.words,
        said.told,
    )
    return MemorySnapshot(memory, said.place)


def pending(*texts: str, now: str | None = None) -> list[PendingObservation]:
    """What these turns, a minute apart, and then the message being answered state."""
    stated = [each for n, text in enumerate(texts) for each in read_statements(turn(text, n), POLICY, now=False)]
    return [*stated, *(read_statements(turn(now, len(texts)), POLICY, now=True) if now else ())]


def masked(found: PendingChanges, memories: Sequence[MemorySnapshot]) -> list[str]:
    """The texts of the hidden memories."""
    return [each.known.text for each in memories if found.hides(each.known.memory_id)]


ENDS = [
    ("I live in Paris.", ["No, I live in Berlin now."], True),
    ("I live in Paris.", ["I live in Berlin."], True),
    ("I live in Paris.", ["Actually I live in Berlin, not Paris."], True),
    ("I live in Paris.", ["I no longer live in Paris."], True),
    ("I live in Paris.", ["Forget that I live in Paris."], True),
    ("我住在上海。", ["不对，我现在住在北京。"], True),
    ("我住在上海。", ["我不住在上海了"], True),
    ("我喜欢运动风。", ["不是运动风, 我现在喜欢简约的"], True),
    ("我喜欢喝咖啡。", ["我不再喝咖啡了"], True),
    ("我对花生过敏。", ["不对，我对花生不过敏"], True),
    ("I'm allergic to peanuts.", ["I'm not allergic to peanuts"], True),
    ("以后用中文回答。", ["以后用英文回答。"], True),
    ("I live in Paris.", ["I live in Paris."], False),
    ("I live in Paris.", ["I no longer live in Rome."], False),
    ("I live in Paris.", ["My sister lives in Berlin now."], False),
    ("I live in Paris.", ["If I lived in Berlin I'd cycle."], False),
    ("I live in Paris.", ["Do I live in Berlin?"], False),
    ("I live in Paris.", ['Is "I live in Berlin now" right?'], False),
    ("I live in Paris.", ["Just for this week I'm in Berlin."], False),
    ("I like coffee.", ["I don't want coffee today."], False),
    ("I like coffee.", ["I like tea."], False),
    ("我住在上海。", ["我住在北京吗？"], False),
    ("我住在上海。", ["要是我住在北京就好了"], False),
    ("我住在上海。", ["我哥哥现在住在北京"], False),
    ("我住在上海。", ["他说“我住在北京”"], False),
    ("我喜欢喝咖啡。", ["今天不想喝咖啡"], False),
    ("我对花生过敏。", ["他对花生不过敏"], False),
]


@pytest.mark.parametrize(("learnt", "said", "ends"), ENDS)
def test_a_pending_statement_ends_what_it_ends_once_learnt(learnt: str, said: list[str], ends: bool) -> None:
    memory = known(learnt)
    for found in (
        settle_statements(pending(*said), [memory], POLICY),
        settle_statements(pending(now=said[0]), [memory], POLICY),
    ):
        assert found.hides(memory.known.memory_id) is ends
        assert bool(found.of_turn(memory.place.turn_id if memory.place else None)) is ends


def test_a_weaker_statement_ends_nothing() -> None:
    firm = known("I live in Paris.", assertion="correction")
    assert masked(settle_statements(pending("I live in Berlin."), [firm], POLICY), [firm]) == []
    assert masked(settle_statements(pending("No, I live in Berlin now."), [firm], POLICY), [firm]) == [
        "I live in Paris"
    ]


def test_a_memory_newer_than_the_statement_stays() -> None:
    later = known("I live in Paris.", minutes=5)
    assert settle_statements(pending("No, I live in Berlin now."), [later], POLICY).masked == {}
    assert masked(settle_statements(pending(now="No, I live in Berlin now."), [later], POLICY), [later]) == [
        "I live in Paris"
    ]


def test_a_turn_does_not_end_what_it_has_taught() -> None:
    said = turn("I live in Paris. I live in Berlin.")
    first, second = read_statements(said, POLICY, now=False)
    assert first.statement.key == second.statement.key
    learnt = replace(known("I live in Berlin.", minutes=0), place=second.place)
    found = settle_statements([first, replace(second, memory_id=uuid7())], [learnt], POLICY)
    assert found.masked == {}


def test_a_statement_that_is_already_a_memory_has_no_effect() -> None:
    old, (said,) = known("I live in Paris.", minutes=-60), pending("No, I live in Berlin now.")
    become = replace(old, known=replace(old.known, memory_id=said.memory_id))
    assert settle_statements([said], [become], POLICY) == NOTHING


def test_a_chain_of_corrections_leaves_the_last() -> None:
    memory = known("I live in Paris.")
    said = pending("No, I live in Berlin now.", "Actually, I live in Madrid.")
    found = settle_statements(said, [memory], POLICY)
    assert masked(found, [memory]) == ["I live in Paris"]
    assert found.of_turn(said[0].place.turn_id)
    assert [each.text for each in list_pending_candidates(found, frozenset())] == ["Actually, I live in Madrid."]


def test_a_retracted_and_repeated_statement_holds() -> None:
    said = pending("I no longer live in Paris.", "I live in Paris again.", "I live in Paris.")
    found = settle_statements(said, [known("I live in Paris.")], POLICY)
    assert found.of_turn(said[-1].place.turn_id) == ()


def test_statements_are_shown_except_those_of_the_window_and_the_message() -> None:
    memories = [known("I live in Paris."), known("I like coffee.")]
    city, taste = pending("No, I live in Berlin now.", "I no longer like coffee.")
    found = settle_statements([city, taste], memories, POLICY)
    both = [each.text for each in list_pending_candidates(found, frozenset())]
    assert both == ["I no longer like coffee.", "No, I live in Berlin now."]
    (left,) = list_pending_candidates(found, frozenset({city.place.turn_id}))
    assert (left.turn_id, left.message_ordinal, left.role) == (taste.place.turn_id, 0, "user")
    key = f"memory:{memories[0].known.memory_id}"
    assert [c.text for c in list_pending_candidates(found, frozenset(), frozenset({key}))] == [
        "No, I live in Berlin now."
    ]
    assert (
        list_pending_candidates(
            settle_statements(pending(now="No, I live in Berlin now."), memories, POLICY), frozenset()
        )
        == []
    )


def test_statements_that_end_nothing_are_not_shown() -> None:
    found = settle_statements(pending("I live in Berlin.", "I like tea."), [known("I like coffee.")], POLICY)
    assert list_pending_candidates(found, frozenset()) == []


def test_the_reason_for_hiding_names_the_turn_or_the_message() -> None:
    memory = known("I live in Paris.")
    (said,) = pending("No, I live in Berlin now.")
    assert memory.place
    for found, cause in (
        (settle_statements([said], [memory], POLICY), f"overlay:turn:{said.place.turn_id}"),
        (settle_statements([replace(said, now=True)], [memory], POLICY), "overlay:message"),
    ):
        assert found.cause(f"memory:{memory.known.memory_id}") == cause
        assert found.cause(f"turn:{memory.place.turn_id}:0") == cause
        assert found.cause(f"memory:{uuid7()}") is None
        assert found.cause(f"turn:{uuid7()}:0") is None


SUMMARIES = [
    ("Goals\n- run a marathon\n- learn Spanish", "run a marathon", "Goals\n- learn Spanish"),
    ("Goals\n- run a marathon\nTasks\n- [todo] call Ana", "call Ana", "Goals\n- run a marathon"),
    ("目标\n- 学西班牙语\n任务\n- [待办] 打电话", "学西班牙语", "任务\n- [待办] 打电话"),
    ("Goals\n- run a marathon next year", "run a marathon", "Goals\n- run a marathon next year"),
    ("A summary in prose.\nIt has no list.", "It has no list.", "A summary in prose.\nIt has no list."),
]


@pytest.mark.parametrize(("text", "gone", "left"), SUMMARIES)
def test_a_summary_loses_the_lines_that_state_only_ended_facts(text: str, gone: str, left: str) -> None:
    assert PendingChanges(texts=frozenset({gone.lower()})).summary(text) == left
    assert NOTHING.summary(text) == text


@pytest.mark.parametrize(
    ("gone", "names", "left"),
    [
        ("likes JavaScript", ["Java", "JavaScript"], ["Java"]),
        ("takes annual leave", ["Ann", "Oslo"], ["Ann", "Oslo"]),
        ("用JavaScript写前端", ["Java", "前端"], ["Java"]),
        ("住在上海", ["上海", "李明"], ["李明"]),
    ],
)
def test_names_in_ended_text_are_removed(gone: str, names: list[str], left: list[str]) -> None:
    assert PendingChanges(texts=frozenset({gone.lower()})).names(names) == left
    assert NOTHING.names(names) == names


@pytest.mark.parametrize(
    "text", ["Where do I live?", "我住在哪里？", "Thanks!", "好的，谢谢。", "Is Paris nice in May?"]
)
async def test_a_message_without_statements_makes_no_query(text: str) -> None:
    none = cast("Database", None)
    asked = to_turn(IncomingMessage(content=text), "s2", NOW)
    assert await predict_changes(none, WHO, OpenTurns([]), asked, POLICY) is NOTHING


def test_the_turns_shown_in_full_are_the_newest_besides_the_message() -> None:
    window = [turn(f"message {n}", n, seq=n) for n in range(9)]

    def numbers(said: str, most: int) -> list[int]:
        ids = list_shown_turns(window, IncomingMessage(content=said), most)
        return [each.seq for each in window if str(each.turn_id) in ids]

    assert numbers("a new one", 8) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert numbers("message 8", 8) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert numbers("a new one", 0) == []
    assert list_shown_turns([], IncomingMessage(content="a new one"), 8) == frozenset()


def test_a_memory_named_by_id_is_hidden_with_its_evidence() -> None:
    memory = known("I like coffee.")
    where = MessagePosition(str(UUID(int=7)), 0, (0, 0))
    (said,) = pending("I no longer like tea.")
    named = replace(
        said,
        statement=replace(said.statement, related=memory.known.memory_id),
        place=where,
        spoken=replace(said.spoken, text=""),
    )
    found = settle_statements([named], [memory], POLICY)
    assert masked(found, [memory]) == ["I like coffee"]
    assert list_pending_candidates(found, frozenset()) == []
