"""Habits on PostgreSQL: derived from the search rows of turns, once each, whatever the delivery."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import pytest

from schemas.topics import TURN_COMMITTED
from services.observer import handler as observer
from shared.bus.delivery import Delivered, parse
from shared.domain.subjects import Subject
from tests.system.databases import Databases
from tests.system.kafka import Stored
from tests.system.person import Json, Person, user
from tests.system.running import System, policy_file, running, settings_for

ZH = ("跑步回来了", "刚跑完步", "去跑步了", "跑完步了", "跑步打卡", "刚跑步回来")
EN = ("went for a run", "run done", "back from my run", "off for a run", "Just finished my run", "morning run done")
BOTH = pytest.mark.parametrize("texts", [ZH, EN], ids=["zh", "en"])


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str) -> AsyncGenerator[System]:
    """Compose alone: the test delivers its events."""
    async with running(settings_for(databases.fresh(), kafka), ("compose",)) as system:
        yield system


@pytest.fixture
def person(system: System) -> Person:
    """A new user."""
    return Person(system)


async def tell(person: Person, texts: Sequence[str], **more: Any) -> None:
    """Commits each message in its own session, on its own day."""
    for n, text in enumerate(texts):
        messages = [{**user(text), **more}]
        await person.commit(session=f"s{n}", created_at=f"2026-03-{n + 2:02d}T07:30:00Z", messages=messages)


def read_events(person: Person) -> list[Delivered]:
    """The events of the user's turns."""
    rows = person.system.rows(
        "SELECT payload::text AS body FROM event_outbox WHERE aggregatetype = %(t)s ORDER BY position",
        t=TURN_COMMITTED.name,
    )
    events = [parse(Stored(TURN_COMMITTED.name, value=row["body"].encode())) for row in rows]
    return [event for event in events if event.envelope.user_id == person.user_id]


async def observe(person: Person, events: Sequence[Delivered]) -> None:
    """Observes the turns in one batch."""
    await observer.observe_turns(person.system["compose"].rt, Subject(person.tenant_id, person.user_id), events)


def list_habits(person: Person) -> list[Json]:
    """The observed habits, with the search rows of their turns."""
    return person.system.rows(
        "SELECT o.session_id, o.kind, o.key, o.text, o.value, o.assertion, o.confidence::float8 AS confidence,"
        " o.span_start, o.span_end FROM observations o WHERE o.user_id = %(u)s AND o.detector = 'habits'"
        " ORDER BY o.said_at",
        u=person.user_id,
    )


def read(person: Person, session: str) -> list[str]:
    """The source of a session's observations."""
    rows = person.system.rows(
        "SELECT detector FROM observations WHERE user_id = %(u)s AND session_id = %(s)s AND kind <> 'entity'",
        u=person.user_id,
        s=session,
    )
    return [row["detector"] for row in rows]


@BOTH
@pytest.mark.parametrize("size", [1, 2, 6])
async def test_a_habit_is_observed_once_whatever_the_batches(person: Person, texts: Sequence[str], size: int) -> None:
    await tell(person, texts)
    events = read_events(person)
    for at in range(0, len(events), size):
        await observe(person, events[at : at + size])
    (habit,) = list_habits(person)
    assert (habit["session_id"], habit["kind"], habit["text"]) == ("s3", "pattern", texts[3])
    assert (habit["assertion"], habit["confidence"]) == ("behaviour", pytest.approx(0.7))
    assert habit["value"] == {"times": 4, "since": "2026-03-02", "quote": texts[3]}
    assert (habit["span_start"], habit["span_end"]) == (0, len(texts[3]))
    assert [read(person, f"s{n}") for n in (3, 4, 5)] == [["habits"], [], []]


@BOTH
async def test_redelivered_turns_make_no_second_habit(person: Person, texts: Sequence[str]) -> None:
    await tell(person, texts)
    for _ in range(2):
        for event in read_events(person):
            await observe(person, [event])
    await observe(person, read_events(person))
    assert len(list_habits(person)) == 1


@BOTH
async def test_the_outcome_gives_the_reason(person: Person, texts: Sequence[str]) -> None:
    await tell(person, texts[:5])
    await observe(person, read_events(person))
    rows = person.system.rows(
        "SELECT coalesce(outcome -> 'explain', outcome -> 'retention_explain') AS explain FROM turns"
        " WHERE user_id = %(u)s ORDER BY said_at",
        u=person.user_id,
    )
    told = [[e["decision"] for e in row["explain"] if e["reason"] == "habit"] for row in rows]
    assert told == [[], [], [], ["kept"], ["dropped"]]


@BOTH
async def test_one_session_counts_once(person: Person, texts: Sequence[str]) -> None:
    for n, text in enumerate(texts):
        await person.commit(text, session=f"s{n % 3}", created_at=f"2026-03-{n + 2:02d}T07:30:00Z")
    await observe(person, read_events(person))
    assert list_habits(person) == []


@BOTH
async def test_messages_of_others_and_forbidden_ones_do_not_count(person: Person, texts: Sequence[str]) -> None:
    other = Person(person.system, tenant_id=person.tenant_id)
    await tell(other, texts[:3])
    await observe(other, read_events(other))
    await person.commit(texts[0], session="w1", created_at="2026-02-01T07:00:00Z", remember=False)
    await tell(person, texts[:3])
    await observe(person, read_events(person))
    assert list_habits(person) == []


@BOTH
async def test_named_speakers_have_no_habits(person: Person, texts: Sequence[str]) -> None:
    await tell(person, texts, name="Kim")
    await observe(person, read_events(person))
    assert list_habits(person) == []


@pytest.mark.parametrize("minimum", [2, 6])
async def test_policy_sets_the_number_of_sessions(
    databases: Databases, kafka: str, tmp_path: Path, minimum: int
) -> None:
    policy = policy_file(tmp_path, observer={"habit_sessions_min": minimum})
    async with running(settings_for(databases.fresh(), kafka, policy=policy), ("compose",)) as system:
        person = Person(system)
        await tell(person, EN)
        for event in read_events(person):
            await observe(person, [event])
        (habit,) = list_habits(person)
        assert habit["session_id"] == f"s{max(minimum, 3) - 1}"
