"""The catalog check names each table, view or function that exposes rows, and each role with excessive rights."""

from collections.abc import Generator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from services.evolver import experience, rounds
from shared.db import APP_ROLE, SCHEMA, SYSTEM_ROLE
from shared.domain.subjects import Subject
from tests.integration.store.test_isolation import IDS_ONLY, OF_A_TENANT, SHARED
from tests.system import catalog
from tests.system.databases import rows
from tests.system.person import Person
from tests.system.running import running, settings_for
from tests.system.wait import wait_for

BOUND = "tenant_id = current_setting('app.tenant', true) AND user_id = current_setting('app.user', true)"
TABLE = "CREATE TABLE probe (tenant_id text NOT NULL, user_id text NOT NULL, said text)"
ENABLED = "ALTER TABLE probe ENABLE ROW LEVEL SECURITY"
FORCED = "ALTER TABLE probe FORCE ROW LEVEL SECURITY"
POLICY = f"CREATE POLICY own_rows ON probe TO smartbrain_app USING ({BOUND})"
ISOLATED = (TABLE, ENABLED, FORCED, POLICY)
UNBOUND, NOT_ENABLED, NOT_FORCED = BARE = (
    "probe: no policy binds smartbrain_app",
    "probe: row-level security is not enabled",
    "probe: row-level security is not forced",
)


def holes(dsn: str) -> list[str]:
    """The gaps in the catalog of our schema."""
    return catalog.holes(
        dsn,
        ids_only=frozenset(IDS_ONLY),
        of_a_tenant=frozenset(OF_A_TENANT),
        shared_in_a_tenant=frozenset(SHARED),
    )


def loose(name: str) -> str:
    """The fault of a policy that is too permissive."""
    return f"probe: policy {name} does not bind tenant and user"


def test_no_object_of_the_schema_exposes_rows_to_other_users(dsn: str) -> None:
    assert holes(dsn) == []


def test_runtime_roles_own_nothing_and_have_rights_on_rows_only(dsn: str) -> None:
    found = {row["rolname"] for row in rows(dsn, "SELECT rolname FROM pg_roles WHERE rolname LIKE 'smartbrain\\_%%'")}
    assert {APP_ROLE, SYSTEM_ROLE} <= found
    assert catalog.powers(dsn) == []


@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (ISOLATED, []),
        ((TABLE, ENABLED, FORCED, POLICY.replace("USING (", "USING (said IS NULL AND ")), []),
        ((TABLE,), [*BARE]),
        ((TABLE, ENABLED, POLICY), [NOT_FORCED]),
        ((TABLE, FORCED, POLICY), [NOT_ENABLED]),
        ((TABLE, ENABLED, FORCED), [UNBOUND]),
        (
            (TABLE, ENABLED, FORCED, "CREATE POLICY all_rows ON probe TO smartbrain_system USING (true)"),
            [UNBOUND],
        ),
        (
            (*ISOLATED, "CREATE POLICY more ON probe TO smartbrain_app USING (said IS NULL)"),
            [loose("more")],
        ),
        (
            (*ISOLATED, f"CREATE POLICY more ON probe TO smartbrain_app USING ({BOUND} OR said IS NULL)"),
            [loose("more")],
        ),
        (
            (
                *ISOLATED,
                "CREATE POLICY more ON probe TO smartbrain_app USING (tenant_id = current_setting('app.tenant', true))",
            ),
            [loose("more")],
        ),
        ((*ISOLATED, f"CREATE POLICY anyone ON probe USING ({BOUND})"), [loose("anyone")]),
        (
            (*ISOLATED, "CREATE POLICY writes ON probe FOR INSERT TO smartbrain_app WITH CHECK (true)"),
            [loose("writes")],
        ),
        (("CREATE TABLE probe (id uuid)",), [*BARE]),
        (("CREATE TABLE public.probe (tenant_id text, user_id text)",), [*BARE]),
        (
            (
                f"{TABLE.replace('probe', 'whole')} PARTITION BY LIST (tenant_id)",
                *(each.replace("probe", "whole") for each in (ENABLED, FORCED, POLICY)),
                "CREATE TABLE probe PARTITION OF whole DEFAULT",
            ),
            [*BARE],
        ),
        (("CREATE VIEW probe_seen AS SELECT * FROM turns",), ["probe_seen: a view with the rights of its owner"]),
        (("CREATE VIEW probe_seen WITH (security_invoker = true) AS SELECT * FROM turns",), []),
        (
            ("CREATE MATERIALIZED VIEW probe_kept AS SELECT * FROM turns",),
            ["probe_kept: of a kind that knows no row-level security"],
        ),
        (
            ("CREATE FUNCTION probe_all() RETURNS bigint LANGUAGE sql SECURITY DEFINER RETURN 1",),
            ["probe_all: a function marked SECURITY DEFINER"],
        ),
        (
            ("CREATE FUNCTION probe_leaks() RETURNS bigint LANGUAGE sql LEAKPROOF RETURN 1",),
            ["probe_leaks: a function marked LEAKPROOF"],
        ),
        (
            (*ISOLATED, "CREATE UNIQUE INDEX probe_said ON probe (said)"),
            ["probe_said: unique beyond one tenant"],
        ),
        (("ALTER TABLE inbox ADD COLUMN user_id text",), ["inbox: has a user_id and no policy"]),
        (("ALTER TABLE turns NO FORCE ROW LEVEL SECURITY",), ["turns: row-level security is not forced"]),
        (("DROP POLICY own_rows ON memory_items",), ["memory_items: no policy binds smartbrain_app"]),
    ],
)
def test_every_gap_in_isolation_is_named(dsn: str, statements: tuple[str, ...], named: list[str]) -> None:
    with psycopg.connect(dsn, autocommit=True, options=f"-c search_path={SCHEMA},public") as conn:
        for statement in statements:
            conn.execute(statement)  # pyright: ignore[reportArgumentType, reportCallIssue] # statements of tests
    assert holes(dsn) == sorted(named)


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("ALTER TABLE turns OWNER TO smartbrain_app", "smartbrain_app: owns table turns"),
        ("ALTER FUNCTION commit_turn OWNER TO smartbrain_app", "smartbrain_app: owns function commit_turn(jsonb)"),
        ("CREATE SCHEMA probe AUTHORIZATION smartbrain_system", "smartbrain_system: owns schema probe"),
        ("GRANT CREATE ON SCHEMA smart_brain TO smartbrain_app", "smartbrain_app: creates in schema smart_brain"),
        ("GRANT CREATE ON SCHEMA public TO PUBLIC", "smartbrain_app: creates in schema public"),
        ("GRANT TRUNCATE ON turns TO smartbrain_app", "smartbrain_app: may TRUNCATE turns"),
        ("GRANT TRIGGER ON turns TO smartbrain_system", "smartbrain_system: may TRIGGER turns"),
        (
            "GRANT SELECT ON turns TO smartbrain_app WITH GRANT OPTION",
            "smartbrain_app: may SELECT WITH GRANT OPTION turns",
        ),
    ],
)
def test_every_right_beyond_rows_is_named(dsn: str, statement: str, named: str) -> None:
    rows(dsn, statement)
    assert named in catalog.powers(dsn)


@pytest.mark.parametrize(
    ("attributes", "named"),
    [
        ("BYPASSRLS", "smartbrain_probe: rolbypassrls"),
        ("LOGIN", "smartbrain_probe: rolcanlogin"),
        ("SUPERUSER", "smartbrain_probe: rolsuper"),
        ("CREATEROLE", "smartbrain_probe: rolcreaterole"),
        ("IN ROLE smartbrain_system", "smartbrain_probe: is a smartbrain_system"),
    ],
)
def test_a_role_with_a_role_attribute_is_named(dsn: str, attributes: str, named: str) -> None:
    rows(dsn, f"CREATE ROLE smartbrain_probe {attributes}")
    try:
        assert named in catalog.powers(dsn)
    finally:
        rows(dsn, "DROP ROLE smartbrain_probe")


@pytest.mark.parametrize("role", [APP_ROLE, SYSTEM_ROLE])
@pytest.mark.parametrize(
    "statement",
    [
        "SET ROLE {other}",
        "SET ROLE {owner}",
        "CREATE TABLE probe (id uuid)",
        "CREATE FUNCTION probe() RETURNS bigint LANGUAGE sql RETURN 1",
        "CREATE VIEW probe AS SELECT 1",
        "CREATE SCHEMA probe",
        "CREATE ROLE probe",
        "ALTER ROLE {role} BYPASSRLS",
        "ALTER TABLE turns DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE turns NO FORCE ROW LEVEL SECURITY",
        "ALTER POLICY own_rows ON turns USING (true)",
        "CREATE POLICY more ON turns USING (true)",
        "DROP POLICY own_rows ON turns",
        "DROP TABLE turns",
        "TRUNCATE turns",
        "ALTER FUNCTION commit_turn(jsonb) SECURITY DEFINER",
    ],
)
def test_no_role_can_leave_its_role_or_change_the_policies(dsn: str, role: str, statement: str) -> None:
    other = SYSTEM_ROLE if role == APP_ROLE else APP_ROLE
    with psycopg.connect(dsn, autocommit=True, options=f"-c search_path={SCHEMA},public") as conn:
        owner = conn.info.user
        conn.execute(sql.SQL("SET SESSION AUTHORIZATION {}").format(sql.Identifier(role)))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute(statement.format(role=role, other=other, owner=owner))  # pyright: ignore[reportArgumentType, reportCallIssue] # statements of tests


@pytest.mark.parametrize("role", [APP_ROLE, SYSTEM_ROLE])
def test_row_level_security_cannot_be_disabled_in_a_session(dsn: str, role: str) -> None:
    policed = rows(
        dsn,
        "SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = %(schema)s::regnamespace AND c.relrowsecurity"
        " AND has_any_column_privilege(%(role)s, c.oid, 'SELECT')",
        schema=SCHEMA,
        role=role,
    )
    assert policed
    with psycopg.connect(dsn, autocommit=True, options=f"-c role={role} -c search_path={SCHEMA}") as conn:
        conn.execute("SET row_security = off")
        for each in policed:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(sql.SQL("SELECT 1 FROM {}").format(sql.Identifier(each["name"])))


@pytest.fixture
def login(dsn: str) -> Generator[str]:
    """The DSN of a login that is only a member of the two roles."""
    name = f"services_of_{conninfo_to_dict(dsn)['dbname']}"
    rows(dsn, f"CREATE ROLE {name} LOGIN")
    rows(dsn, f"GRANT {APP_ROLE}, {SYSTEM_ROLE} TO {name} WITH INHERIT FALSE")
    yield make_conninfo(dsn, user=name)
    rows(dsn, f"DROP ROLE {name}")


async def test_services_need_only_a_login_that_is_a_member_of_the_roles(login: str, kafka: str) -> None:
    async with running(settings_for(login, kafka)) as system:
        person = Person(system)
        await person.commit("I like tea.")
        assert await wait_for(person.contents, "what was said is known") == ["I like tea"]
        assert await experience.learn(system["evolver"].rt) is not None
        await rounds.keep_now(system["evolver"].rt, Subject(person.tenant_id, person.user_id), forced=True)


def test_such_a_login_has_no_rights_without_the_roles(dsn: str, login: str) -> None:
    rows(dsn, "INSERT INTO sessions (tenant_id, user_id, session_id) VALUES ('t', 'u', 's')")
    owner = str(conninfo_to_dict(dsn)["user"])
    with psycopg.connect(login, autocommit=True, options=f"-c role={APP_ROLE} -c search_path={SCHEMA}") as conn:
        assert conn.execute("SELECT * FROM sessions").fetchall() == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(owner)))
        conn.execute("SET ROLE NONE")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("SELECT * FROM smart_brain.sessions")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute("ALTER TABLE smart_brain.sessions DISABLE ROW LEVEL SECURITY")
