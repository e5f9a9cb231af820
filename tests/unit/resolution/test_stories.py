"""Stories with corrections, resolved without a database: similar facts are not confused."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from services.cli.evaluate.world import World
from tests.system import conversation

AT = datetime(2026, 6, 15, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize("seed", ["story 0", "故事 1", "story 2", "故事 3"])
def test_each_fact_is_active_until_it_is_corrected(seed: str) -> None:
    world = World()
    for n, (said, story) in enumerate(islice(conversation.turns(seed), 200)):
        world.hear(said.text, f"s{n // 25}", AT + timedelta(minutes=n))
        known = [(memory.type, " ".join((memory.text, *memory.words))) for memory in world.active.values()]
        for fact, so in story.expected.items():
            assert sum(fact.said_in(*each) for each in known) == int(so), (n, said.text, fact)
