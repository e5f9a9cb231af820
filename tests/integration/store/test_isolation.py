"""Row-level security on every table of the catalog: one user's rows are not accessible to others."""

from collections.abc import AsyncGenerator
from uuid import uuid4

import psycopg
import pytest

from services.evolver import experience, rounds
from shared.db import SCHEMA, Database, Read
from shared.domain.subjects import Subject
from shared.domain.tables import TABLES
from tests.system.databases import change, number, rows, texts
from tests.system.erasures import completed, erase
from tests.system.person import Person
from tests.system.running import System
from tests.system.strays import stray
from tests.system.wait import wait_for

IDS_ONLY = {table.name for table in TABLES if table.owner == "nobody"}
"""Tables without user text: isolated by their content, not by row-level security."""
OF_THE_HOUSE = {"house_secret"}
"""Tables without an owner that only `smartbrain_system` may read."""
SAYS = {
    "turns": {"result", "outcome", "request_hash"},
    "observations": {"value", "text", "old_value", "key", "reason"},
    "proposals": {"key", "reason"},
    "media": {"recognized_text", "media_id"},
    "memory_chunks": {"text", "media", "tsv", "name", "embedding", "static_vector"},
    "vector_pages": {"ids", "codes"},
    "quarantine": {"reason"},
    "model_answers": {"raw", "problem"},
    "memory_items": {"key", "value", "content_text", "content_hash", "provenance", "source_sessions"},
    "promotions": {"figures", "reason", "org_id", "document_id", "write_reason"},
    "resources": {"reason", "document_id", "content_hash"},
    "model_cache": {"answer", "said"},
}
OF_A_TENANT = {"knowledge_versions", "api_keys", "tenant_settings"}
"""Tables without user data: everybody in a tenant may read and count their rows, nobody may delete them."""
SHARED = {"agent_experience"}
"""Tables with rows of a whole tenant as well as of one user."""
READ_ONLY = {
    *SHARED,
    "tombstones",
    "erasure_steps",
    "erasure_epochs",
    "erasure_suppressions",
    "audit_events",
    "api_keys",
}
"""Tables that the application may only read, so that every change is refused."""


@pytest.fixture
async def db(dsn: str) -> AsyncGenerator[Database]:
    """The pools on a new database."""
    found = Database(dsn, size=2)
    await found.open()
    yield found
    await found.close()


def tables(dsn: str) -> dict[str, bool]:
    """Every table of the schema, and whether it has forced row-level security."""
    statement = (
        "SELECT relname, relrowsecurity AND relforcerowsecurity AS forced FROM pg_class"
        " WHERE relnamespace = %(schema)s::regnamespace AND relkind IN ('r', 'p')"
    )
    return {row["relname"]: row["forced"] for row in rows(dsn, statement, schema=SCHEMA)}


def test_every_table_has_forced_row_level_security_or_contains_only_ids(dsn: str) -> None:
    found = tables(dsn)
    assert {name for name, forced in found.items() if not forced} == IDS_ONLY - OF_THE_HOUSE
    owned = rows(
        dsn,
        "SELECT table_name FROM information_schema.columns WHERE table_schema = %(schema)s"
        " AND column_name = 'tenant_id' AND table_name IN (SELECT relname FROM pg_class WHERE relkind = 'r')",
        schema=SCHEMA,
    )
    assert {row["table_name"] for row in owned} == set(found) - IDS_ONLY


def test_every_view_has_the_rights_of_its_caller(dsn: str) -> None:
    views = rows(
        dsn,
        "SELECT relname, reloptions FROM pg_class WHERE relnamespace = %(schema)s::regnamespace AND relkind = 'v'",
        schema=SCHEMA,
    )
    assert views
    assert all("security_invoker=true" in (view["reloptions"] or []) for view in views)


def count_rows(person: Person, context_id: str) -> int:
    """The number of rows of the package in the table."""
    return person.system.number("SELECT count(*) FROM injections WHERE context_id = %(c)s", c=context_id)


async def everybody(person: Person) -> None:
    """Writes rows of the user into every table that a turn can fill or that accepts only certain values."""
    await person.commit("我喜欢喝茶。", session="s1")
    await person.say("不对，我喜欢喝咖啡，不是茶。Marta lives in Oslo. Marta called.", session="s1")
    await person.system.http.put(
        "/v1/media/m1", json={**person.whose, "type": "image", "security_status": "safe", "recognized_text": "一张图"}
    )
    await person.say("我们决定用 PostgreSQL 做主存储。", session="s1", tool_calls=[{"name": "create_ticket"}])
    await experience.learn(person.system["evolver"].rt)
    package = await person.compose("我喜欢喝什么？", session="s1")
    await wait_for(lambda: count_rows(person, package.context_id), "the package is recorded")
    subject = {"t": person.tenant_id, "u": person.user_id}
    await person.system.change(
        "INSERT INTO quarantine (tenant_id, user_id, quarantine_id, stage, event_id, reason)"
        " VALUES (%(t)s, %(u)s, gen_random_uuid(), 'test', gen_random_uuid(), 'test')",
        **subject,
    )
    await person.system.change(
        "INSERT INTO model_answers (tenant_id, user_id, answer_id, turn_id, prompt, prompt_version, model, problem,"
        " raw, expires_at) VALUES (%(t)s, %(u)s, gen_random_uuid(), gen_random_uuid(), 'extract', 'extract-2', 'm',"
        " 'test', 'test', now() + interval '1 day')",
        **subject,
    )
    await person.system.change(
        "INSERT INTO promotions (tenant_id, user_id, proposal_id, memory_id, class, visibility, status, figures,"
        " expires_at) VALUES (%(t)s, %(u)s, gen_random_uuid(), gen_random_uuid(), 'personal', 'store',"
        " 'pending_approval', '{}', now() + interval '1 day')",
        **subject,
    )
    await person.system.change(
        "INSERT INTO model_cache (tenant_id, user_id, input_hash, purpose, prompt_version, model, said, answer)"
        " VALUES (%(t)s, %(u)s, 'hash', 'extract', 'extract-2', 'm', 'digest', '{}')",
        **subject,
    )
    await person.system.change(
        "INSERT INTO model_usage (tenant_id, user_id, day, purpose, calls, tokens_in, tokens_out, seconds, malformed)"
        " VALUES (%(t)s, %(u)s, current_date, 'extract', 1, 1, 1, 1, 0)",
        **subject,
    )
    await person.system.change(
        "INSERT INTO wishes (tenant_id, user_id, session_id, remember, turn_id, since)"
        " VALUES (%(t)s, %(u)s, 's', false, gen_random_uuid(), now())",
        **subject,
    )
    await person.system.change(
        "INSERT INTO shown_lists (tenant_id, user_id, session_id, facts, notes) VALUES (%(t)s, %(u)s, 's', '{}', '{}')",
        **subject,
    )
    await person.system.change(
        "INSERT INTO conflicts (tenant_id, user_id, conflict_id, memory_id, observation_id, kind, opened_at)"
        " VALUES (%(t)s, %(u)s, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'test', now())",
        **subject,
    )
    await person.system.change(
        "INSERT INTO resources (tenant_id, user_id, resource_id, turn_id, session_id, ordinal, ref_type, source_type,"
        " uri_hash, state) VALUES (%(t)s, %(u)s, gen_random_uuid(), gen_random_uuid(), 's', 0, 'url', 'url', 'h',"
        " 'pending')",
        **subject,
    )
    await person.system.change(
        "INSERT INTO knowledge_versions (tenant_id, version) VALUES (%(t)s, 1)", t=person.tenant_id
    )
    await person.system.change(
        "UPDATE memory_items SET correction_count = 3 WHERE tenant_id = %(t)s", t=person.tenant_id
    )
    await person.say("再见。", session="gone")
    await completed(person, await erase(person, "session", session_ids=["gone"]))
    await person.system.change(
        "INSERT INTO erasure_suppressions (tenant_id, user_id, content_hash, tombstone_id, epoch)"
        " VALUES (%(t)s, %(u)s, 'hash', gen_random_uuid(), 1)",
        **subject,
    )
    await person.system.change(
        "INSERT INTO vector_pages (tenant_id, user_id, set_id, model_id, page, version, until, covered, ids, codes)"
        " VALUES (%(t)s, %(u)s, 's', 's', 0, gen_random_uuid(), now(), 0, '', '')",
        **subject,
    )
    await rounds.keep_now(person.system["evolver"].rt, Subject(person.tenant_id, person.user_id), forced=True)


@pytest.fixture
async def filled(person: Person) -> AsyncGenerator[Person]:
    """A user with rows in every table; the key is deleted at the end, because its existence would require keys."""
    await everybody(person)
    await person.system.change(
        "INSERT INTO api_keys (tenant_id, key_id, name, scopes, secret_hash, ends_at)"
        " VALUES (%(t)s, %(u)s, 'test', '{read}', repeat('0', 64), now() - interval '1 day')",
        t=person.tenant_id,
        u=person.user_id,
    )
    yield person
    await person.system.change("DELETE FROM api_keys WHERE tenant_id = %(t)s", t=person.tenant_id)


async def test_rows_of_others_can_be_neither_read_nor_written(system: System, filled: Person) -> None:
    person = filled
    names = sorted(set(tables(system.dsn)) - IDS_ONLY)
    for name in names:
        if not number(system.dsn, f"SELECT count(*) FROM {name}"):  # noqa: S608
            stray(system.dsn, name, tenant_id=person.tenant_id, user_id=person.user_id)
    db = system["compose"].rt.db
    strangers = [Subject(person.tenant_id, "b"), Subject("b", person.user_id), Subject("", ""), Subject("%", "%")]
    for name in [*names, "messages", "tool_calls", "refs"]:
        for stranger in strangers[1:] if name in OF_A_TENANT else strangers:
            async with db.transaction(stranger) as conn:
                cursor = await conn.execute(f"SELECT count(*) AS n FROM {name}")  # noqa: S608
                assert (await cursor.fetchone() or {})["n"] == 0, name
    for name in names:
        column = await a_column(system, name)
        if name in READ_ONLY:
            for change in (f"UPDATE {name} SET {column} = {column}", f"DELETE FROM {name}"):  # noqa: S608
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    async with db.transaction(strangers[0]) as conn:
                        await conn.execute(change)
        elif name in OF_A_TENANT:
            async with db.transaction(strangers[1]) as conn:
                assert (await conn.execute(f"UPDATE {name} SET {column} = {column}")).rowcount == 0, name  # noqa: S608
        elif name != "conversation_events":
            async with db.transaction(strangers[0]) as conn:
                assert (await conn.execute(f"UPDATE {name} SET {column} = {column}")).rowcount == 0, name  # noqa: S608
                assert (await conn.execute(f"DELETE FROM {name}")).rowcount == 0, name  # noqa: S608
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            async with db.transaction(strangers[1] if name in OF_A_TENANT else strangers[0]) as conn:
                await conn.execute(
                    f"INSERT INTO {name} SELECT (jsonb_populate_record(NULL::{name}, %s::jsonb)).*",
                    (await a_row(system, name),),
                )


async def a_column(system: System, name: str) -> str:
    """An updatable column."""
    (row, *_) = system.rows(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %(n)s AND is_generated = 'NEVER'"
        " ORDER BY ordinal_position DESC",
        n=name,
    )
    return row["column_name"]


async def a_row(system: System, name: str) -> str:
    """Another user's row as JSON."""
    return system.rows(f"SELECT to_jsonb(t)::text AS row FROM {name} t LIMIT 1")[0]["row"]  # noqa: S608


async def test_an_unbound_connection_sees_nothing(system: System, person: Person) -> None:
    await person.say("I like tea.")
    db = system["compose"].rt.db
    for name in sorted(set(tables(system.dsn)) - IDS_ONLY):
        async with db.single() as conn:
            cursor = await conn.execute(f"SELECT count(*) AS n FROM {name}")  # noqa: S608
            assert (await cursor.fetchone() or {})["n"] == 0, name


async def test_the_system_role_reads_no_user_text(system: System, person: Person) -> None:
    await person.say("I like zanzibar tea.")
    readable = rows(
        system.dsn,
        "SELECT c.relname AS table, a.attname AS column FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
        " WHERE c.relnamespace = %(schema)s::regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0"
        " AND NOT a.attisdropped AND has_column_privilege('smartbrain_system', c.oid, a.attnum, 'SELECT')",
        schema=SCHEMA,
    )
    assert readable
    db = system["compose"].rt.db
    for row in readable:
        async with db.system() as conn:
            cursor = await conn.execute(f"SELECT string_agg(\"{row['column']}\"::text, ',') AS all FROM {row['table']}")  # noqa: S608
            assert "zanzibar" not in ((await cursor.fetchone() or {})["all"] or ""), row
    allowed = {(row["table"], row["column"]) for row in readable}
    assert not {(table, column) for table, columns in SAYS.items() for column in columns} & allowed
    assert not {"conversation_events", "upkeep", "session_summaries", "entities"} & {t for t, _ in allowed}
    assert "zanzibar" in str(texts(system.dsn))


async def test_pooled_connections_keep_no_user(db: Database) -> None:
    for _ in range(10):
        async with db.transaction(Subject("t", str(uuid4()))) as conn:
            await conn.execute("SELECT 1")
        async with db.single() as conn:
            cursor = await conn.execute(
                "SELECT current_setting('app.tenant', true) AS t, current_setting('app.user', true) AS u"
            )
            row = await cursor.fetchone()
            assert row
            assert not row["t"]
            assert not row["u"]


async def test_the_role_cannot_be_changed(db: Database, dsn: str) -> None:
    roles = rows(
        dsn, "SELECT rolname, rolsuper, rolbypassrls, rolcanlogin FROM pg_roles WHERE rolname LIKE 'smartbrain_%%'"
    )
    assert {role["rolname"] for role in roles} == {"smartbrain_app", "smartbrain_system", "smartbrain_erasure"}
    assert not any(r["rolsuper"] or r["rolbypassrls"] or r["rolcanlogin"] for r in roles)
    async with db.single() as conn:
        row = await (await conn.execute("SELECT current_user AS me")).fetchone()
        assert row
        assert row["me"] == "smartbrain_app"
    async with db.system() as conn:
        row = await (await conn.execute("SELECT current_user AS me")).fetchone()
        assert row
        assert row["me"] == "smartbrain_system"


async def test_a_read_binds_its_own_user_and_no_later_one(db: Database, dsn: str) -> None:
    for user in ("a", "b"):
        await change(
            dsn, "INSERT INTO sessions (tenant_id, user_id, session_id) VALUES ('t', %(u)s, 's') RETURNING 1", u=user
        )
    seen: Read[list[str]] = Read("SELECT user_id FROM sessions", {}, lambda found: [row["user_id"] for row in found])
    for user in ("a", "b", "nobody") * 3:
        expected = [user] if user != "nobody" else []
        assert await db.read(Subject("t", user), seen, seen) == (expected, expected)
        async with db.single() as conn:
            assert await seen.on(conn) == []
