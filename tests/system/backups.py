"""`smartbrain backup` and `restore` as processes, with a client that polls the system meanwhile."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from shared.db import SCHEMA
from tests.system.databases import rows
from tests.system.person import Person


def _environment(dsn: str, bootstrap: str | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SMARTBRAIN_")}
    kafka = {"SMARTBRAIN_KAFKA_BOOTSTRAP": bootstrap} if bootstrap else {}
    return {**kept, "SMARTBRAIN_DATABASE_URL": dsn, **kafka}


async def started(dsn: str, bootstrap: str | None, *arguments: str | Path, data: Path) -> Process:
    """Starts the command on this database and broker."""
    environment = {**_environment(dsn, bootstrap), "SMARTBRAIN_DATA": str(data)}
    command = (sys.executable, "-m", "services.cli", *map(str, arguments))
    return await asyncio.create_subprocess_exec(*command, env=environment, stdout=PIPE, stderr=PIPE)


@dataclass(frozen=True)
class Ended:
    """The result of a command: its JSON and its error output."""

    code: int
    told: dict[str, Any]
    said: str


async def ended(process: Process) -> Ended:
    """The result of the command once it has ended."""
    out, err = await process.communicate()
    assert process.returncode is not None
    told: dict[str, Any] = orjson.loads(out) if out.strip() else {}
    return Ended(process.returncode, told, err.decode())


async def run(dsn: str, bootstrap: str | None, *arguments: str | Path, data: Path) -> Ended:
    """Runs the command."""
    return await ended(await started(dsn, bootstrap, *arguments, "--json", data=data))


@dataclass
class Seen:
    """What a polling client received: the count of each status, and forbidden words."""

    answers: Counter[int] = field(default_factory=Counter[int])
    leaked: list[str] = field(default_factory=list[str])


@asynccontextmanager
async def watching(asked: Sequence[tuple[Person, str, Sequence[str]]]) -> AsyncGenerator[Seen]:
    """While the block lasts, compose is asked each user's question and each list of memories is read."""
    seen = Seen()

    async def look(person: Person, question: str, needles: Sequence[str]) -> None:
        body = {**person.whose, "session_id": "looks", "user_message": question}
        while True:
            for answer in (await person.post("/v1/context", body), await person.get("/v1/memories")):
                seen.answers[answer.status_code] += 1
                seen.leaked += [needle for needle in needles if needle in answer.text]
            await asyncio.sleep(0.05)

    tasks = [asyncio.create_task(look(*each)) for each in asked]
    try:
        yield seen
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result


CATALOG = {
    "tables": """
SELECT relname, relkind::text, relrowsecurity, relforcerowsecurity, reloptions, relacl::text FROM pg_class
WHERE relnamespace = %(s)s::regnamespace AND relkind IN ('r', 'v', 'S')
""",
    "columns": """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull, a.attacl::text,
    a.attgenerated::text, a.attidentity::text, pg_get_expr(d.adbin, d.adrelid) AS value
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relnamespace = %(s)s::regnamespace AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped
""",
    "policies": """
SELECT tablename, policyname, permissive, roles::text, cmd, qual, with_check FROM pg_policies WHERE schemaname = %(s)s
""",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = %(s)s",
    "constraints": """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = %(s)s::regnamespace
""",
    "triggers": """
SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = %(s)s::regnamespace AND NOT t.tgisinternal
""",
    "functions": """
SELECT pg_get_functiondef(oid), proacl::text FROM pg_proc WHERE pronamespace = %(s)s::regnamespace
""",
    "views": "SELECT viewname, translate(definition, '()', '') AS definition FROM pg_views WHERE schemaname = %(s)s",
    "schema": "SELECT nspname, nspacl::text FROM pg_namespace WHERE nspname = %(s)s",
    "comments": """
SELECT description FROM pg_description d JOIN pg_class c ON c.oid = d.objoid
WHERE c.relnamespace = %(s)s::regnamespace
""",
}


def catalog(dsn: str) -> dict[str, list[str]]:
    """The schema without rows, grants included."""
    return {name: sorted(str(row) for row in rows(dsn, statement, s=SCHEMA)) for name, statement in CATALOG.items()}


def without_schema(dsn: str) -> bool:
    """Whether a restore is between deleting the old rows and writing the new ones."""
    return not rows(dsn, "SELECT 1 FROM pg_namespace WHERE nspname = %(s)s", s=SCHEMA)


def with_rows_closed(dsn: str) -> bool:
    """Whether a restore has written the rows and does not serve them yet."""
    statement = """
SELECT to_regclass('smart_brain.turns') IS NOT NULL AND to_regnamespace('smart_brain_replaced') IS NULL
    AND to_regnamespace('smart_brain_restore') IS NOT NULL AS closed
"""
    return bool(rows(dsn, statement)[0]["closed"])
