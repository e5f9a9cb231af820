"""commit_turn on a real PostgreSQL: atomic and numbered without gaps."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import psycopg
import pytest

from schemas.turn_events import TurnEvents
from services.compose.intake.commit import _build_body, commit_turn
from services.compose.intake.decisions import LearningDecision
from shared.db import Database
from shared.domain.subjects import Subject
from shared.errors import RefusedError
from shared.runtime import Runtime, open_runtime
from shared.store import turns
from tests.system.databases import change, number, rows
from tests.system.person import somebody
from tests.system.running import settings_for

Turn = Callable[..., TurnEvents]


@pytest.fixture
async def rt(dsn: str) -> AsyncGenerator[Runtime]:
    """A runtime whose broker is never called."""
    async with open_runtime(settings_for(dsn, "127.0.0.1:1"), "compose") as found:
        yield found


def turn(text: str = "I like tea.", session: str = "s1", **more: Any) -> TurnEvents:
    """A turn of one message."""
    whose = {"tenant_id": "t", "user_id": "u", "session_id": session}
    return TurnEvents.model_validate({**whose, "messages": [{"role": "user", "content": text}], **more})


async def test_the_same_key_with_the_same_body_returns_the_first_result(rt: Runtime, dsn: str) -> None:
    first = await commit_turn(turn(idempotency_key="k"), rt, transport="http")
    again = await commit_turn(turn(idempotency_key="k"), rt, transport="kafka")
    assert (first.fresh, again.fresh) == (True, False)
    assert again.result == first.result
    assert number(dsn, "SELECT count(*) FROM turns") == 1
    assert number(dsn, "SELECT count(*) FROM event_outbox") == 1


@pytest.mark.parametrize("other", [{"text": "I like rum."}, {"session": "s2"}, {"created_at": "2026-01-01T00:00:00Z"}])
async def test_the_same_key_with_another_body_is_refused(rt: Runtime, dsn: str, other: dict[str, Any]) -> None:
    await commit_turn(turn(idempotency_key="k"), rt, transport="http")
    with pytest.raises(RefusedError) as caught:
        await commit_turn(turn(idempotency_key="k", **other), rt, transport="http")
    assert (caught.value.status, caught.value.code) == (409, "idempotency_conflict")
    assert number(dsn, "SELECT count(*) FROM turns") == 1


async def test_idempotency_keys_are_separate_per_user(rt: Runtime, dsn: str) -> None:
    for user in ("a", "b"):
        body = turn(idempotency_key="k").model_copy(update={"user_id": user})
        assert (await commit_turn(body, rt, transport="http")).fresh
    assert number(dsn, "SELECT count(*) FROM turns") == 2


async def test_fifty_concurrent_commits_to_one_session_are_numbered_without_gaps(rt: Runtime, dsn: str) -> None:
    done = await asyncio.gather(*(commit_turn(turn(f"{n}"), rt, transport="http") for n in range(50)))
    assert sorted(each.result.seq for each in done) == list(range(1, 51))
    stored = rows(dsn, "SELECT seq, turn_id FROM turns ORDER BY seq")
    by_turn = {each.result.turn_id: each.result.seq for each in done}
    assert [by_turn[row["turn_id"]] for row in stored] == list(range(1, 51))


async def test_each_session_is_numbered_separately(rt: Runtime) -> None:
    sessions = [f"s{n % 5}" for n in range(50)]
    done = await asyncio.gather(*(commit_turn(turn(session=s), rt, transport="http") for s in sessions))
    for session in set(sessions):
        assert sorted(d.result.seq for d in done if d.result.session_id == session) == list(range(1, 11))


async def test_a_users_events_are_in_the_outbox_in_turn_order(rt: Runtime, dsn: str) -> None:
    await asyncio.gather(*(commit_turn(turn(f"{n}"), rt, transport="http") for n in range(50)))
    order = rows(dsn, "SELECT (payload #>> '{payload,seq}')::int AS seq FROM event_outbox ORDER BY position")
    assert [row["seq"] for row in order] == list(range(1, 51))


async def test_twenty_commits_with_one_key_are_one_turn(rt: Runtime, dsn: str) -> None:
    done = await asyncio.gather(*(commit_turn(turn(idempotency_key="k"), rt, transport="http") for _ in range(20)))
    assert sum(each.fresh for each in done) == 1
    assert len({each.result.turn_id for each in done}) == 1
    assert number(dsn, "SELECT next_seq FROM sessions") == 2


@pytest.mark.parametrize(
    "statement", ["UPDATE conversation_events SET content = '{}'", "DELETE FROM conversation_events"]
)
async def test_the_log_cannot_be_changed_or_deleted(rt: Runtime, dsn: str, statement: str) -> None:
    await commit_turn(turn(), rt, transport="http")
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        rows(dsn, statement)


async def test_an_erasure_can_only_blank_the_log(rt: Runtime, dsn: str) -> None:
    await commit_turn(turn(), rt, transport="http")
    emptied = "UPDATE conversation_events SET content = NULL, tombstone_id = gen_random_uuid(), name = NULL"
    with pytest.raises(psycopg.errors.RaiseException):
        rows(dsn, f"{emptied}, ordinal = 9")
    await change(dsn, emptied)
    assert number(dsn, "SELECT count(*) FROM conversation_events WHERE content IS NULL") == 1


@pytest.mark.parametrize("fault", [{"event_type": "rumour"}, {"ordinal": None}, {"event_id": "seven"}, {"ordinal": 0}])
async def test_one_bad_event_leaves_nothing_of_the_turn(rt: Runtime, dsn: str, fault: dict[str, Any]) -> None:
    body = _build_body(turn(), rt.version, rt.policy, "trace", (), LearningDecision(True))
    body["events"].append({**body["events"][0], "ordinal": 1, **fault})
    with pytest.raises((psycopg.Error, Exception)):  # any constraint
        async with rt.db.single() as conn:
            await turns.commit(conn, body)
    for table in ("sessions", "turns", "conversation_events", "event_outbox"):
        assert number(dsn, f"SELECT count(*) FROM {table}") == 0  # noqa: S608 # names of this list


async def test_every_kind_of_event_is_stored_in_order(rt: Runtime, dsn: str) -> None:
    whole = turn(
        tool_calls=[{"name": "search", "args": {"q": "tea"}, "result": [1], "status": "error"}],
        refs=[{"ref_type": "url", "ref_uri": "https://x.example"}],
        items=[{"type": "note", "text": "n"}],
        created_at="2026-01-02T03:04:05+08:00",
    )
    result = (await commit_turn(whole, rt, transport="http")).result
    assert result.accepted.model_dump() == {"messages": 1, "tool_calls": 1, "refs": 1, "items": 1}
    kinds = rows(dsn, "SELECT ordinal, event_type FROM conversation_events ORDER BY ordinal")
    expected = ["user_message", "tool_call", "tool_result", "ref", "item"]
    assert [(row["ordinal"], row["event_type"]) for row in kinds] == list(enumerate(expected))
    (call,) = rows(dsn, "SELECT name, args_json, result_json, status FROM tool_calls")
    assert (call["name"], call["args_json"], call["result_json"], call["status"]) == (
        "search",
        {"q": "tea"},
        [1],
        "error",
    )
    (said,) = rows(dsn, "SELECT said_at FROM turns")
    assert said["said_at"].isoformat() == "2026-01-01T19:04:05+00:00"


async def test_a_commit_binds_its_user_and_leaves_no_setting_behind(rt: Runtime) -> None:
    await commit_turn(turn(), rt, transport="http")
    for _ in range(20):
        async with rt.db.single() as conn:
            row = await (await conn.execute("SELECT current_setting('app.user', true) AS who")).fetchone()
            assert row
            assert not row["who"]


async def test_a_failed_transaction_leaves_nothing_and_a_clean_connection(rt: Runtime, dsn: str) -> None:
    subject = Subject("t", somebody())

    async def fail(db: Database) -> None:
        async with db.transaction(subject) as conn:
            await conn.execute("INSERT INTO inbox VALUES ('me', gen_random_uuid())")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail(rt.db)
    assert number(dsn, "SELECT count(*) FROM inbox") == 0
    async with rt.db.single() as conn:
        row = await (await conn.execute("SELECT current_setting('app.user', true) AS who")).fetchone()
        assert row
        assert not row["who"]
