"""Makes a backup: a consistent snapshot of the schema in a file, while everything runs."""

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from services.cli.progress import Say
from shared.db import SCHEMA, owner
from shared.embedded import postgres_programs
from shared.erasure import ledger
from shared.errors import ConfigurationError
from shared.files import CACHE
from shared.language.patterns import to_pattern
from shared.store import whole
from shared.store.whole import DatabaseState

_TABLE = to_pattern(rf'dumping contents of table "{SCHEMA}\.(\w+)"')


async def backup(dsn: str, path: Path, say: Say) -> dict[str, Any]:
    """Writes the file completely, readable only by its owner, or not at all; its summary."""
    began = time.monotonic()
    part = make_file_beside(path)
    try:
        async with owner(dsn) as conn:
            state = refuse_blind(await whole.state(conn))
            if not state.schema or not state.serving:
                raise ConfigurationError("there is nothing to back up: no schema, or a restore is in progress")
            programs = postgres_programs.find(CACHE / "postgres", state.server)
            async with whole.snapshot(conn) as moment:
                held = await whole.count_contents(conn)
                address, secret = whole.without_password(dsn)
                arguments = [
                    "--format=custom",
                    f"--schema={SCHEMA}",
                    f"--exclude-table-data={SCHEMA}.serving",
                    f"--snapshot={moment}",
                    "--verbose",
                    f"--dbname={address}",
                    f"--file={part}",
                ]
                await programs.run("pg_dump", arguments, secret, count_tables(say, len(held["rows"]), _TABLE))
        size = _put(part, path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    return {
        "file": str(path),
        "bytes": size,
        "took_s": round(time.monotonic() - began, 3),
        "server": state.server,
        "client": programs.version,
        **held,
    }


async def export(dsn: str, path: Path) -> int:
    """Writes the erasures to the file, one per line with all columns; their number."""
    part = make_file_beside(path)
    try:
        async with owner(dsn) as conn:
            refuse_blind(await whole.state(conn))
            rows = await whole.tombstones(conn)
        part.write_bytes(b"".join(map(ledger.as_line, rows)))
        _put(part, path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    return len(rows)


def refuse_blind(state: DatabaseState) -> DatabaseState:
    """The state; ConfigurationError if row-level security would hide rows."""
    if not state.unbound:
        raise ConfigurationError(
            "the database role cannot see the rows of users: backup and restore need a superuser or a "
            "role with BYPASSRLS"
        )
    return state


def make_file_beside(path: Path) -> Path:
    """A new, empty file next to it, readable only by its owner."""
    if not path.parent.is_dir():
        raise ConfigurationError(f"{path.parent}: no such folder")
    part = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    return part


def _put(part: Path, path: Path) -> int:
    """Moves the finished file into place; its size."""
    size = part.stat().st_size
    with part.open("rb") as written:
        os.fsync(written.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return size


def count_tables(say: Say, total: int, table: re.Pattern[str]) -> Callable[[str], None]:
    done = 0

    def hear(line: str) -> None:
        nonlocal done
        if table.search(line):
            done += 1
            say("tables", done, total)

    return hear
