"""Writes a month of two people's data from deploy/demo/life into a data folder that stays."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import yaml
from rich.progress import track

from schemas.envelope import user_key
from schemas.topics import TURN_COMMIT
from services.cli import compose
from services.cli.output import err, out
from services.cli.supervisor import Supervisor
from services.cli.web import Web
from shared.domain.subjects import Subject
from shared.errors import ConfigurationError, RefusedError
from shared.settings import Settings

FOLDER = "demo-kept"
"""Within the folder of the settings, where none is given."""
KEPT = "life.json"
"""Records the day and the progress of the write, so that it can continue."""
PAUSE = timedelta(minutes=2)
"""Between two turns of a session."""
TENANT = "default"
WITHOUT_MESSAGES: dict[str, Any] = {"session_id": "from-an-old-client", "messages": []}
"""An invalid turn, which becomes a dead letter."""
GIVEN_UP = "a demonstration: the observer gave this event up"


@dataclass(frozen=True)
class LifeTurn:
    """One turn of the month: its body without the package, and whether a package is composed before it."""

    body: dict[str, Any]
    asks: bool


@dataclass(frozen=True)
class Life:
    """The turns of a person's month, and the session that is erased."""

    user_id: str
    turns: Sequence[LifeTurn]
    erased: str


@dataclass(frozen=True)
class LifeProgress:
    """How much of the month stands in the data folder."""

    today: date
    turns: Mapping[str, int]
    set_aside: bool = False


def read_lives(folder: Path, today: date) -> list[Life]:
    """The people of the folder, with months that end on the day before this one."""
    files = sorted(folder.glob("*.yaml"))
    if not files:
        raise ConfigurationError(f"{folder}: no *.yaml; run from a clone")
    return [_read_life(yaml.safe_load(file.read_text("utf-8")), today) for file in files]


def _read_life(told: Mapping[str, Any], today: date) -> Life:
    turns = [turn for session in told["sessions"] for turn in _read_session(told, session, today)]
    return Life(told["user_id"], turns, told["erased"])


def _read_session(person: Mapping[str, Any], session: Mapping[str, Any], today: date) -> Iterator[LifeTurn]:
    at = datetime.fromisoformat(f"{today + timedelta(session['day'])}T{session['at']}{person['timezone']}")
    name, last = session["session"], len(session["turns"]) - 1
    for n, turn in enumerate(session["turns"]):
        spoken = [{"role": role, "content": turn[role]} for role in ("user", "assistant")]
        body = {
            "user_id": person["user_id"],
            "session_id": name,
            "idempotency_key": f"life-{person['user_id']}-{name}-{n}",
            "created_at": (at + n * PAUSE).isoformat(),
            "messages": spoken,
            "items": turn.get("items", []),
        }
        yield LifeTurn({**body, "end_session": True} if n == last else body, bool(turn.get("ask")))


def write_lives(
    web: Web, lives: Sequence[Life], progress: LifeProgress, save: Callable[[LifeProgress], None], *, show: bool = True
) -> LifeProgress:
    """Writes the remaining turns in order, with packages where needed, then the erasures."""
    for life in lives:
        done = progress.turns.get(life.user_id, 0)
        waiting = list(enumerate(life.turns))[done:]
        last: str | None = None
        for n, turn in track(waiting, life.user_id, console=err, disable=not show, transient=True):
            last = _live_through(web, turn, last) or last
            progress = replace(progress, turns={**progress.turns, life.user_id: n + 1})
            save(progress)
        if last:
            web.outcome(life.turns[-1].body, last)
        _erase(web, life)
    return progress


def _live_through(web: Web, turn: LifeTurn, before: str | None) -> str | None:
    """Commits the turn after composing a package, once earlier turns are learnt; the id of the turn."""
    body = turn.body
    if turn.asks:
        if before:
            web.outcome(body, before)
        asked = {name: body[name] for name in ("user_id", "session_id")}
        message = body["messages"][0]["content"]
        package = web.post("/v1/context", {**asked, "user_message": message, "deadline_ms": compose.PATIENCE_MS})
        body = {**body, "context_id": package["context_id"]}
    try:
        return web.post("/v1/turns", body)["turn_id"]
    except RefusedError as error:
        if error.code in ("idempotency_conflict", "erased"):  # it was written when this was broken off
            return None
        raise


def _erase(web: Web, life: Life) -> None:
    asked = {"user_id": life.user_id, "scope": "session", "session_ids": [life.erased]}
    web.post("/v1/erasures", {**asked, "idempotency_key": f"life-{life.user_id}-erased"})


def set_aside(settings: Settings, user_id: str) -> None:
    """Sends an invalid turn over Kafka, which becomes a dead letter of the user."""
    from shared.bus.access import open_access
    from shared.bus.requests import Asker

    async def send() -> None:
        asker = Asker(open_access(settings, "demo"))
        await asker.start()
        try:
            sent = orjson.dumps({"user_id": user_id, **WITHOUT_MESSAGES})
            await asker.ask(TURN_COMMIT, sent, key=user_key(TENANT, user_id), timeout_s=30)
        finally:
            await asker.stop()

    asyncio.run(send())


def quarantine_turn(dsn: str, web: Web, life: Life) -> None:
    """Puts an event of one of the person's turns into quarantine, as if the observer had given it up."""
    from shared.db import Database
    from shared.store import quarantine

    kept = next(turn for turn in life.turns if not turn.asks and turn.body["session_id"] != life.erased)
    result = web.post("/v1/turns", kept.body)

    async def give_up() -> None:
        subject = Subject(TENANT, life.user_id)
        turn_id, event_id = UUID(result["turn_id"]), UUID(result["outbox_event_id"])
        async with Database(dsn, size=1) as db, db.transaction(subject) as conn:
            await quarantine.put(conn, subject, stage="observer", turn_id=turn_id, event_id=event_id, reason=GIVEN_UP)

    asyncio.run(give_up())


def load_progress(place: Path, today: date) -> LifeProgress:
    """The progress in the folder; nothing yet, as of today, if it is new."""
    try:
        kept = orjson.loads((place / KEPT).read_bytes())
    except FileNotFoundError:
        return LifeProgress(today, {})
    return LifeProgress(date.fromisoformat(kept["today"]), kept["turns"], kept["set_aside"])


def save_progress(place: Path, progress: LifeProgress) -> None:
    """It is found when the command is called again."""
    fresh = place / f"{KEPT}.new"
    fresh.write_bytes(orjson.dumps(progress))
    fresh.replace(place / KEPT)


def keep(config: Settings, place: Path, folder: Path) -> None:
    """Writes the month to the data folder and runs the system on it until Ctrl-C."""
    with Supervisor(config.model_copy(update={"data": place})) as machine:
        running = machine.start(say=lambda line: err.print(line, markup=False))
        progress = load_progress(place, date.today())  # noqa: DTZ011 # the day of whoever looks at it
        lives = read_lives(folder, progress.today)
        with Web(running.http) as web:
            progress = write_lives(web, lives, progress, lambda each: save_progress(place, each))
            if not progress.set_aside:
                set_aside(config.model_copy(update={"kafka_bootstrap": running.kafka}), lives[0].user_id)
                quarantine_turn(machine.dsn, web, lives[0])
                save_progress(place, replace(progress, set_aside=True))
        for line in describe(running.services, running.http, place, lives):
            out.print(line, markup=False)
        machine.watch()
        out.print("stopping ...", markup=False)


def describe(services: Mapping[str, str], http: str, place: Path, lives: Sequence[Life]) -> Iterator[str]:
    """Where to look, the console first, and at what."""
    console = services.get("console")
    first, *_ = lives
    names = " and ".join(life.user_id for life in lives)
    if console:
        yield f"Look at it in a browser: {console}  (users {names})"
    yield f"HTTP for programs: {http}  (API: {http}/docs)"
    yield "What to look at:"
    yield f"  memories                      smartbrain memories -u {first.user_id}"
    yield f"  open conflicts                smartbrain conflicts -u {first.user_id}"
    yield f"  packages and their reasons    smartbrain contexts -u {first.user_id}"
    yield f"  an erasure and its proof      smartbrain erase -u {first.user_id} --verify"
    yield "  dead letters                  smartbrain dlq list"
    yield f"In another terminal, with SMARTBRAIN_DATA={place}."
    yield f"Ctrl-C stops it; smartbrain up --data {place} starts it again."
