"""The order of a user's statements holds, however their events are delivered."""

import pytest

from schemas.topics import OBSERVATION_RECORDED, OBSERVATION_URGENT, TURN_COMMITTED, Topic
from services.analyzer import handler as analyzer
from services.evolver import handler as evolver
from services.observer import handler as observer
from shared.bus.delivery import Delivered, parse
from shared.domain.subjects import Subject
from tests.system.databases import Databases
from tests.system.kafka import Stored
from tests.system.person import Person
from tests.system.running import System, running, settings_for

ACTIVE = "SELECT content_text FROM memory_items WHERE status = 'active' AND type = 'preference' ORDER BY 1"


def read_outbox(system: System, topic: Topic) -> list[Delivered]:
    """The events of the topic in the outbox."""
    rows = system.rows(
        "SELECT payload::text AS body FROM event_outbox WHERE aggregatetype = %(t)s ORDER BY position", t=topic.name
    )
    return [parse(Stored(topic.name, value=row["body"].encode())) for row in rows]


@pytest.mark.parametrize(
    ("first", "correction", "left"),
    [
        ("我喜欢喝美式咖啡。", "不是美式咖啡，我现在喜欢喝龙井茶。", ["龙井"]),
        ("I like jazz.", "I no longer like jazz.", []),
        ("我喜欢喝咖啡。", "我不再喝咖啡了。", []),
    ],
)
async def test_a_correction_delivered_first_corrects_an_earlier_statement(
    databases: Databases, kafka: str, first: str, correction: str, left: list[str]
) -> None:
    async with running(settings_for(databases.fresh(), kafka), ("compose",)) as system:
        rt = system["compose"].rt
        person = Person(system)
        subject = Subject(person.tenant_id, person.user_id)
        await person.commit(first)
        await person.commit(correction)
        await observer.observe_turns(rt, subject, read_outbox(system, TURN_COMMITTED))
        await evolver.apply_corrections(rt, subject, read_outbox(system, OBSERVATION_URGENT))
        await analyzer.propose(rt, subject, read_outbox(system, OBSERVATION_RECORDED))
        active = [row["content_text"] for row in system.rows(ACTIVE)]
        positive = [text for text in active if "不" not in text and "no " not in text and "not" not in text]
        assert len(positive) == len(left)
        assert all(any(word in text for text in positive) for word in left)
        assert system.number("SELECT count(*) FROM turns WHERE outcome_at IS NULL") == 0
        assert system.number("SELECT count(*) FROM proposals WHERE state = 'new'") == 0
