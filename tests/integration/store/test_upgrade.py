"""An upgrade of a database with rows keeps the rows and gives the same schema as a new database."""

import asyncio
import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from shared.db import SCHEMA
from shared.errors import ConfigurationError
from shared.store import schema
from shared.store.schema import EXTENSIONS, Script, before_start, migrate, read_scripts, scratch
from tests.integration.cli.called import call
from tests.system.backups import catalog
from tests.system.databases import Databases, number, rows, texts
from tests.system.wait import wait_for

ROWS = Path(__file__).with_name("rows_of_0006.sql")
OF_0006 = 6
"""The number of scripts that had been applied when the rows were written; their text never changes
(test_migrations).
"""
TABLES = {
    "sessions",
    "turns",
    "conversation_events",
    "observations",
    "proposals",
    "memory_items",
    "memory_chunks",
    "postings",
    "search_stats",
    "entities",
    "entity_mentions",
    "injections",
    "memory_receipts",
    "context_packages",
    "tombstones",
    "erasure_steps",
    "erasure_epochs",
    "audit_events",
    "wishes",
    "serving",
    "migrations",
}
"""Tables with rows before the upgrade."""
SAID = {
    "conversation_events": ("I prefer lapsang tea", "我对菠萝蜜过敏"),
    "observations": ("Tallinn", "雪球"),
    "memory_items": ("moved to Riga", "凤凰单丛"),
    "memory_chunks": ("lapsang", "菠萝蜜"),
    "context_packages": ("lapsang", "凤凰单丛"),
}
"""The expected rows after the upgrade, in both languages."""
PRE = """
ALTER TABLE turns ADD COLUMN origin text NOT NULL DEFAULT 'talk';
CREATE TABLE origins (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    origin text NOT NULL,
    turns integer NOT NULL CHECK (turns > 0),
    PRIMARY KEY (tenant_id, user_id, origin)
);
ALTER TABLE origins ENABLE ROW LEVEL SECURITY;
ALTER TABLE origins FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON origins TO smartbrain_app
    USING (tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true));
GRANT SELECT ON origins TO smartbrain_app;
INSERT INTO origins SELECT tenant_id, user_id, origin, count(*) FROM turns GROUP BY 1, 2, 3;
CREATE INDEX turns_of_origin ON turns (tenant_id, user_id, origin);
"""
POST = """
ALTER TABLE turns ALTER COLUMN origin DROP DEFAULT;
DROP INDEX memory_also;
"""
LATER = {"8001_pre_origin.sql": PRE, "8002_post_origin.sql": POST}
"""Test scripts of no released version, which show the effect of an upgrade on rows."""


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The scripts folder of a later version."""
    return folder_of(tmp_path, LATER)


def folder_of(parent: Path, more: dict[str, str]) -> Path:
    """A folder with the current scripts and these."""
    folder = parent / "migrations"
    folder.mkdir(exist_ok=True)
    for name, text in {**{each.name: each.statements for each in read_scripts()}, **more}.items():
        (folder / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def old(databases: Databases) -> Generator[str]:
    """A database with rows as SmartBrain of November 2026 left it, without hashes of scripts."""
    dsn = databases.empty()
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE SCHEMA smart_brain")
        conn.execute("SET search_path = smart_brain, public")
        conn.execute("CREATE TABLE migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())")
        for script in read_scripts()[:OF_0006]:
            conn.execute(script.statements.encode())
            conn.execute("INSERT INTO migrations (name) VALUES (%s)", (script.name,))
        for _, statement in EXTENSIONS:
            conn.execute(statement)
        conn.execute(ROWS.read_bytes())
    yield dsn
    databases.drop(dsn)


@pytest.fixture
def empty(databases: Databases) -> Generator[str]:
    """A database without a schema."""
    dsn = databases.empty()
    yield dsn
    databases.drop(dsn)


def load_rows(dsn: str, columns: dict[str, list[str]]) -> dict[str, list[str]]:
    """Every row of these tables, in these columns."""
    return {
        table: [
            str(row)
            for row in rows(dsn, f"SELECT {', '.join(names)} FROM {table} ORDER BY 1, 2, 3, {table}::text")  # noqa: S608 # names from the catalog
        ]
        for table, names in columns.items()
    }


def columns_of(dsn: str) -> dict[str, list[str]]:
    """The columns of every table with user rows."""
    found: dict[str, list[str]] = {}
    statement = """
SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = %(s)s AND table_name IN (
    SELECT table_name FROM information_schema.columns WHERE table_schema = %(s)s AND column_name = 'user_id')
ORDER BY 1, ordinal_position
"""
    for row in rows(dsn, statement, s=SCHEMA):
        found.setdefault(row["table_name"], []).append(row["column_name"])
    return found


def load_hashes(dsn: str) -> dict[str, Any]:
    """The hash of each applied script."""
    return {row["name"]: row["sha256"] for row in rows(dsn, "SELECT name, sha256 FROM migrations")}


def hashes(folder: Path) -> dict[str, str]:
    """The hash of each existing script."""
    return {each.name: each.sha256 for each in read_scripts(folder)}


@pytest.mark.parametrize("steps", ["today", "at once", "before and after the start"])
async def test_existing_rows_stay_and_the_schema_equals_a_new_one(
    old: str, empty: str, tmp_path: Path, steps: str
) -> None:
    folder = folder_of(tmp_path, {} if steps == "today" else LATER)
    assert {table for table, found in texts(old).items() if found} == TABLES
    columns = columns_of(old)
    before = load_rows(old, columns)
    missing = [each.name for each in read_scripts(folder)[OF_0006:]]
    if steps == "before and after the start":
        first = await migrate(old, wanted=before_start, folder=folder)
        later = [name for name in missing if "_post_" in name]
        assert first == [name for name in missing if name not in later]
        assert await migrate(old, wanted=before_start, folder=folder) == []
        assert await migrate(old, folder=folder) == later
    else:
        assert await migrate(old, folder=folder) == missing
    assert load_rows(old, columns) == before
    for table, needles in SAID.items():
        text = texts(old)[table]
        assert [needle for needle in needles if needle not in text] == []
    await migrate(empty, folder=folder)
    assert catalog(old) == catalog(empty)
    assert load_hashes(old) == load_hashes(empty) == hashes(folder)
    assert await migrate(old, folder=folder) == []
    if steps != "today":
        assert number(old, "SELECT turns FROM origins") == len(before["turns"])


async def test_earlier_scripts_get_the_hash_of_their_text_once(old: str, later: Path) -> None:
    await migrate(old)
    await migrate(old)
    assert load_hashes(old) == {each.name: each.sha256 for each in read_scripts()}
    with (later / "0003_wishes.sql").open("a", encoding="utf-8") as script:
        script.write("-- 改过了\n")
    before = catalog(old)
    with pytest.raises(ConfigurationError, match=r"0003_wishes\.sql was applied with another text.*a new script"):
        await migrate(old, folder=later)
    assert catalog(old) == before
    assert load_hashes(old) == {each.name: each.sha256 for each in read_scripts()}


async def test_line_endings_do_not_change_the_hash(dsn: str, later: Path) -> None:
    script = later / "0005_ended.sql"
    script.write_bytes(script.read_bytes().replace(b"\n", b"\r\n"))
    assert await migrate(dsn, folder=later) == [*LATER]


async def test_a_script_that_fails_has_no_effect_and_is_applied_once_corrected(
    old: str, empty: str, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, {**LATER, "8002_post_origin.sql": POST + "SELECT 1 / 0 FROM turns;"})  # noqa: S608 # a script of the test
    with pytest.raises(psycopg.errors.DivisionByZero):
        await migrate(old, folder=folder)
    assert "8002_post_origin.sql" not in load_hashes(old)
    assert number(old, "SELECT count(*) FROM pg_indexes WHERE indexname = 'memory_also'") == 1
    assert number(old, "SELECT turns FROM origins") == number(old, "SELECT count(*) FROM turns")
    assert await migrate(old, folder=folder_of(tmp_path, LATER)) == ["8002_post_origin.sql"]
    await migrate(empty, folder=folder)
    assert catalog(old) == catalog(empty)


async def test_a_migration_whose_connection_is_lost_has_no_effect_and_is_resumed(
    old: str, empty: str, tmp_path: Path
) -> None:
    under_way = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    folder = folder_of(tmp_path, {**LATER, "8001_pre_origin.sql": PRE + "SELECT pg_sleep(600);"})
    migrating = asyncio.create_task(migrate(old, folder=folder))
    await wait_for(lambda: rows(old, f"SELECT pid {under_way}"), "the script is half way")
    rows(old, f"SELECT pg_terminate_backend(pid) {under_way}")
    with pytest.raises(psycopg.OperationalError):
        await migrating
    assert rows(old, "SELECT to_regclass('origins') AS made") == [{"made": None}]
    assert LATER.keys().isdisjoint(load_hashes(old))
    assert await migrate(old, folder=folder_of(tmp_path, LATER)) == [*LATER]
    await migrate(empty, folder=folder)
    assert catalog(old) == catalog(empty)


async def test_an_older_version_runs_with_a_newer_ones_pre_scripts_and_not_with_its_post_scripts(
    dsn: str, later: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    await migrate(dsn, wanted=before_start, folder=later)
    capfd.readouterr()
    assert await migrate(dsn) == []
    told = capfd.readouterr().err
    assert "migrations_of_a_newer_version" in told
    assert "8001_pre_origin.sql" in told
    await migrate(dsn, folder=later)
    with pytest.raises(ConfigurationError, match=r"8002_post_origin\.sql of a newer SmartBrain.*install the newer"):
        await migrate(dsn)


async def test_a_scratch_schema_is_created_by_the_scripts_of_the_live_one(dsn: str) -> None:
    rows(dsn, "DROP INDEX memory_also")
    rows(dsn, "DELETE FROM migrations WHERE name = '0006_also.sql'")
    async with scratch(dsn) as name:
        made = {row["name"] for row in rows(dsn, f"SELECT name FROM {name}.migrations")}  # noqa: S608 # a constant name
        indexes = rows(dsn, "SELECT indexname FROM pg_indexes WHERE schemaname = %(s)s", s=name)
    assert made == {each.name for each in read_scripts()} - {"0006_also.sql"}
    assert "memory_also" not in {row["indexname"] for row in indexes}


def test_the_command_runs_the_scripts_for_the_start_and_the_rest_on_request(
    dsn: str, later: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = read_scripts(later)

    def of_later(*_: Any) -> list[Script]:
        return scripts

    monkeypatch.setattr(schema, "read_scripts", of_later)
    told = {"SMARTBRAIN_DATABASE_URL": dsn, "SMARTBRAIN_DATA": str(tmp_path)}
    first = call("migrate", **told)
    assert "migrations applied: 8001_pre_origin.sql\n" in first.stdout
    assert "8002_post_origin.sql: `smartbrain migrate --post`" in " ".join(first.stdout.split())
    again = json.loads(call("migrate", "--json", **told).stdout)
    assert again == {"applied": [], "waiting": ["8002_post_origin.sql"], "topics": []}
    last = call("migrate", "--post", **told)
    assert "migrations applied: 8002_post_origin.sql\n" in last.stdout
    assert "--post" not in last.stdout


async def test_a_wish_of_a_user_becomes_their_setting(databases: Databases) -> None:
    dsn = databases.empty()
    scripts = [each.name for each in read_scripts()]
    await migrate(dsn, wanted=lambda name: name < "0019")
    wish = (
        "INSERT INTO wishes (tenant_id, user_id, session_id, remember, turn_id, since)"
        " VALUES ('t', %s, %s, %s, gen_random_uuid(), now())"
    )
    chosen = "INSERT INTO user_settings (tenant_id, user_id, chosen) VALUES ('t', 'lin', '{\"language\": \"zh\"}')"
    with psycopg.connect(dsn, autocommit=True, options=f"-c search_path={SCHEMA}") as conn:
        conn.execute(chosen)
        for each in (("lin", "", False), ("anna", "", True), ("anna", "s1", False)):
            conn.execute(wish, each)
        await migrate(dsn, wanted=before_start)
        conn.execute(wish, ("mei", "", False))
        assert await migrate(dsn) == [name for name in scripts if "_post_" in name]
    settings = rows(dsn, "SELECT user_id, chosen FROM user_settings ORDER BY user_id")
    assert [tuple(each.values()) for each in settings] == [
        ("lin", {"language": "zh", "learning": False}),
        ("mei", {"learning": False}),
    ]
    assert [each["session_id"] for each in rows(dsn, "SELECT session_id FROM wishes")] == ["s1"]
