"""Backup and restore of a running system: data erased after the backup stays erased, all other data returns."""

import signal
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from services.cli.backup import archive, dump
from services.cli.backup import restore as bring_back
from services.cli.backup.archive import Archive
from services.cli.backup.restore import RestoreReport, RestoreRequest, restore
from shared import clock
from shared.db import Database
from shared.embedded import postgres_programs
from shared.embedded.postgres_programs import ProgramError, Programs
from shared.errors import ConfigurationError
from shared.files import CACHE
from shared.store import api_keys
from shared.store.schema import is_open
from tests.system.backups import catalog, ended, run, started, watching, with_rows_closed, without_schema
from tests.system.databases import Databases, change, number, rows, state
from tests.system.erasures import completed, erase, found, mine
from tests.system.keys import add_key
from tests.system.person import Person, shown
from tests.system.rest import at_rest, find_changes
from tests.system.running import System, policy_file, running, settings_for
from tests.system.wait import wait_for


@dataclass(frozen=True)
class Talk:
    """Three statements per language, the words that identify each, and a question."""

    all: str
    all_needle: str
    session: str
    session_needle: str
    item: str
    item_needle: str
    stays: str
    stays_needle: str
    later: str
    later_needle: str
    question: str


TALK = {
    "zh": Talk(
        "我叫欧阳雪松，我对菠萝蜜过敏。",
        "菠萝蜜",
        "我住在杭州市栖霞岭。",
        "栖霞岭",
        "我喜欢喝凤凰单丛。",
        "凤凰单丛",
        "我养了一只叫墨点的猫。",
        "墨点",
        "我喜欢吃烤鳗鱼。",
        "烤鳗鱼",
        "你还记得我什么？",
    ),
    "en": Talk(
        "My name is Quillon Barnaby and I am allergic to jackfruit.",
        "jackfruit",
        "I live in Tallinn.",
        "Tallinn",
        "I prefer lapsang tea.",
        "lapsang",
        "I work at Northwind.",
        "Northwind",
        "I prefer grilled mackerel.",
        "mackerel",
        "What do you remember of me?",
    ),
}


def rows_holding(dsn: str, person: Person, *needles: str) -> list[str]:
    """The tables in which a row of the user contains one of these words."""
    return [
        table
        for table in found(dsn, *needles)
        if any(
            needle in str(row)
            for row in rows(
                dsn,
                f"SELECT * FROM {table} WHERE user_id = %(u)s",  # noqa: S608 # names of the catalog
                u=person.user_id,
            )
            for needle in needles
        )
    ]


async def find_memories(person: Person, needle: str) -> list[str]:
    """The ids of the user's memories that contain it."""
    ids = [memory["memory_id"] for memory in await person.memories() if needle in memory["content"]]
    assert ids
    return ids


def epoch(dsn: str, person: Person) -> int:
    """The number of erasures of the user in the database."""
    statement = "SELECT coalesce(max(epoch), 0) FROM erasure_epochs WHERE user_id = %(u)s"
    return number(dsn, statement, u=person.user_id)


@pytest.fixture(scope="module")
async def system(databases: Databases, kafka: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[System]:
    """Every service, on its own database, which is backed up as a whole."""
    policy = policy_file(
        tmp_path_factory.mktemp("policy"),
        evolution={"every_s": 3600},
        delivery={"redrive_every_s": 0.5, "redrive_after_s": 2.0},
    )
    async with running(settings_for(databases.fresh(), kafka, policy=policy)) as all_services:
        yield all_services


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_data_erased_after_a_backup_never_returns(system: System, tmp_path: Path, language: str) -> None:
    talk, own, data = TALK[language], system, tmp_path / "data"
    a, b, c = Person(own), Person(own), Person(own)
    await a.say(talk.all, session="s1")
    for person in (b, c):
        await person.say(talk.session, session="moved")
        await person.say(talk.item, session="s1")
        await person.say(talk.stays, session="s1")
    await own.settled()
    file = tmp_path / "smartbrain.dump"
    made = await run(own.dsn, own.bootstrap, "backup", file, data=data)
    assert made.code == 0, made.said
    assert made.told["users"] >= 3
    assert made.told["rows"]["turns"] == own.number("SELECT count(*) FROM turns")
    assert file.stat().st_mode & 0o777 == 0o600
    await completed(a, await erase(a, "all"))
    await completed(b, await erase(b, "session", session_ids=["moved"]))
    await completed(c, await erase(c, "items", memory_ids=await find_memories(c, talk.item_needle)))
    await b.say(talk.later, session="s2")
    await own.settled()
    before = {person.user_id: epoch(own.dsn, person) for person in (a, b, c)}
    gone = [(a, (talk.all_needle,)), (b, (talk.session_needle,)), (c, (talk.item_needle,))]
    asked = [(person, talk.question, needles) for person, needles in gone]
    refused = await run(own.dsn, own.bootstrap, "restore", file, data=data)
    assert refused.code == 1
    assert "--replace" in refused.said
    async with watching(asked) as seen:
        back = await run(own.dsn, own.bootstrap, "restore", file, "--replace", data=data)
    assert back.code == 0, back.said
    assert back.told["serving"]
    assert back.told["sources"]["database"] >= 3
    assert back.told["replayed"] >= 3  # the topic also reports erasures of other databases
    assert seen.leaked == []
    assert set(seen.answers) <= {200, 503}
    assert seen.answers[503]
    for person, needles in gone:
        assert rows_holding(own.dsn, person, *needles) == []
        package = shown(await person.compose(talk.question))
        assert not any(needle in package for needle in needles)
        (tombstone,) = mine(person, "tombstones")
        assert tombstone["status"] == "completed"
        assert tombstone["proof"]["residue"]["rows_left"] == 0
        assert len(mine(person, "audit_events")) == 1
        assert epoch(own.dsn, person) >= before[person.user_id]
    for person in (b, c):
        assert any(talk.stays_needle in content for content in await person.contents())
        assert any(talk.stays_needle in str(row) for row in mine(person, "conversation_events"))
    assert any(talk.item_needle in content for content in await b.contents())
    assert not any(talk.later_needle in content for content in await b.contents())
    for person in (a, b, c):
        await person.say(talk.later, session="s3")
        assert any(talk.later_needle in content for content in await person.contents())
    await own.settled()


def quietly(what: str, done: int, total: int) -> None:
    """Receives the progress."""
    assert what
    assert 0 < done <= total


async def into(
    system: System, dsn: str, file: Path, *, ledger: bool = False, erasures: Path | None = None, **asked: bool
) -> RestoreReport:
    """Restores the file into this database, where `ledger` allows it, with the erasures from the topic."""
    bootstrap = system.bootstrap if ledger else None
    return await restore(system.settings, dsn, bootstrap, RestoreRequest(file, erasures, **asked), quietly)


async def make_backup(system: System, folder: Path, name: str = "one.dump") -> Path:
    """A backup of the current system."""
    await system.settled()
    file = folder / name
    await dump.backup(system.dsn, file, quietly)
    return file


@pytest.mark.kafka
async def test_keys_are_restored_and_keys_revoked_after_the_backup_stay_revoked(
    databases: Databases, kafka: str, tmp_path: Path
) -> None:
    fresh, file, data = databases.fresh(), tmp_path / "smartbrain.dump", tmp_path / "data"
    db = Database(fresh, size=1)
    await db.open()
    try:
        revoked, standing = await add_key(db, "acme"), await add_key(db, "acme")
        assert (await run(fresh, kafka, "backup", file, data=data)).code == 0
        async with db.system() as conn:
            await api_keys.revoke(conn, revoked.key_id)
        later = await add_key(db, "acme")
        assert (await run(fresh, kafka, "restore", file, "--replace", "--without-ledger", data=data)).code == 0
        async with db.system() as conn:
            states = {key.key_id: key.revoked_at is not None for key in await api_keys.list_keys(conn)}
    finally:
        await db.close()
    assert states == {revoked.key_id: True, standing.key_id: False, later.key_id: False}


async def test_the_topic_provides_the_erasures_of_a_lost_database(
    system: System, databases: Databases, tmp_path: Path
) -> None:
    talk = TALK["zh"]
    a, b = Person(system), Person(system)
    for person in (a, b):
        await person.say(talk.all, session="s1")
    file = await make_backup(system, tmp_path)
    receipt = await erase(a, "all")
    await completed(a, receipt)
    await system.settled()
    fresh = databases.empty()
    with pytest.raises(ConfigurationError, match="without-ledger"):
        await into(system, fresh, file)
    assert rows(fresh, "SELECT 1 FROM pg_namespace WHERE nspname LIKE 'smart%%'") == []
    began = clock.now()
    report = await into(system, fresh, file, ledger=True)
    assert report.serving
    assert "database" not in report.sources
    assert rows_holding(fresh, a, talk.all_needle) == []
    assert rows_holding(fresh, b, talk.all_needle)
    (tombstone,) = rows(fresh, "SELECT * FROM tombstones WHERE user_id = %(u)s", u=a.user_id)
    assert str(tombstone["tombstone_id"]) == receipt["tombstone_id"]
    assert tombstone["requested_at"].isoformat() == mine(a, "tombstones")[0]["requested_at"].isoformat()
    assert tombstone["status"] == "completed"
    assert epoch(fresh, a) >= epoch(system.dsn, a)
    assert number(fresh, "SELECT count(*) FROM audit_events WHERE user_id = %(u)s", u=a.user_id) == 1
    restored = "SELECT count(*) FROM audit_events WHERE kind = 'database.restored' AND at > %(began)s"
    assert number(fresh, restored, began=began) == 1
    assert catalog(fresh) == catalog(databases.fresh())
    assert await is_open(fresh)


@pytest.mark.parametrize("scope", ["all", "personal", "session"])
@pytest.mark.parametrize("language", ["zh", "en"])
async def test_data_from_after_a_lost_erasure_stays(
    system: System, databases: Databases, tmp_path: Path, scope: str, language: str
) -> None:
    talk, person = TALK[language], Person(system)
    await person.say(talk.item, session="s1")
    after = await person.commit(talk.stays, session="s1")
    await person.outcome(after["turn_id"])
    first = await make_backup(system, tmp_path)
    await completed(person, await erase(person, scope, **({"session_ids": ["s1"]} if scope == "session" else {})))
    erasures = tmp_path / "erasures.jsonl"
    assert await dump.export(system.dsn, erasures) == system.number("SELECT count(*) FROM tombstones")
    lost = databases.empty()
    assert (await into(system, lost, first, without_ledger=True)).replayed == 0
    assert rows_holding(lost, person, talk.item_needle)
    later = "UPDATE turns SET committed_at = now() + interval '1 hour' WHERE turn_id = %(t)s"
    await change(lost, later, t=after["turn_id"])
    second = tmp_path / "two.dump"
    await dump.backup(lost, second, quietly)
    found_again = databases.empty()
    report = await into(system, found_again, second, erasures=erasures, without_ledger=True)
    assert report.serving
    held = rows_holding(found_again, person, talk.item_needle)
    assert held == (["conversation_events"] if scope == "personal" else [])
    assert {"conversation_events", "memory_items", "memory_chunks"} <= set(
        rows_holding(found_again, person, talk.stays_needle)
    )


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_unobserved_turns_of_an_erased_memory_do_not_recreate_it(
    system: System, tmp_path: Path, language: str
) -> None:
    talk, person = TALK[language], Person(system)
    await person.say(talk.item, session="s1")
    await system.stop("observer")
    await person.commit(talk.stays, session="s1")
    await person.commit(talk.item, session="s2")
    await person.commit(talk.later, session="s2")
    file = tmp_path / "unread.dump"
    await dump.backup(system.dsn, file, quietly)
    await system.start("observer")
    await system.settled()
    named = [*await find_memories(person, talk.item_needle), *await find_memories(person, talk.stays_needle)]
    await completed(person, await erase(person, "items", memory_ids=named))
    assert (await into(system, system.dsn, file, ledger=True, replace=True)).serving
    await system.settled()
    assert rows_holding(system.dsn, person, talk.item_needle, talk.stays_needle) == []
    assert any(talk.later_needle in content for content in await person.contents())


async def kill_restore(system: System, file: Path, data: Path, when: Callable[[], bool]) -> None:
    """A restore that stopped, as after `kill -9`, as soon as this condition held, or completed earlier."""
    process = await started(system.dsn, system.bootstrap, "restore", file, "--replace", "--json", data=data)
    await wait_for(lambda: when() or process.returncode is not None, "the restore is so far")
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    await process.wait()


async def test_a_killed_restore_serves_nobody_and_resumes(system: System, tmp_path: Path) -> None:
    talk, person, data = TALK["en"], Person(system), tmp_path / "data"
    await person.say(talk.all, session="s1")
    file = await make_backup(system, tmp_path)
    await completed(person, await erase(person, "all"))
    await kill_restore(system, file, data, lambda: without_schema(system.dsn))
    if not await is_open(system.dsn):
        assert (await person.get("/v1/memories")).status_code == 503
        assert not (await system["compose"].service.ready())["serving"]
    hold = "SELECT pg_advisory_lock_shared(hashtextextended(%s, 2))"
    with psycopg.connect(system.dsn, autocommit=True) as held:
        held.execute(hold, (f"{person.tenant_id}:{person.user_id}",))
        await kill_restore(system, file, data, lambda: with_rows_closed(system.dsn))
        assert not await is_open(system.dsn)
        assert (await person.get("/v1/memories")).status_code == 503
        assert (await person.post("/v1/turns", person.turn("I like tea."))).status_code == 503
        assert not (await system["compose"].service.ready())["serving"]
    back = await ended(await started(system.dsn, system.bootstrap, "restore", "--resume", "--json", data=data))
    assert back.code == 0, back.said
    assert back.told["replayed"] == 1
    assert rows_holding(system.dsn, person, talk.all_needle) == []
    assert (await system["compose"].service.ready())["serving"]
    await person.say(talk.later, session="s2")


async def test_an_invalid_backup_is_refused_and_changes_nothing(
    system: System, databases: Databases, tmp_path: Path
) -> None:
    await Person(system).say("I prefer green tea.", session="s1")
    good = await make_backup(system, tmp_path)
    newer, edited = databases.fresh(), databases.fresh()
    await change(newer, "INSERT INTO migrations (name) VALUES ('9999_later.sql')")
    await change(edited, "UPDATE migrations SET sha256 = repeat('0', 64) WHERE name = '0002_metadata.sql'")
    files = {
        "no such file": tmp_path / "missing.dump",
        "is not a backup": tmp_path / "words.dump",
        "is damaged": tmp_path / "short.dump",
        "newer SmartBrain": tmp_path / "newer.dump",
        "0002_metadata.sql was applied with another text": tmp_path / "edited.dump",
    }
    files["is not a backup"].write_text("这不是备份。This is no backup.")
    files["is damaged"].write_bytes(good.read_bytes()[:-200])
    await dump.backup(newer, files["newer SmartBrain"], quietly)
    await dump.backup(edited, tmp_path / "edited.dump", quietly)
    before = await at_rest(system)
    for words, file in files.items():
        with pytest.raises(ConfigurationError, match=words):
            await into(system, system.dsn, file, replace=True)
    with pytest.raises(ConfigurationError, match="--replace"):
        await into(system, system.dsn, good)
    with pytest.raises(ConfigurationError, match="no restore to continue"):
        await restore(system.settings, system.dsn, None, RestoreRequest(resume=True), quietly)
    assert find_changes(before, state(system.dsn)) == {}


async def test_unrestorable_rows_leave_the_existing_data(
    system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await Person(system).say("我喜欢喝茶。", session="s1")
    good = await make_backup(system, tmp_path)
    short = tmp_path / "short.dump"
    short.write_bytes(good.read_bytes()[:-200])

    def believed(programs: Programs, path: Path) -> Archive:
        whole = archive.inspect(programs, good)
        return Archive(path, whole.entries, whole.migrations, whole.mark)

    monkeypatch.setattr(bring_back, "inspect", believed)
    before = await at_rest(system)
    with pytest.raises(ProgramError):
        await into(system, system.dsn, short, replace=True)
    assert find_changes(before, state(system.dsn)) == {}
    assert (await system["compose"].service.ready())["serving"]


def test_client_programs_older_than_the_server_are_not_used() -> None:
    with pytest.raises(ConfigurationError, match="the server is PostgreSQL 99"):
        postgres_programs.find(CACHE / "postgres", 99)
    assert postgres_programs.find(CACHE / "postgres", 18).version >= 18
