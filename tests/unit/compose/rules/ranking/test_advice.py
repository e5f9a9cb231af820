"""Preferences help with requests for advice."""

from datetime import UTC, datetime

import pytest

from schemas.vocabulary import Intent, MemoryType
from services.compose.rules.candidates import Candidate, weigh_wishes

NOW = datetime(2026, 11, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    ("type", "intent", "likelier"),
    [
        ("preference", "recommend", True),
        ("constraint", "recommend", True),
        ("event", "recommend", False),
        ("preference", "preference_check", False),
        (None, "recommend", False),
    ],
)
def test_preferences_score_higher_for_a_request_for_advice(
    type: MemoryType | None, intent: Intent, likelier: bool
) -> None:
    kind = "memory" if type else "turn"
    memory = Candidate(kind, "likes tea", NOW, memory_id="m" if type else None, memory_type=type, probability=0.1)
    (made,) = weigh_wishes([memory], intent)
    assert (made.probability > 0.1) is likelier
    assert made.probability < 0.5
