"""A message that retracts one statement and makes another: the new statement stays, whatever the order of ids."""

import pytest

from tests.system.person import Person

PEOPLE = 8
"""Ids are random: with this many users each order of the parts of a message occurs."""
SAID = {
    "zh": ("我打算六月辞职去大理开民宿。", "大理那事黄了，合伙人撤了，我还是老实上班。", "老实上班", "打算六月辞职"),
    "en": (
        "I'm planning to open a guesthouse in Dali in June.",
        "The Dali thing fell through, my partner pulled out, so I'm keeping my job at the bank.",
        "keeping my job",
        "planning to open",
    ),
}


@pytest.mark.parametrize("language", sorted(SAID))
async def test_a_statement_in_a_retracting_message_is_not_retracted(person: Person, language: str) -> None:
    planned, changed, stays, gone = SAID[language]
    for one in [Person(person.system) for _ in range(PEOPLE)]:
        for text, at in ((planned, "2026-04-01T10:00:00Z"), (changed, "2026-04-20T10:00:00Z")):
            result = await one.commit(text, session=at[:10], created_at=at)
            await one.outcome(result["turn_id"])
        texts = [str(each) for each in await one.memories()]
        assert any(stays in text for text in texts), texts
        assert not [text for text in texts if gone in text], texts
