"""Deleted records leave the embedded broker's disk and do not return after a restart or a crash during the deletion."""

import os
import struct
import time
from pathlib import Path

import pytest
from aiokafka import TopicPartition

from shared.embedded.broker.files import FilePool
from shared.embedded.broker.log import Limits, PartitionLog
from shared.embedded.broker.protocol import Code, crc32c
from shared.embedded.broker_process import EmbeddedBroker
from tests.acceptance.broker.clients import consuming, create, send_all
from tests.acceptance.broker.test_delete_records import delete_before, values
from tests.acceptance.broker.wire import batch, produce

HOUR = 3_600_000
CODEC_SNAPPY = 2


def files_with(folder: Path, text: bytes) -> list[str]:
    """The files below the folder that contain the text."""
    return [path.name for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def log_at(folder: Path, segment_bytes: int = 1 << 20, segment_ms: int = HOUR) -> PartitionLog:
    """A log of one partition in this process."""
    return PartitionLog(folder, Limits(-1, -1, segment_bytes, 1 << 20, segment_ms), FilePool())


def list_base_offsets(log: PartitionLog) -> list[int]:
    """The base offsets of the log's batches."""
    return [header.base_offset for segment in log._segments for header, _ in segment.headers()]


@pytest.mark.parametrize("way", ["stop", "kill"])
async def test_deleted_text_is_in_no_file_and_the_start_offset_survives_a_restart(
    embedded: EmbeddedBroker, way: str
) -> None:
    topic = await create(embedded.bootstrap, "text")
    await send_all(embedded.bootstrap, topic, [b"secret-%d" % n for n in range(5)] + [b"other-5"], linger_ms=50)
    await send_all(embedded.bootstrap, topic, [b"other-6"])
    assert files_with(embedded.data, b"secret-")
    assert await delete_before(embedded.bootstrap, topic, 5) == 5
    assert files_with(embedded.data, b"secret-") == []
    getattr(embedded, way)()
    embedded.start()
    async with consuming(embedded.bootstrap) as consumer:
        place = TopicPartition(topic, 0)
        assert await consumer.beginning_offsets([place]) == {place: 5}
    assert await produce(embedded.bootstrap, topic, batch([b"new"])) == (0, 7)
    assert await values(embedded.bootstrap, topic, 3) == [(5, b"other-5"), (6, b"other-6"), (7, b"new")]
    assert files_with(embedded.data, b"secret-") == []


async def test_a_completely_deleted_log_starts_at_its_end_after_a_restart(embedded: EmbeddedBroker) -> None:
    topic = await create(embedded.bootstrap, "whole")
    await send_all(embedded.bootstrap, topic, [b"secret"] * 5)
    assert await delete_before(embedded.bootstrap, topic, 5) == 5
    assert files_with(embedded.data, b"secret") == []
    embedded.kill()
    embedded.start()
    assert await produce(embedded.bootstrap, topic, batch([b"new"])) == (0, 5)


async def test_a_repeated_batch_is_recognised_after_its_front_was_deleted(embedded: EmbeddedBroker) -> None:
    topic = await create(embedded.bootstrap, "sequence")
    assert await produce(embedded.bootstrap, topic, batch([b"a", b"b"], 77, 0, 0)) == (0, 0)
    assert await produce(embedded.bootstrap, topic, batch([b"c"], 77, 0, 2)) == (0, 2)
    assert await delete_before(embedded.bootstrap, topic, 1) == 1
    embedded.kill()
    embedded.start()
    assert await produce(embedded.bootstrap, topic, batch([b"c"], 77, 0, 2)) == (0, 2)
    assert await produce(embedded.bootstrap, topic, batch([b"d"], 77, 0, 3)) == (0, 3)


@pytest.mark.parametrize("offset", range(13))
def test_any_offset_in_any_segment_can_become_the_first(tmp_path: Path, offset: int) -> None:
    log = log_at(tmp_path / "0", segment_bytes=300)
    for first in range(0, 12, 3):
        log.append(batch([b"text-%02d" % n for n in range(first, first + 3)]))
    assert len(list(tmp_path.rglob("*.log"))) > 1
    assert log.delete_before(offset) == Code.NONE
    for each in (log, log_at(tmp_path / "0", segment_bytes=300)):
        assert (each.start_offset, each.end_offset) == (offset, 12)
        assert list_base_offsets(each) == ([offset] if offset < 12 else []) + [n for n in range(0, 12, 3) if n > offset]
    for n in range(12):
        assert bool(files_with(tmp_path, b"text-%02d" % n)) == (n >= offset)


def test_a_crash_between_truncating_and_renaming_a_file_loses_nothing(tmp_path: Path) -> None:
    log = log_at(tmp_path / "0", segment_bytes=300)
    for n in range(12):
        log.append(batch([b"text-%02d" % n]))
    first, *others = sorted(tmp_path.rglob("*.log"))
    assert others
    log.delete_before(1)
    named = first.with_name(f"{1:020d}.log")
    named.rename(first)
    first.with_name(f"{first.name}.new").write_bytes(b"half a copy of what is kept")
    again = log_at(tmp_path / "0", segment_bytes=300)
    assert (again.start_offset, again.end_offset, list_base_offsets(again)) == (1, 12, list(range(1, 12)))
    assert again.append(batch([b"new"])).base_offset == 12
    assert named.exists()
    assert not list(tmp_path.rglob("*.new"))


def test_a_batch_that_cannot_be_split_is_refused_and_nothing_is_deleted(tmp_path: Path) -> None:
    log = log_at(tmp_path / "0")
    log.append(batch([b"before"]))
    log.append(packed_strangely(batch([b"a", b"b"])))
    assert log.delete_before(2) == Code.INVALID_RECORD
    assert (log.start_offset, list_base_offsets(log)) == (0, [0, 1])
    assert log.delete_before(3) == Code.NONE
    assert (log.start_offset, log.end_offset, list_base_offsets(log)) == (3, 3, [])


def packed_strangely(plain: bytes) -> bytes:
    """The batch marked as compressed with snappy, which the broker cannot decompress."""
    body = struct.pack(">h", CODEC_SNAPPY) + plain[23:]
    return plain[:17] + struct.pack(">I", crc32c(body)) + body


def test_a_batch_whose_count_contradicts_its_offsets_is_refused(tmp_path: Path) -> None:
    plain = batch([b"a", b"b"])
    body = plain[21:23] + struct.pack(">i", 5) + plain[27:]
    odd = plain[:17] + struct.pack(">I", crc32c(body)) + body
    assert log_at(tmp_path / "0").append(odd).error == Code.INVALID_RECORD


def test_a_segment_spans_at_most_its_time(tmp_path: Path) -> None:
    began = int(time.time() * 1000) - 2 * HOUR
    log = log_at(tmp_path / "0", segment_ms=HOUR)
    for minutes in (0, 30, 59, 61, 90):
        log.append(batch([b"x"], timestamp=began + minutes * 60_000))
    assert [int(path.stem) for path in sorted(tmp_path.rglob("*.log"))] == [0, 3]


def test_a_full_disk_leaves_the_log_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_at(tmp_path / "0")
    for n in range(3):
        log.append(batch([b"%d" % n]))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        assert log.delete_before(2) == Code.STORAGE_ERROR
    assert list_base_offsets(log) == list_base_offsets(log_at(tmp_path / "0")) == [0, 1, 2]
    assert log.delete_before(2) == Code.NONE
    assert list_base_offsets(log_at(tmp_path / "0")) == [2]
