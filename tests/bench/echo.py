"""A Replier that returns the request: request and reply over Kafka without any work."""

import asyncio
import sys

import uvloop

from schemas.topics import DEGRADE
from shared.bus.access import KafkaAccess
from shared.bus.fetching import UnreadableRecord
from shared.bus.requests import Replier, Request


async def _echo(bootstrap: str) -> None:
    async def answer(request: Request) -> bytes:
        return request.value

    async def forget(_: UnreadableRecord) -> None: ...

    replier = Replier(KafkaAccess(bootstrap), DEGRADE, "bench-echo", answer, forget)
    await replier.start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(_echo(sys.argv[1]))
