"""How a client leaves its broker: in a limited time, as aiokafka may try for ever to tell one that is gone."""

# pyright: reportUnknownMemberType=false
# aiokafka carries no types

import asyncio
from contextlib import suppress

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

GOODBYE_S = 10.0
"""What was sent has so long to arrive."""


async def disconnect(*clients: AIOKafkaConsumer | AIOKafkaProducer | None) -> None:
    """Each client has sent what it had and said goodbye, or has been left."""
    for client in clients:
        if client:
            with suppress(KafkaError, TimeoutError):
                async with asyncio.timeout(GOODBYE_S):
                    await client.stop()
