"""The relay on a real PostgreSQL and broker: ordered per user, each row once, no blocking."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.events import TurnCommitted
from schemas.topics import TURN_COMMITTED
from services.compose.intake.commit import _build_body, commit_turn
from services.compose.intake.decisions import LearningDecision
from services.relay.publisher import Message, Publisher
from shared.bus.access import KafkaAccess
from shared.bus.topics import ensure_topics
from shared.embedded.broker_process import EmbeddedBroker
from shared.runtime import Runtime, open_runtime
from shared.store import outbox
from tests.integration.commit.test_commit import turn
from tests.system.databases import change, number, rows
from tests.system.kafka import Stored, of_tenant
from tests.system.person import somebody
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for


@pytest.fixture
async def rt(dsn: str) -> AsyncGenerator[Runtime]:
    """A runtime that commits."""
    async with open_runtime(settings_for(dsn, "127.0.0.1:1"), "compose") as found:
        yield found


async def commit(rt: Runtime, tenant: str, user: str, n: int) -> None:
    """Puts this user's turn into the outbox."""
    body = turn(str(n)).model_copy(update={"tenant_id": tenant, "user_id": user})
    await commit_turn(body, rt, transport="http")


async def wait_until_empty(dsn: str) -> None:
    """Waits until every publishable row has left the outbox."""
    waiting = "SELECT count(*) FROM event_outbox WHERE failed_at IS NULL"
    await wait_for(lambda: not number(dsn, waiting), "the outbox is empty")


def order(records: list[Stored]) -> dict[str, list[int]]:
    """By user, the numbers of the turns in topic order."""
    found: dict[str, list[int]] = defaultdict(list)
    for record in records:
        event = record.envelope
        found[event.user_id].append(TurnCommitted.model_validate(event.payload).seq)
    return found


async def test_three_relays_preserve_the_order_of_every_user(rt: Runtime, dsn: str, kafka: str, tmp_path: Path) -> None:
    tenant = somebody()
    users = [f"u{n}" for n in range(20)]
    policy = policy_file(tmp_path, delivery={"turns_under_way": 10_000})
    async with running(settings_for(dsn, kafka, policy=policy), ("relay", "relay", "relay")) as relays:

        async def talk(user: str) -> None:
            for n in range(100):
                await commit(rt, tenant, user, n)

        await asyncio.gather(*(talk(user) for user in users))
        await wait_until_empty(dsn)
        owned = (
            "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database AND d.datname = current_database()"
            " WHERE locktype = 'advisory' AND classid = 727002 AND granted"
        )
        await wait_for(lambda: number(dsn, owned) == 16, "every shard has its relay")
        assert number(dsn, "SELECT count(*) FROM relay_members") == len(relays.running)
    found = order(await of_tenant(kafka, tenant, TURN_COMMITTED.name))
    assert found == {user: list(range(1, 101)) for user in users}
    assert number(dsn, "SELECT count(*) FROM event_outbox") == 0


async def test_a_stopping_relay_hands_over_its_shards(rt: Runtime, dsn: str, kafka: str) -> None:
    tenant = somebody()
    async with running(settings_for(dsn, kafka), ("relay", "relay")) as relays:
        for user in range(20):
            await commit(rt, tenant, f"u{user}", 1)
        await relays.stop("relay")
        for user in range(20):
            await commit(rt, tenant, f"u{user}", 2)
        await wait_until_empty(dsn)
    assert order(await of_tenant(kafka, tenant, TURN_COMMITTED.name)) == {f"u{n}": [1, 2] for n in range(20)}


async def test_a_relay_stopped_between_broker_and_outbox_publishes_once(
    rt: Runtime, dsn: str, kafka: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant, sent, really = somebody(), asyncio.Event(), Publisher.send_all

    async def slowly(
        self: Publisher, messages: Sequence[Message], house_hash: str | None = None
    ) -> list[Exception | None]:
        outcomes = await really(self, messages, house_hash)
        sent.set()
        await asyncio.sleep(0.5)
        return outcomes

    async with running(settings_for(dsn, kafka), ("relay",)) as relay:
        monkeypatch.setattr(Publisher, "send_all", slowly)
        await commit(rt, tenant, "u", 1)
        await sent.wait()
        await relay.stop("relay")
        monkeypatch.undo()
        await relay.start("relay")
        await wait_until_empty(dsn)
    assert order(await of_tenant(kafka, tenant, TURN_COMMITTED.name)) == {"u": [1]}


async def test_an_event_that_the_broker_always_refuses_fails_and_blocks_nobody(
    rt: Runtime, dsn: str, kafka: str, tmp_path: Path
) -> None:
    tenant = somebody()
    body = _build_body(turn("large"), rt.version, rt.policy, "trace", (), LearningDecision(True))
    await commit(rt, tenant, "u", 1)
    body |= {"tenant_id": tenant, "user_id": "u"}
    body["envelope"] |= {"tenant_id": tenant, "user_id": "u"}
    body["envelope"]["payload"] = {**body["envelope"]["payload"], "content_hashes": ["x" * 64] * 40_000}
    async with rt.db.single() as conn:
        await conn.execute("SELECT commit_turn(%s::jsonb)", (orjson.dumps(body).decode(),))
    await commit(rt, tenant, "u", 3)
    await commit(rt, tenant, "v", 1)
    policy = policy_file(tmp_path, delivery={"outbox_max_retries": 3})
    async with running(settings_for(dsn, kafka, policy=policy), ("relay",)):
        await wait_until_empty(dsn)
    (failed,) = rows(dsn, "SELECT retry_count, last_error, failed_at FROM event_outbox")
    assert failed["retry_count"] == 3
    assert "TooLarge" in failed["last_error"]
    assert order(await of_tenant(kafka, tenant, TURN_COMMITTED.name)) == {"u": [1, 3], "v": [1]}


async def test_rows_wait_without_the_broker_and_leave_in_order_when_it_returns(
    rt: Runtime, dsn: str, tmp_path: Path
) -> None:
    tenant = somebody()
    with EmbeddedBroker(tmp_path / "broker") as broker:
        await ensure_topics(KafkaAccess(broker.bootstrap))
        async with running(settings_for(dsn, broker.bootstrap), ("relay",)) as relay:
            await commit(rt, tenant, "u", 1)
            await wait_until_empty(dsn)
            await asyncio.to_thread(broker.kill)
            for n in range(2, 6):
                await commit(rt, tenant, "u", n)
            await wait_for(lambda: not_ready(relay), "the relay notices")
            assert number(dsn, "SELECT count(*) FROM event_outbox") == 4
            await asyncio.to_thread(broker.start)
            await wait_until_empty(dsn)
        found = order(await of_tenant(broker.bootstrap, tenant, TURN_COMMITTED.name))["u"]
        assert list(dict.fromkeys(found)) == [1, 2, 3, 4, 5]


async def not_ready(relay: System) -> bool:
    """The relay reports that it cannot publish."""
    state: dict[str, Any] = await relay["relay"].service.ready()
    return not state["kafka"]


async def test_what_is_driven_again_waits_longer_each_time(rt: Runtime, dsn: str) -> None:
    body = _build_body(turn(), rt.version, rt.policy, "trace", (), LearningDecision(True))
    event = TURN_COMMITTED, rt_envelope(body)
    for expected in (1, 0, 0):
        async with rt.db.system() as conn:
            assert await outbox.put_again(conn, [event]) == expected
    await change(dsn, "UPDATE redriven SET last_at = now() - interval '1 hour'")
    async with rt.db.system() as conn:
        assert await outbox.put_again(conn, [event]) == 1
    assert number(dsn, "SELECT tries FROM redriven") == 2


def rt_envelope(body: dict[str, Any]) -> Any:
    """The event of a commit."""
    return Stored(TURN_COMMITTED.name, value=orjson.dumps(body["envelope"])).envelope
