"""How many records of a user topics still hold."""

from collections import Counter
from datetime import datetime

from services.erasure.topics.purge import CARRIERS, Carriers, TopicSearch
from shared.bus.access import KafkaAccess
from shared.bus.topic_admin import open_topic_admin
from shared.domain.subjects import Subject


async def count_left(
    kafka: KafkaAccess, subject: Subject, asked_at: datetime, *, carriers: Carriers = CARRIERS
) -> dict[str, int]:
    """By topic how many records can be read that are the user's from before `asked_at`; of replies: that may be."""
    async with open_topic_admin(kafka) as broker:
        search = await TopicSearch.begin(broker, subject, asked_at, carriers)
        counts: Counter[str] = Counter()
        for topic in carriers.topics:
            for each in await search.dead(topic):
                counts[topic.dead_letter] += len(each.hers)
        for topic in carriers.inbound:
            for each in await search.inbound(topic):
                counts[topic.name] += len(each.hers)
        for topic in carriers.replies:
            for place, (start, end) in (await search.replies(topic)).items():
                counts[place.topic] += end - start
        return dict(+counts)
