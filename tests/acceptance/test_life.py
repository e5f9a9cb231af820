"""The month that `smartbrain demo --keep` writes: exactly once, even if it is interrupted and repeated."""

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.cli.life import (
    KEPT,
    Life,
    LifeProgress,
    load_progress,
    quarantine_turn,
    read_lives,
    save_progress,
    set_aside,
    write_lives,
)
from services.cli.web import Web
from tests.system.dead_letters import only_letter
from tests.system.person import Person
from tests.system.running import System, listening
from tests.system.wait import wait_for

TODAY = date(2026, 3, 2)
SESSIONS: dict[str, Any] = {
    "zh": [
        {"session": "tea", "day": -20, "at": "09:00", "turns": [{"user": "我喜欢喝龙井。", "assistant": "好。"}]},
        {"session": "secret", "day": -9, "at": "23:00", "turns": [{"user": "我在考虑辞职。", "assistant": "嗯。"}]},
        {
            "session": "ask",
            "day": -1,
            "at": "10:00",
            "turns": [
                {"user": "我喜欢喝什么？", "assistant": "龙井。", "ask": True},
                {"user": "对，就是龙井。", "assistant": "好。"},
            ],
        },
    ],
    "en": [
        {"session": "tea", "day": -20, "at": "09:00", "turns": [{"user": "I prefer green tea.", "assistant": "OK."}]},
        {
            "session": "secret",
            "day": -9,
            "at": "23:00",
            "turns": [{"user": "I think of quitting.", "assistant": "Oh."}],
        },
        {
            "session": "ask",
            "day": -1,
            "at": "10:00",
            "turns": [
                {"user": "What do I prefer to drink?", "assistant": "Green tea.", "ask": True},
                {"user": "Right, green tea.", "assistant": "Noted."},
            ],
        },
    ],
}


class BrokenOffError(Exception):
    """Simulates Ctrl-C."""


@pytest.fixture(params=["zh", "en"])
def life(request: pytest.FixtureRequest, person: Person, tmp_path: Path) -> Life:
    """A short month of the user, who belongs to the tenant of the demonstration."""
    told = {"user_id": person.user_id, "timezone": "+08:00", "erased": "secret", "sessions": SESSIONS[request.param]}
    (tmp_path / "somebody.yaml").write_text(yaml.safe_dump(told))
    (read,) = read_lives(tmp_path, TODAY)
    return read


async def test_a_month_is_written_once_with_its_own_times(system: System, life: Life, tmp_path: Path) -> None:
    owner = Person(system, life.user_id, "default")
    saved: list[LifeProgress] = []

    def save(progress: LifeProgress, until: int) -> None:
        if progress.turns[life.user_id] == until:
            raise BrokenOffError  # the turn is committed, and the response is lost
        save_progress(tmp_path, progress)
        saved.append(progress)

    def write(url: str, until: int) -> None:
        with Web(url) as web:
            write_lives(web, [life], load_progress(tmp_path, TODAY), lambda each: save(each, until), show=False)

    async with listening(system) as url:
        for until in (1, 3):
            with pytest.raises(BrokenOffError):
                await asyncio.to_thread(write, url, until)
        for _ in range(2):
            await asyncio.to_thread(write, url, 99)
    assert (tmp_path / KEPT).exists()
    assert saved[-1].turns == {life.user_id: 4}
    rows = system.rows(
        "SELECT session_id, min(said_at) AS at, count(*) AS n FROM turns WHERE user_id = %(u)s GROUP BY 1",
        u=life.user_id,
    )
    assert {row["session_id"]: (row["at"].date().isoformat(), row["n"]) for row in rows} == {
        "tea": ("2026-02-10", 1),
        "secret": ("2026-02-21", 1),
        "ask": ("2026-03-01", 2),
    }
    (erasure,) = (await owner.get("/v1/erasures")).json()["erasures"]
    assert erasure["session_ids"] == ["secret"]
    told = "SELECT count(*) FROM injections WHERE user_id = %(u)s AND turn_id IS NOT NULL"
    await wait_for(lambda: owner.number(told), "the package is known to be of its turn")


async def test_a_dead_letter_exists(system: System, person: Person) -> None:
    await asyncio.to_thread(set_aside, system.settings, person.user_id)
    letter = await only_letter(Person(system, person.user_id, "default"))
    assert letter["error"].startswith("invalid_request")


async def test_a_quarantined_turn_exists_until_it_is_dropped(system: System, life: Life) -> None:
    owner = Person(system, life.user_id, "default")

    def write(url: str) -> None:
        with Web(url) as web:
            quarantine_turn(system.dsn, web, life)

    async with listening(system) as url:
        await asyncio.to_thread(write, url)
    (event,) = (await owner.get("/v1/quarantine")).json()["events"]
    assert event["stage"] == "observer"
    who = {"requested_by": "olga", "reason": "looked at"}
    path = f"/v1/quarantine/{event['quarantine_id']}/drop"
    answer = await system.http.post(path, params=owner.whose, json=who)
    assert answer.status_code in (200, 202), answer.text
    assert (await owner.get(f"/v1/quarantine/{event['quarantine_id']}")).json()["state"] == "dropped"
