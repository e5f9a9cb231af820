"""The data files of the month that a kept demonstration writes."""

from datetime import date
from pathlib import Path

from schemas.turn_events import TurnEvents
from services.cli.life import read_lives

LIFE = Path(__file__).parents[3] / "deploy" / "demo" / "life"


def test_the_kept_demonstration_is_a_month_of_two_users_in_both_languages() -> None:
    today = date(2026, 3, 31)
    lives = read_lives(LIFE, today)
    assert [life.user_id for life in lives] == ["owen", "zhou-min"]
    for life in lives:
        turns = [TurnEvents.model_validate(turn.body) for turn in life.turns]
        assert all(set(turn.body) <= set(TurnEvents.model_fields) for turn in life.turns)
        assert 60 <= len(turns) <= 100
        times = [turn.created_at for turn in turns if turn.created_at]
        assert times == sorted(times)
        assert len(times) == len({turn.idempotency_key for turn in turns}) == len(turns)
        assert 28 <= (times[-1].date() - times[0].date()).days <= 30
        assert times[-1].date() < today
        assert sum(turn.asks for turn in life.turns) >= 5
        assert life.erased in {turn.session_id for turn in turns}
