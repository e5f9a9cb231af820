"""How far each consumer group is behind its topic, as the broker knows it; unknown where it does not say so in time."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.topics import TOPICS
from shared.bus.access import KafkaAccess
from shared.bus.topic_admin import TopicAdmin, UnwillingError, open_topic_admin
from shared.errors import TransientError

KEPT_S = 3.0
"""So long an answer is used again: pages that renew themselves ask every few seconds."""
WAIT_S = 4.0


@dataclass(frozen=True, slots=True)
class GroupLag:
    """How many records of a topic a group has not had."""

    topic: str
    service: str
    group: str
    lag: int


class GroupLags:
    """The lags of all groups, asked for once however many want them."""

    def __init__(self, kafka: KafkaAccess) -> None:
        self._kafka = kafka
        self._asking = asyncio.Lock()
        self._told: Sequence[GroupLag] | None = None
        self._at = float("-inf")

    async def load(self) -> Sequence[GroupLag] | None:
        """Every group that is behind or not; None where the broker did not tell."""
        async with self._asking:
            if time.monotonic() - self._at > KEPT_S:
                self._told = await self._ask()
                self._at = time.monotonic()
            return self._told

    async def _ask(self) -> Sequence[GroupLag] | None:
        try:
            async with asyncio.timeout(WAIT_S), open_topic_admin(self._kafka) as admin:
                return await _measure(admin)
        except (TransientError, UnwillingError, TimeoutError):
            return None


async def _measure(admin: TopicAdmin) -> list[GroupLag]:
    spans = await admin.spans(topic.name for topic in TOPICS)
    lags: list[GroupLag] = []
    for topic in TOPICS:
        for reader in topic.consumers:
            if not reader.group:
                continue
            had = await admin.load_committed(reader.group)
            behind = sum(
                max(0, end - max(start, had.get(place, start)))
                for place, (start, end) in spans.items()
                if place.topic == topic.name
            )
            lags.append(GroupLag(topic.noun, reader.service, reader.group, behind))
    return lags
