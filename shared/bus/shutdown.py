"""Closes clients within a time limit, because aiokafka may try forever to reach an unavailable broker."""

# pyright: reportUnknownMemberType=false
# aiokafka carries no types

import asyncio
from contextlib import suppress

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

GOODBYE_S = 10.0
"""The time limit for sending buffered records."""


async def disconnect(*clients: AIOKafkaConsumer | AIOKafkaProducer | None) -> None:
    """Flushes and closes each client, or abandons it after the time limit."""
    for client in clients:
        if client:
            with suppress(KafkaError, TimeoutError):
                async with asyncio.timeout(GOODBYE_S):
                    await client.stop()
