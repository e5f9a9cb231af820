"""A session's end among the turns of a batch, and the observer's result for each order."""

from collections.abc import AsyncIterator, Sequence

import pytest

from schemas.topics import TURN_COMMITTED
from services.observer import handler as observer
from services.observer import session_summaries
from shared.bus.delivery import Delivered, parse
from shared.domain.subjects import Subject
from tests.system.databases import Databases
from tests.system.kafka import Stored
from tests.system.person import Json, Person
from tests.system.running import System, running, settings_for

DECIDED = ("我们决定用 PostgreSQL 做主存储。", "We decided to launch in Norway first.")


@pytest.fixture
async def system(databases: Databases, kafka: str) -> AsyncIterator[System]:
    """Compose alone: the test calls the observer's handler."""
    async with running(settings_for(databases.fresh(), kafka), ("compose",)) as found:
        yield found


async def events(person: Person) -> list[Delivered]:
    """The user's turns that wait to be observed, in order."""
    waiting = await person.system.change(
        "DELETE FROM event_outbox WHERE aggregatetype = %(t)s RETURNING position, payload::text AS body",
        t=TURN_COMMITTED.name,
    )
    rows = sorted(waiting, key=lambda row: row["position"])
    return [parse(Stored(TURN_COMMITTED.name, value=row["body"].encode())) for row in rows]


async def observe(person: Person, batch: Sequence[Delivered]) -> None:
    """Observes these turns in one batch."""
    rt = person.system["compose"].rt
    await observer.observe_turns(rt, Subject(person.tenant_id, person.user_id), batch)


def versions(person: Person) -> list[tuple[str, int, int | None]]:
    """Level, last turn and first turn of the block of each summary, in order."""
    found = person.system.rows(
        "SELECT level, source_to_seq, block_from_seq FROM session_summaries WHERE user_id = %(u)s ORDER BY version",
        u=person.user_id,
    )
    return [(row["level"], row["source_to_seq"], row["block_from_seq"]) for row in found]


def row(person: Person) -> Json:
    """The user's session."""
    (found,) = person.system.rows("SELECT * FROM sessions WHERE user_id = %(u)s", u=person.user_id)
    return found


async def test_an_end_within_a_batch_splits_it(person: Person) -> None:
    await person.commit(DECIDED[0])
    await person.commit(end_session=True)
    await person.commit("I like tea.")
    await person.commit("我住在苏州。", end_session=True)
    await person.commit("And now something else, please.")
    await observe(person, await events(person))
    assert versions(person) == [("archived", 2, 1), ("archived", 4, 3)]
    seen = row(person)
    assert (seen["archived_at"], seen["summary_seq"]) == (None, 4), "somebody has spoken since it ended"
    assert 0 < seen["open_tokens"] < 16, "only what was said since counts towards the next summary"


async def test_the_same_turns_one_by_one_give_the_same_result(person: Person) -> None:
    for text in DECIDED:
        await person.commit(text)
    await person.commit(end_session=True)
    for event in await events(person):
        await observe(person, [event])
    assert versions(person) == [("working", 1, None), ("working", 2, None), ("archived", 3, 1)]
    assert row(person)["archived_at"] is not None
    working, archived = person.system.rows(
        "SELECT text, block_text FROM session_summaries WHERE version > 1 ORDER BY version"
    )
    assert working["text"] == archived["text"] == archived["block_text"], "nothing new: to the letter the same"


async def test_a_turn_before_its_predecessor_was_observed_keeps_the_session_open(person: Person) -> None:
    await person.commit(DECIDED[0], end_session=True)
    (ending,) = await events(person)
    await person.commit("I like tea.")
    await observe(person, [ending])
    assert row(person)["archived_at"] is None
    await observe(person, await events(person))
    assert versions(person) == [("archived", 1, 1)]
    assert row(person)["archived_at"] is None


async def test_a_redelivered_end_changes_nothing(person: Person) -> None:
    await person.commit(DECIDED[1])
    await person.commit(end_session=True)
    batch = await events(person)
    await observe(person, batch)
    before = (versions(person), row(person))
    await observe(person, batch)
    assert (versions(person), row(person)) == before


async def test_an_empty_session_leaves_no_summary(person: Person) -> None:
    await person.commit(end_session=True)
    await person.commit(end_session=True)
    await observe(person, await events(person))
    assert versions(person) == []
    assert row(person)["archived_at"] is not None
    assert row(person)["last_turn_at"] == row(person)["created_at"], "an end is nothing said"


@pytest.mark.parametrize(
    ("goal", "decided"), [("我的目标是今年考过日语 N2。", DECIDED[0]), ("My goal is to learn Norwegian.", DECIDED[1])]
)
async def test_turns_waiting_behind_a_batch_do_not_hide_earlier_ones(
    person: Person, monkeypatch: pytest.MonkeyPatch, goal: str, decided: str
) -> None:
    monkeypatch.setattr(session_summaries, "MAX_TURNS", 3)
    for text in ("I like tea.", goal, decided, *["Please go on."] * 5):
        await person.commit(text)
    tea, aim, decision, *_ = await events(person)
    await observe(person, [tea])
    await observe(person, [aim])
    assert versions(person) == []
    await observe(person, [decision])
    (summary,) = person.system.rows("SELECT text, source_from_seq, source_to_seq FROM session_summaries")
    assert goal.rstrip(".。")[-6:] in summary["text"]
    assert (summary["source_from_seq"], summary["source_to_seq"]) == (1, 3)


@pytest.mark.parametrize("damaged", [[2], [1, 2]])
async def test_the_content_of_an_unreadable_summary_is_summarised_again(person: Person, damaged: list[int]) -> None:
    for text in (*DECIDED, "I like tea."):
        await person.commit(text)
        await observe(person, await events(person))
    await person.system.change(
        'UPDATE session_summaries SET summary_json = \'{"of": "tomorrow"}\' WHERE version = ANY(%(v)s)', v=damaged
    )
    await person.commit("We decided to hire two people in Bergen.", end_session=True)
    await person.commit(end_session=True)
    await observe(person, await events(person))
    assert versions(person) == [("working", 1, None), ("working", 2, None), ("archived", 4, 1)]
    (told,) = person.system.rows("SELECT text FROM session_summaries WHERE level = 'archived'")
    assert all(said in told["text"] for said in ("PostgreSQL", "Norway", "Bergen"))
    await person.system.change("UPDATE session_summaries SET summary_json = '[]'")
    await person.commit(end_session=True)
    await observe(person, await events(person))
    assert len(versions(person)) == 3, "nothing was said since"
