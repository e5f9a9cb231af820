"""The position of a turn: its first open step, whatever was done after it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.compose.manage.operations import list_steps
from shared import clock

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SEEN = {"state": "new", "settled_at": None}
LOOKED = {"state": "analyzed", "settled_at": None}
DONE = {"state": "evolved", "settled_at": AT + timedelta(seconds=2)}
OPEN = {"committed_at": AT, "observed_at": None, "outcome_at": None, "status": None}
OBSERVED = {**OPEN, "observed_at": AT + timedelta(seconds=1)}
SETTLED = {**OBSERVED, "outcome_at": AT + timedelta(seconds=3), "status": "derived"}
IN_OUTBOX = {"topic": "t", "held": False, "failed_at": None}


@pytest.mark.parametrize(
    ("turn", "observations", "waiting", "stands"),
    [
        (OPEN, [], IN_OUTBOX, "published"),
        (OPEN, [], None, "observed"),
        (OBSERVED, [SEEN], None, "analyzed"),
        (OBSERVED, [LOOKED, DONE], None, "evolved"),
        (OBSERVED, [DONE], None, "settled"),
        (SETTLED, [DONE], None, None),
    ],
)
def test_a_turn_is_at_its_first_open_step(
    turn: dict[str, Any], observations: list[dict[str, Any]], waiting: dict[str, Any] | None, stands: str | None
) -> None:
    parts = {"observations": observations, "proposals": [], "quarantine": []}
    steps = list_steps(turn, parts, {"waiting": waiting, "published_at": None})
    assert next((each.step for each in steps if not each.done), None) == stands


@pytest.mark.parametrize(
    ("row", "detail"),
    [({**IN_OUTBOX, "held": True}, "held"), ({**IN_OUTBOX, "failed_at": "2026-03-01"}, "refused"), (IN_OUTBOX, "")],
)
def test_the_outbox_gives_the_reason_for_a_waiting_turn(row: dict[str, Any], detail: str) -> None:
    parts: dict[str, list[dict[str, Any]]] = {"observations": [], "proposals": [], "quarantine": []}
    steps = list_steps(OPEN, parts, {"waiting": row, "published_at": None})
    assert steps[1].detail == detail


def test_quarantine_is_the_last_step() -> None:
    given_up = {"created_at": AT, "stage": "analyzer"}
    parts = {"observations": [SEEN], "proposals": [], "quarantine": [given_up]}
    last = list_steps(OBSERVED, parts, {"waiting": None, "published_at": AT})[-1]
    assert (last.step, last.detail) == ("given_up", "analyzer")


def test_an_id_contains_its_creation_time() -> None:
    before, made = clock.now(), clock.uuid7()
    moment = clock.find_moment(made)
    assert moment is not None
    assert abs((moment - before).total_seconds()) < 5
    assert clock.find_moment(type(made)(int=(0xFFFF_FFFF_FFFF << 80) | (7 << 76) | (2 << 62))) is None
    assert clock.find_moment(type(made)(int=0)) is None
