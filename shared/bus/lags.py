"""The lag of each consumer group according to the broker; unknown if it does not answer in time."""

import asyncio
import time
from collections.abc import Sequence

from schemas.operations import GroupFlow
from schemas.topics import TOPICS
from shared.bus.access import KafkaAccess
from shared.bus.topic_admin import TopicAdmin, UnwillingError, open_topic_admin
from shared.errors import TransientError

FRESH_S = 3.0
"""A younger answer is reused; an older one too, while the next is requested."""
KEPT_S = 60.0
"""The maximum age of the last answer."""
WAIT_S = 4.0


class GroupLags:
    """The lags of all groups, requested once for all callers; only the first caller waits."""

    def __init__(self, kafka: KafkaAccess) -> None:
        self._kafka = kafka
        self._asking: asyncio.Task[None] | None = None
        self._told: Sequence[GroupFlow] | None = None
        self._at = float("-inf")

    async def load(self) -> Sequence[GroupFlow] | None:
        """The lag of every group, seconds old at most; None if the broker did not answer."""
        age = time.monotonic() - self._at
        if age > FRESH_S and (self._asking is None or self._asking.done()):
            self._asking = asyncio.create_task(self._renew(), name="lags")
        if age > KEPT_S and self._asking:
            await asyncio.shield(self._asking)
        return self._told

    async def _renew(self) -> None:
        self._told = await self._ask()
        self._at = time.monotonic()

    async def _ask(self) -> Sequence[GroupFlow] | None:
        try:
            async with asyncio.timeout(WAIT_S), open_topic_admin(self._kafka) as admin:
                return await _measure(admin)
        except (TransientError, UnwillingError, TimeoutError):
            return None


async def _measure(admin: TopicAdmin) -> list[GroupFlow]:
    spans = await admin.spans(topic.name for topic in TOPICS)
    readers = [(topic, reader) for topic in TOPICS for reader in topic.consumers if reader.group]
    offsets = await asyncio.gather(*(admin.load_committed(reader.group) for _, reader in readers))
    lags: list[GroupFlow] = []
    for (topic, reader), had in zip(readers, offsets, strict=True):
        behind = sum(
            max(0, end - max(start, had.get(place, start)))
            for place, (start, end) in spans.items()
            if place.topic == topic.name
        )
        lags.append(GroupFlow(topic=topic.noun, service=reader.service, group=reader.group, lag=behind))
    return lags
