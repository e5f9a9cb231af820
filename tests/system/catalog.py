"""Checks the isolation of a database in its catalog: every gap, by name."""

import re

from shared.db import ERASURE_ROLE, SYSTEM_ROLE
from tests.system.databases import rows

ROLES = "smartbrain\\_%"
TENANT = "(tenant_id = current_setting('app.tenant'::text, true))"
USER = "(user_id = current_setting('app.user'::text, true))"
NOBODY = "(user_id = current_setting('app.erased'::text, true))"
"""The user that an erasure writes into the remaining receipts."""
SHARED_OR_OWN = f"((user_id IS NULL) OR {USER})"
_OURS = """
    AND NOT starts_with(n.nspname, 'pg_') AND n.nspname <> 'information_schema' AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = {catalog}::regclass AND d.objid = {object}.oid AND d.deptype = 'e')
"""
_OUR_RELATIONS = _OURS.format(catalog="'pg_class'", object="c")
_OUR_FUNCTIONS = _OURS.format(catalog="'pg_proc'", object="p")
_RELATIONS = """
SELECT c.oid, c.relname AS name, c.relkind::text AS kind, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
    coalesce('security_invoker=true' = ANY(c.reloptions), false) AS invoker,
    ARRAY(SELECT attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) AS columns
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""
_POLICIES = """
SELECT polname AS name, polpermissive AS permissive, polroles = ARRAY[0::oid] AS everyone,
    ARRAY(SELECT rolname::text FROM pg_roles WHERE oid = ANY(polroles)) AS roles,
    pg_get_expr(polqual, polrelid) AS qual, pg_get_expr(polwithcheck, polrelid) AS checked
FROM pg_policy WHERE polrelid = %(table)s
"""
_FUNCTIONS = """
SELECT p.proname AS name, p.prosecdef AS definer, p.proleakproof AS leakproof
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE (p.prosecdef OR p.proleakproof)
"""
_UNIQUE = """
SELECT i.indexrelid::regclass::text AS name FROM pg_index i
JOIN pg_attribute t ON t.attrelid = i.indrelid AND t.attname = 'tenant_id'
WHERE i.indisunique AND i.indkey[0] <> t.attnum
"""
_MAY = """
SELECT rolname, rolsuper, rolbypassrls, rolcanlogin, rolcreaterole, rolcreatedb, rolreplication
FROM pg_roles WHERE rolname LIKE %(roles)s
"""
_OWNED = """
SELECT r.rolname, pg_describe_object(d.classid, d.objid, d.objsubid) AS what
FROM pg_shdepend d JOIN pg_roles r ON r.oid = d.refobjid AND d.refclassid = 'pg_authid'::regclass
WHERE d.deptype = 'o' AND r.rolname LIKE %(roles)s
    AND d.dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
"""
_MEMBERS = """
SELECT r.rolname, g.rolname AS what FROM pg_auth_members m
JOIN pg_roles r ON r.oid = m.member JOIN pg_roles g ON g.oid = m.roleid WHERE r.rolname LIKE %(roles)s
"""
_CREATES = """
SELECT r.rolname, 'schema ' || n.nspname AS what FROM pg_roles r CROSS JOIN pg_namespace n
WHERE r.rolname LIKE %(roles)s AND has_schema_privilege(r.oid, n.oid, 'CREATE')
UNION ALL
SELECT r.rolname, 'database ' || datname FROM pg_roles r CROSS JOIN pg_database d
WHERE r.rolname LIKE %(roles)s AND d.datname = current_database() AND has_database_privilege(r.oid, d.oid, 'CREATE')
"""
_BEYOND_ROWS = """
SELECT r.rolname, p.privilege || ' ' || c.relname AS what
FROM pg_roles r CROSS JOIN pg_class c
CROSS JOIN unnest(ARRAY['TRUNCATE', 'TRIGGER', 'REFERENCES', 'MAINTAIN', 'SELECT WITH GRANT OPTION']) AS p(privilege)
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.rolname LIKE %(roles)s AND c.relkind IN ('r', 'p', 'f') AND has_table_privilege(r.oid, c.oid, p.privilege)
"""


def conjuncts(expression: str) -> list[str]:
    """The conditions of an expression as PostgreSQL prints it, one in parentheses each;
    alternatives joined by OR are one.
    """
    inside = expression[1:-1] if _find_closing(expression) == len(expression) - 1 else expression
    parts: list[str] = []
    while inside:
        end = _find_closing(inside) + 1
        parts.append(inside[:end])
        between = re.match(r" AND (?=\()|$", inside[end:])
        if not end or between is None:
            return [expression]
        inside = inside[end + between.end() :]
    return parts


def _find_closing(text: str) -> int:
    """The position that closes the first parenthesis; -1 if the text does not begin with one."""
    depth = 0
    for at, letter in enumerate(text if text.startswith("(") else ""):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return at
    return -1


def holes(
    dsn: str, *, ids_only: frozenset[str], of_a_tenant: frozenset[str], shared_in_a_tenant: frozenset[str]
) -> list[str]:
    """Every relation, index or function that could expose rows to another user; `name: what`.

    Tables of `ids_only` hold no user data, those of `of_a_tenant` no data of one user; rows of `shared_in_a_tenant` may
    have no user.
    """
    found: list[str] = []
    for each in rows(dsn, _RELATIONS + _OUR_RELATIONS):
        name: str = each["name"]
        if each["kind"] == "v":
            found += [] if each["invoker"] else [f"{name}: a view with the rights of its owner"]
        elif each["kind"] in "mf":
            found.append(f"{name}: of a kind that knows no row-level security")
        elif name in ids_only:
            found += [f"{name}: has a {c} and no policy" for c in ("tenant_id", "user_id") if c in each["columns"]]
        else:
            wanted = {TENANT} if name in of_a_tenant else {TENANT, USER}
            wanted = {TENANT, SHARED_OR_OWN} if name in shared_in_a_tenant else wanted
            found += [f"{name}: row-level security is not enabled"] * (not each["enabled"])
            found += [f"{name}: row-level security is not forced"] * (not each["forced"])
            found += [f"{name}: {problem}" for problem in _loose(dsn, each["oid"], wanted)]
    for each in rows(dsn, _FUNCTIONS + _OUR_FUNCTIONS):
        rights = "SECURITY DEFINER" if each["definer"] else "LEAKPROOF"
        found.append(f"{each['name']}: a function marked {rights}")
    found += [f"{each['name']}: unique beyond one tenant" for each in rows(dsn, _UNIQUE)]
    return sorted(found)


def _loose(dsn: str, table: int, wanted: set[str]) -> list[str]:
    """The faults of a table's policies, at least one of which must restrict the application."""
    found: list[str] = []
    binding = 0
    for each in rows(dsn, _POLICIES, table=table):
        if each["roles"] == [SYSTEM_ROLE]:
            continue
        if not each["permissive"]:
            continue
        terms = [conjuncts(text) for text in (each["qual"], each["checked"]) if text is not None]
        if each["everyone"] or not terms or not all(_binds(term, each["roles"], wanted) for term in terms):
            found.append(f"policy {each['name']} does not bind tenant and user")
        elif "smartbrain_app" in each["roles"]:
            binding += 1
    return found if binding else [*found, "no policy binds smartbrain_app"]


def _binds(terms: list[str], roles: list[str], wanted: set[str]) -> bool:
    """Whether the conditions are at least as strict as required; those of an erasure restrict it to
    the user or to nobody.
    """
    given = set(terms)
    if roles == [ERASURE_ROLE] and NOBODY in given:
        given.add(USER)
    if USER in given:
        given.add(SHARED_OR_OWN)
    return wanted <= given


def powers(dsn: str) -> list[str]:
    """Every right of a runtime role beyond reading and writing rows; `role: what`."""
    found: list[str] = []
    for each in rows(dsn, _MAY, roles=ROLES):
        found += [f"{each['rolname']}: {name}" for name, may in each.items() if may is True]
    for verb, statement in (
        ("owns", _OWNED),
        ("is a", _MEMBERS),
        ("creates in", _CREATES),
        ("may", _BEYOND_ROWS + _OUR_RELATIONS),
    ):
        found += [f"{each['rolname']}: {verb} {each['what']}" for each in rows(dsn, statement, roles=ROLES)]
    return sorted(found)
