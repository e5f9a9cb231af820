"""A purge on the embedded broker removes text from disk; without DeleteRecords it stays until retention ends."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from services.erasure.topics.purge import Purged
from shared.embedded.broker import Broker, BrokerSettings, handle_cluster, protocol
from shared.embedded.broker_process import EmbeddedBroker
from tests.acceptance.broker.test_embedded_delete_records import files_with
from tests.acceptance.broker.test_purge import ANNA, BEN, World, letter, made, moment, now_ms, said
from tests.system.kafka import Stored, read

DELETE_RECORDS = 21
DAY = 24 * 3_600_000


@pytest.fixture
async def old_broker(embedded: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Broker]:
    """A broker in this process without DeleteRecords."""
    ranges = [each for each in protocol.VERSION_RANGES if each[0] != DELETE_RECORDS]
    monkeypatch.setattr(handle_cluster, "VERSION_RANGES", ranges)
    broker = Broker(BrokerSettings(tmp_path / "old"))
    await broker.start()
    yield broker
    await broker.stop()


async def write_and_consume(world: World, at: int) -> None:
    """Both users have records in every kind of topic, and all records are consumed."""
    for who in (BEN, ANNA, BEN):
        text = f"{who.user_id}'s words"
        await world.put(
            letter(world.commit, who, text, at),
            Stored(world.commit.name, 0, 0, None, said(who, text), (), at),
            Stored(world.request.name, 0, 0, b"0a1b", said(who, text), (), at),
            Stored(world.reply.name, 0, 0, b"0a1b", said(who, text), (), at),
        )
    await world.consume(world.commit, 3)
    await world.consume(world.request, 3)


async def test_the_text_is_in_no_broker_file_even_after_a_crash(embedded: EmbeddedBroker) -> None:
    world = await made(embedded.bootstrap)
    at = now_ms()
    await write_and_consume(world, at)
    assert files_with(embedded.data, b"anna's words")
    purged = await world.purge(moment(at + 1000))
    assert purged.clear_by is None
    assert files_with(embedded.data, b"anna's words") == []
    embedded.kill()
    embedded.start()
    assert files_with(embedded.data, b"anna's words") == []
    assert await world.left(moment(at + 1000)) == {}
    assert [r.value for r in await read(embedded.bootstrap, world.commit.dead_letter)] == [said(BEN, "ben's words")] * 2
    assert await world.purge(moment(at + 1000)) == Purged()


async def test_a_broker_without_delete_records_copies_nothing_and_retention_is_named(old_broker: Broker) -> None:
    world = await made(old_broker.bootstrap)
    at = now_ms()
    await write_and_consume(world, at)
    before = await world.left(moment(at + 1000))
    assert set(before) == {
        world.commit.dead_letter,
        world.commit.name,
        world.request.name,
        world.reply.name,
    }
    assert await world.purge(moment(at + 1000)) == Purged(clear_by=moment(at + DAY))
    assert await world.left(moment(at + 1000)) == before
    assert len(await read(old_broker.bootstrap, world.commit.dead_letter)) == 3
