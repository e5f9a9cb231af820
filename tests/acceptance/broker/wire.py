"""Hand-made record batches that a correct client would not send."""

import time
from collections.abc import Iterable, Sequence

from aiokafka.client import AIOKafkaClient
from aiokafka.protocol.produce import ProduceRequest
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c

from shared.batches import CHECKED_FROM, CODEC_BITS, HEADER, PREFIX, header_of
from tests.system.kafka import Headers

CORRUPT_MESSAGE = 2
CRC_AT = CHECKED_FROM - 4
INVALID_TIMESTAMP = 32
OUT_OF_ORDER_SEQUENCE = 45
INVALID_PRODUCER_EPOCH = 47


GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
CODECS = {"gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4, "zstd": ZSTD}


def batch(
    values: list[bytes],
    producer: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    timestamp: int = 0,
    *,
    codec: int = 0,
    key: bytes | None = None,
    headers: Headers = (),
) -> bytes:
    """A record batch of these values; timestamp in ms, 0 for now; a producer id makes it idempotent."""
    at = timestamp or int(time.time() * 1000)
    return batch_of([(at, key, value, headers) for value in values], codec, producer, epoch, sequence)


Sent = tuple[int, bytes | None, bytes | None, Sequence[tuple[str, bytes | None]]]
"""A record to send: time in ms, key, value, headers."""


def batch_of(records: Sequence[Sent], codec: int = 0, producer: int = -1, epoch: int = -1, sequence: int = -1) -> bytes:
    """A record batch of these records."""
    idempotence = {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence}
    builder = DefaultRecordBatchBuilder(2, codec, False, batch_size=1 << 26, **idempotence)
    for number, (at, key, value, headers) in enumerate(records):
        builder.append(number, at, key, value, list(headers))
    return bytes(builder.build())


def altered(made: bytes, *, records: bytes | None = None, codec: int | None = None) -> bytes:
    """The batch with other record bytes or another compression flag; length and CRC are valid."""
    header = header_of(made)
    assert header
    body = made[HEADER.size :] if records is None else records
    attributes = header.attributes if codec is None else header.attributes & ~CODEC_BITS | codec
    packed = HEADER.pack(*header._replace(attributes=attributes, length=HEADER.size - PREFIX + len(body))) + body
    return packed[:CRC_AT] + calc_crc32c(packed[CHECKED_FROM:]).to_bytes(4, "big") + packed[CHECKED_FROM:]


async def produce(bootstrap: str, topic: str, data: bytes, partition: int = 0) -> tuple[int, int]:
    """The broker's error code and base offset for one batch."""
    (answer,) = await produce_all(bootstrap, [(topic, partition, data)])
    return answer


async def produce_all(bootstrap: str, batches: Iterable[tuple[str, int, bytes]]) -> list[tuple[int, int]]:
    """Sends batches one after the other, each with its topic and partition; their error codes and base offsets."""
    client = AIOKafkaClient(bootstrap_servers=bootstrap)
    await client.bootstrap()
    answers: list[tuple[int, int]] = []
    try:
        for topic, partition, data in batches:
            request = ProduceRequest(None, -1, 5000, [(topic, [(partition, data)])])
            response = await client.send(client.get_random_node(), request)
            ((_, ((_, error, offset, *_),)),) = response.topics
            answers.append((error, offset))
    finally:
        await client.close()
    return answers
