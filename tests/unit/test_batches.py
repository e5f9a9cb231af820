"""Record batches are decoded without trusting their producer."""

import contextlib
import random

import cramjam
import pytest

from shared import batches
from shared.batches import HEADER, UnreadableBatchError, header_of, next_after, open_batch, split_batches
from tests.acceptance.broker.wire import CODECS, GZIP, LZ4, SNAPPY, ZSTD, altered, batch
from tests.long import often

VALUES = [b"green tea", "绿茶".encode(), b"", b"x" * 40_000]
PLAIN = batch(VALUES, timestamp=1)


@pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))
def test_decoded_records_equal_the_encoded_ones(codec: int) -> None:
    packed = batch(VALUES, timestamp=1, codec=codec)
    assert len(packed) < len(PLAIN)
    assert open_batch(packed)[HEADER.size :] == PLAIN[HEADER.size :]


def test_snappy_is_read_with_and_without_java_blocks() -> None:
    body = PLAIN[HEADER.size :]
    bare = altered(PLAIN, records=bytes(cramjam.snappy.compress_raw(body)), codec=SNAPPY)
    assert (
        open_batch(bare)[HEADER.size :] == open_batch(batch(VALUES, timestamp=1, codec=SNAPPY))[HEADER.size :] == body
    )


def test_an_uncompressed_batch_is_returned_unchanged() -> None:
    assert open_batch(PLAIN) is PLAIN
    assert open_batch(b"short") == b"short"


def bomb(codec: int) -> bytes:
    pack = {GZIP: cramjam.gzip.compress, LZ4: cramjam.lz4.compress, ZSTD: cramjam.zstd.compress}
    zeros = bytes(batches.LARGEST + 1)
    packed = cramjam.snappy.compress_raw(zeros) if codec == SNAPPY else pack[codec](zeros)
    return altered(PLAIN, records=bytes(packed), codec=codec)


def test_a_damaged_batch_is_refused_by_its_crc() -> None:
    with pytest.raises(UnreadableBatchError, match="CRC"):
        open_batch(PLAIN[:-1] + b"?")


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_an_unknown_codec_is_named(codec: int) -> None:
    with pytest.raises(UnreadableBatchError, match=f"unknown codec {codec}"):
        open_batch(altered(PLAIN, codec=codec))


@pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))
def test_a_decompression_bomb_is_refused(codec: int) -> None:
    with pytest.raises(UnreadableBatchError, match="larger than"):
        open_batch(bomb(codec))


@pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))
def test_random_bytes_are_decoded_or_refused(codec: int) -> None:
    chance = random.Random(codec)
    packed = batch(VALUES, timestamp=1, codec=codec)[HEADER.size :]
    for _ in range(often(5_000, short=100)):
        spoilt = bytearray(packed[: chance.randrange(len(packed) + 1)])
        for _ in range(chance.randrange(8)):
            if spoilt:
                spoilt[chance.randrange(len(spoilt))] = chance.randrange(256)
        with contextlib.suppress(UnreadableBatchError):
            open_batch(altered(PLAIN, records=bytes(spoilt), codec=codec))


def test_consecutive_batches_are_split_at_their_ends() -> None:
    other = batch([b"other"])
    assert list(split_batches(PLAIN + other + PLAIN[:-1])) == [PLAIN, other]
    assert list(split_batches(b"")) == list(split_batches(b"\xff" * 40)) == []


def test_reading_continues_after_the_batch_or_one_offset_further_if_its_header_is_invalid() -> None:
    header = header_of(PLAIN)
    assert header
    at_seven = HEADER.pack(*header._replace(base_offset=7)) + PLAIN[HEADER.size :]
    assert next_after(at_seven, 7) == next_after(at_seven, 9) == next_after(at_seven, 11) == 11
    lying = HEADER.pack(*header._replace(base_offset=7, last_offset_delta=10**9)) + PLAIN[HEADER.size :]
    assert next_after(lying, 7) == 8
    assert next_after(b"", 7) == 8
