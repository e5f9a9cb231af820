"""Record batches built and sent by hand, for what no well-behaved client does."""

import time

from aiokafka.client import AIOKafkaClient
from aiokafka.protocol.produce import ProduceRequest
from aiokafka.record.default_records import DefaultRecordBatchBuilder

CORRUPT_MESSAGE = 2
OUT_OF_ORDER_SEQUENCE = 45
INVALID_PRODUCER_EPOCH = 47


def batch(values: list[bytes], producer: int = -1, epoch: int = -1, sequence: int = -1, timestamp: int = 0) -> bytes:
    """One record batch of these values; timestamp in ms, 0 for now; a producer id makes it idempotent."""
    idempotence = {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence}
    builder = DefaultRecordBatchBuilder(2, 0, False, batch_size=1 << 20, **idempotence)
    for number, value in enumerate(values):
        builder.append(number, timestamp or int(time.time() * 1000), None, value, [])
    return bytes(builder.build())


async def produce(bootstrap: str, topic: str, data: bytes) -> tuple[int, int]:
    """The broker's error code and base offset for one batch sent to partition 0."""
    client = AIOKafkaClient(bootstrap_servers=bootstrap)
    await client.bootstrap()
    try:
        request = ProduceRequest(None, -1, 5000, [(topic, [(0, data)])])
        response = await client.send(client.get_random_node(), request)
    finally:
        await client.close()
    ((_, ((_, error, offset, *_),)),) = response.topics
    return error, offset
